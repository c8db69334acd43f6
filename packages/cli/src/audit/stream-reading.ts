import { LaneReader, readAt, type Bus } from "@candor/bus";
import { CandorError, isCandorError } from "@candor/contract";
import type { TakeMessages } from "./audit-source.js";

export interface StreamReadOptions {
  readonly stream: string;
  /** The whole stream without one. */
  readonly filter?: string;
  /** First sequence wanted. */
  readonly from: number;
  /** Last sequence wanted. */
  readonly to: number;
  readonly take: TakeMessages;
}

/**
 * A sound store answers within milliseconds; after this long the next message counts as one that can't be read. Whoever
 * can't look it up to make sure waits longer.
 */
const stallMs = { operator: 3_000, other: 15_000 } as const;
/** Stalls without headway after which the server is to blame and not the store. */
const mostStalls = 5;

/** Where a reading came to its end: at the last message, or at one that the server does not hand out. */
interface Stretch {
  readonly position: number;
  readonly complete: boolean;
}

/** Reads on until the end, or until nothing more comes. */
function readStretch(bus: Bus, { stream, filter, to, take }: StreamReadOptions, from: number): Promise<Stretch> {
  const patienceMs = bus.identity.role === "operator" ? stallMs.operator : stallMs.other;
  return new Promise((resolve, reject) => {
    let heardAt = performance.now();
    let busy = 0;
    const reader = new LaneReader(bus, {
      stream,
      ...(filter === undefined ? {} : { filter }),
      from,
      refusalPatienceMs: 10_000,
      onMessages: async (batch) => {
        busy += 1;
        await take(batch.filter(({ seq }) => seq <= to));
        busy -= 1;
        heardAt = performance.now();
        if ((batch.at(-1)?.seq ?? 0) >= to) finish(true);
      },
      onHalt: (error) => {
        clearInterval(watch);
        if (error.code === "log-truncated") finish(false);
        else reject(error);
      },
    });
    const finish = (complete: boolean): void => {
      clearInterval(watch);
      const { position } = reader;
      void reader.close();
      resolve({ position, complete });
    };
    const watch = setInterval(() => {
      if (busy === 0 && performance.now() - heardAt > patienceMs) finish(false);
    }, 100);
    reader.start();
    reader.caughtUp().then(
      () => {
        finish(true);
      },
      () => undefined,
    );
  });
}

/** The first sequence from `from` on that the server hands out; undefined if there is none up to `to`. */
async function firstReadable(bus: Bus, stream: string, from: number, to: number): Promise<number | undefined> {
  const isReadable = async (seq: number): Promise<boolean> => {
    try {
      return (await readAt(bus, stream, seq)) !== undefined;
    } catch (error) {
      // A server says "server error" of a block that it can't decompress.
      if (isCandorError(error, "server-failed")) return false;
      throw error;
    }
  };
  let step = 1;
  let bad = from - 1;
  let good: number | undefined;
  for (let seq = from; seq <= to && good === undefined; seq = Math.min(bad + step, to)) {
    if (await isReadable(seq)) good = seq;
    else if (seq === to) return undefined;
    else bad = seq;
    step *= 2;
  }
  if (good === undefined) return undefined;
  while (good - bad > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (await isReadable(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

/**
 * Reads a stretch of a stream, past whatever the server does not hand out any more: of a damaged store it can be one
 * message, a block of thousands, or the rest.
 *
 * @throws CandorError `server-unreachable`, `permission-denied`
 */
export async function readPastDamage(bus: Bus, options: StreamReadOptions): Promise<void> {
  const { stream, to } = options;
  let stalls = 0;
  let from: number | undefined = options.from;
  while (from !== undefined && from <= to) {
    const { position, complete } = await readStretch(bus, options, from);
    if (complete || options.filter !== undefined || bus.identity.role !== "operator") return;
    stalls = position < from ? stalls + 1 : 0;
    if (stalls > mostStalls) {
      throw new CandorError(
        "server-unreachable",
        `The server does not hand out ${stream} from sequence ${from} on, though it has it: try again.`,
      );
    }
    from = await firstReadable(bus, stream, position + 1, to);
  }
}
