import { AckPolicy, DeliverPolicy } from "@nats-io/jetstream";
import { streams } from "@candor/contract";
import type { Bus } from "@candor/bus";

/** Messages a second that the bare client reads of the log: pull consumer, no filter, no acknowledgement, callback. */
export async function rawConsumePerSec(bus: Bus, count: number): Promise<number> {
  const { name } = await bus.jsm.consumers.add(streams.log, {
    ack_policy: AckPolicy.None,
    deliver_policy: DeliverPolicy.All,
    mem_storage: true,
    inactive_threshold: 30_000_000_000,
  });
  const consumer = await bus.js.consumers.get(streams.log, name);
  const started = performance.now();
  await new Promise<void>((resolve, reject) => {
    let seen = 0;
    void consumer
      .consume({
        max_messages: 10_000,
        callback: () => {
          seen += 1;
          if (seen === count) resolve();
        },
      })
      .catch(reject);
  });
  const elapsedMs = performance.now() - started;
  await consumer.delete();
  return (count / elapsedMs) * 1000;
}
