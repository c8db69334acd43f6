import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { NatsConnection } from "@nats-io/transport-node";
import { StallWatch, type Waiting } from "./stall-watch.js";

type Answer = Readonly<Record<string, unknown>>;
interface Query {
  readonly seq?: number;
  readonly next_by_subj?: string;
}

const none: Answer = { error: { err_code: 10037, description: "no message found" } };
const damaged: Answer = { error: { err_code: 10067, description: "server error" } };
const message = (seq: number): Answer => ({ message: { subject: "s.1", seq, time: "2026-01-01T00:00:00Z" } });
const state = (last: number): Answer => ({ state: { messages: last, first_seq: 1, last_seq: last } });

/** Nothing ever happens to the connection. */
async function* status(): AsyncGenerator {
  yield await new Promise(() => undefined);
}

/** A server that answers look-ups as it is told, after a while, and a watch over a reader that waits for message 6. */
function stage({
  answer,
  last = 100,
  delayMs = 0,
  waiting = () => ({ consumer, afterSeq: 5, isWide: false }),
  apiPrefix = "$JS.API",
}: {
  answer: (query: Query) => Answer;
  last?: number;
  delayMs?: number;
  waiting?: () => Waiting | undefined;
  apiPrefix?: string;
}): { unreadable: number[]; wide: number; watch: StallWatch; asked: number } {
  const request = async (subject: string, body: string): Promise<unknown> => {
    found.asked += 1;
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    const reply = subject.includes(".INFO.") ? state(last) : answer(JSON.parse(body) as Query);
    return { json: () => reply };
  };
  const nc = { isClosed: () => false, request, status } as unknown as NatsConnection;
  const found = {
    unreadable: [] as number[],
    wide: 0,
    asked: 0,
    watch: new StallWatch({
      link: { nc, apiPrefix, inboxPrefix: "_IN" },
      stream: "S",
      filters: ["s.>"],
      everyMs: 1_000,
      waiting,
      onWideStall: () => (found.wide += 1),
      onUnreadable: (seq) => found.unreadable.push(seq),
    }),
  };
  return found;
}

const consumer = {};

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("B9 a reader that makes no headway", () => {
  it.each([
    ["no message", none],
    ["a server error", damaged],
  ])("is told the first unreadable sequence once the leader twice answers with %s", async (_, answer) => {
    const found = stage({
      answer: (query) => (query.next_by_subj === undefined && query.seq === 6 ? message(6) : answer),
    });
    await vi.advanceTimersByTimeAsync(2_900);
    expect(found.unreadable).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(found.unreadable).toEqual([7]);
    found.watch.stop();
  });

  it.each<[string, Parameters<typeof stage>[0]]>([
    ["hands out the next message when asked", { answer: ({ seq = 0 }) => message(seq) }],
    ["has nothing after it", { answer: () => none, last: 5 }],
    ["takes longer than anybody waits for an answer", { answer: () => none, delayMs: 10_000_000 }],
  ])("accuses no server that %s", async (_, options) => {
    const found = stage(options);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(found.asked).toBeGreaterThan(0);
    expect(found.unreadable).toEqual([]);
    found.watch.stop();
  });

  it("accuses no server that delivers, however slowly", async () => {
    let afterSeq = 5;
    const found = stage({ answer: () => none, waiting: () => ({ consumer, afterSeq: afterSeq++, isWide: false }) });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(found.unreadable).toEqual([]);
    found.watch.stop();
  });

  it("asks for nothing while nothing is due, with a wide consumer, or for a role that may not", async () => {
    const idle = stage({ answer: () => none, waiting: () => undefined });
    const wide = stage({ answer: () => none, waiting: () => ({ consumer, afterSeq: 5, isWide: true }) });
    const client = stage({ answer: () => none, apiPrefix: "candor.js" });
    await vi.advanceTimersByTimeAsync(10_000);
    expect([idle.asked, wide.asked, client.asked]).toEqual([0, 0, 0]);
    expect(wide.wide).toBeGreaterThan(0);
    for (const { watch } of [idle, wide, client]) watch.stop();
  });
});
