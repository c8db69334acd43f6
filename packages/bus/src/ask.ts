import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { CandorError } from "@candor/contract";
import { untilConnected, watchConnection } from "./connection-watch.js";

/**
 * A request that gives up as soon as the connection it was sent on is gone: the answer can't come any more, and the
 * client would wait for it all the same. Waits for the connection first, up to `timeoutMs`.
 *
 * @throws CandorError `server-unreachable`, or what the client throws
 */
export async function ask(nc: NatsConnection, subject: string, body: string, timeoutMs: number): Promise<Msg> {
  await untilConnected(nc, timeoutMs);
  return new Promise((resolve, reject) => {
    const stop = watchConnection(nc, {
      disconnected: () => {
        stop();
        reject(new CandorError("server-unreachable", `The connection was interrupted before ${subject} was answered.`));
      },
    });
    nc.request(subject, body, { timeout: timeoutMs }).then(resolve, reject).finally(stop);
  });
}
