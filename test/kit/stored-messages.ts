import { LaneReader, type Link } from "@candor/bus";
import type { StoredMessage } from "@candor/contract";

/** Everything that a stream holds within a filter, in order. It waits for a server that is just starting. */
export async function storedMessages(link: Link, stream: string, filter?: string): Promise<StoredMessage[]> {
  const messages: StoredMessage[] = [];
  const reader = new LaneReader(link, {
    stream,
    ...(filter === undefined ? {} : { filter }),
    onMessages: (batch) => {
      messages.push(...batch);
    },
    onHalt: () => undefined,
  });
  reader.start();
  await reader.caughtUp();
  await reader.close();
  return messages;
}
