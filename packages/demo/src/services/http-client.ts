import { request, type IncomingHttpHeaders } from "node:http";
import { CandorError } from "@candor/contract";

export interface HttpCall {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
  /** Time for the whole exchange, in milliseconds. */
  readonly timeoutMs: number;
}

export type HttpOutcome =
  | { readonly ok: true; readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string }
  | {
      readonly ok: false;
      readonly failure: "refused" | "broken" | "timeout" | "aborted";
      /** False only when no byte can have reached the service, so that nothing can have happened there. */
      readonly sent: boolean;
      readonly cause: unknown;
    };

/**
 * One HTTP exchange on a connection of its own, so that the service sees exactly the requests that
 * were made: nothing is pooled, redirected or repeated behind the caller's back. Whatever happens on
 * the way is an outcome.
 *
 * @throws CandorError `bad-argument` when `url` is none.
 */
export async function exchange(call: HttpCall): Promise<HttpOutcome> {
  const { body, headers, method, signal, timeoutMs, url } = call;
  if (!URL.canParse(url))
    throw new CandorError("bad-argument", `"${url}" is not a URL; give the one the service printed`);
  if (signal?.aborted === true) {
    return { ok: false, failure: "aborted", sent: false, cause: signal.reason as unknown };
  }
  return new Promise((resolve) => {
    let sent = false;
    const outgoing = request(url, { method, agent: false, headers: { ...headers, connection: "close" } });

    const settle = (outcome: HttpOutcome): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      resolve(outcome);
      outgoing.destroy();
    };
    const fail = (failure: "broken" | "timeout" | "aborted", cause: unknown): void => {
      settle({ ok: false, failure: failure === "broken" && !sent ? "refused" : failure, sent, cause });
    };
    const abort = (): void => {
      fail("aborted", signal?.reason);
    };
    const timer = setTimeout(() => {
      fail("timeout", undefined);
    }, timeoutMs);
    signal?.addEventListener("abort", abort, { once: true });

    outgoing.once("socket", (socket) => {
      socket.once("connect", () => {
        sent = true;
      });
    });
    // Destroying the request after it was settled reports an error once more.
    outgoing.on("error", (cause) => {
      fail("broken", cause);
    });
    outgoing.once("response", (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", (cause) => {
        fail("broken", cause);
      });
      incoming.once("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        settle({ ok: true, status: incoming.statusCode ?? 0, headers: incoming.headers, body: text });
      });
    });
    outgoing.end(body);
  });
}

/** The JSON value of a body, or undefined when it is not JSON. */
export function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
