import { isConnected, readStreamState, type Bus } from "@candor/bus";
import type { StoredMessage } from "@candor/contract";
import { until } from "./waiting.js";

/**
 * Reads a stream from its first message to its last, by the client's own ordered consumer: none of the code that wrote
 * it, or that guards read by, has a part in it.
 */
export async function readWhole(operator: Bus, stream: string, signal: AbortSignal): Promise<StoredMessage[]> {
  await until(signal, "a connection", () => isConnected(operator.nc));
  const { messages } = await readStreamState(operator, stream);
  const found: StoredMessage[] = [];
  if (messages === 0) return found;
  const consumer = await operator.js.consumers.get(stream);
  const reading = await consumer.consume({ max_messages: 1_000 });
  for await (const { seq, subject, data, info, timestampNanos } of reading) {
    found.push({ seq, timeMs: Number(timestampNanos / 1_000_000n), subject, data: data.slice() });
    if (info.pending === 0) break;
  }
  return found;
}
