import { LaneReader, type Bus } from "@candor/bus";
import { CandorError, eventKinds, laneOf, requireId, streams, type StoredMessage } from "@candor/contract";
import type { Command } from "commander";
import { lanesOfStreams } from "../audit/stream-identity.js";
import type { CommonOptions, Context } from "../context.js";
import { examples } from "../help.js";
import { untilAborted, watchInterruption } from "../interruption.js";
import { nearest } from "../nearest.js";
import { jsonLine } from "../output/json.js";
import { printable } from "../output/printable.js";
import { locate, withConnection, withPlaceOptions, type PlaceOptions } from "../place-options.js";
import { painted, timeOf } from "../story/story-text.js";
import { readStreamFacts } from "../stream-facts.js";
import { logLine, verdictLine, type TailLine } from "../tail/tail-line.js";

interface TailOptions extends CommonOptions, PlaceOptions {
  readonly run?: string;
  readonly kind?: readonly string[];
  readonly fromStart?: boolean;
}

const mostHeld = 20_000;
const kinds = [...eventKinds, "refused", "verdict", "quarantine", "checkpoint", "unreadable"] as const;
/** What makes no difference to who looks on, unless asked for. */
const quietKinds: ReadonlySet<string> = new Set(["checkpoint"]);

function requireKinds(wanted: readonly string[] | undefined): ReadonlySet<string> | undefined {
  if (wanted === undefined) return undefined;
  const wrong = wanted.find((kind) => !(kinds as readonly string[]).includes(kind));
  if (wrong === undefined) return new Set(wanted);
  const similar = nearest(wrong, kinds);
  throw new CandorError(
    "bad-argument",
    `There is no kind ${JSON.stringify(printable(wrong).slice(0, 40))}. ${similar.length > 0 ? `Did you mean ${similar.join(", ")}?` : `There are: ${kinds.join(", ")}.`}`,
    { path: "kind" },
  );
}

function text(context: Context, { atMs, lane, run = "–", task = "–", by = "", kind, what, action }: TailLine): string {
  const { colors } = context.terminal;
  const paint: Readonly<Record<string, (words: string) => string>> = {
    error: colors.red,
    refused: colors.red,
    quarantine: colors.red,
    retry: colors.yellow,
    effect: colors.cyan,
    report: colors.bold,
  };
  const shown = action === undefined ? (paint[kind]?.(kind) ?? kind) : painted(context, action, kind);
  return [
    colors.dim(timeOf(atMs)),
    colors.dim(`lane ${lane}`),
    `${printable(run)}/${printable(task)}`,
    colors.dim(printable(by)),
    shown,
    printable(what),
  ]
    .filter((part) => part !== "")
    .join("  ");
}

interface Source {
  readonly stream: string;
  readonly filter?: readonly string[];
  readonly line: (message: StoredMessage) => TailLine;
}

/** What of which stream is read. */
function sourcesOf(run: string | undefined, lanes: number): readonly Source[] {
  if (run === undefined) {
    return [
      { stream: streams.log, line: logLine },
      { stream: streams.verdicts, line: verdictLine },
    ];
  }
  const lane = laneOf(requireId(run, "run"), lanes);
  return [
    { stream: streams.log, filter: [`candor.log.${lane}.${run}.>`], line: logLine },
    {
      stream: streams.verdicts,
      filter: [`candor.vd.${lane}.${run}.>`, `candor.quarantine.${lane}.>`],
      line: verdictLine,
    },
  ];
}

/** What is stored already comes stream by stream: it is put into the order of time, unless it is too much to hold. */
class Backlog {
  readonly #onLine: (line: TailLine) => void;
  #held: TailLine[] | undefined = [];

  constructor(onLine: (line: TailLine) => void) {
    this.#onLine = onLine;
  }

  take(line: TailLine): void {
    if (this.#held === undefined) this.#onLine(line);
    else if (this.#held.push(line) > mostHeld) this.release();
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const line of held.sort((a, b) => a.atMs - b.atMs)) this.#onLine(line);
  }
}

/** Follows the streams until the signal. @throws CandorError that ended the reading */
async function follow(
  bus: Bus,
  sources: readonly Source[],
  { fromStart = false }: TailOptions,
  { signal, onLine }: { readonly signal: AbortSignal; readonly onLine: (line: TailLine) => void },
): Promise<void> {
  const readers: LaneReader[] = [];
  const backlog = new Backlog(onLine);
  let caughtUp = 0;
  try {
    const halted = await Promise.all(
      sources.map(async ({ stream, filter, line }) => {
        const facts = await readStreamFacts(bus, stream);
        return new Promise<CandorError>((resolve) => {
          const reader = new LaneReader(bus, {
            stream,
            ...(filter === undefined ? {} : { filter }),
            from: fromStart ? 1 : (facts?.lastSeq ?? 0) + 1,
            onMessages: (batch) => {
              for (const message of batch) backlog.take(line(message));
            },
            onHalt: resolve,
            refusalPatienceMs: 10_000,
          });
          readers.push(reader);
          reader.start();
          reader.caughtUp().then(
            () => {
              caughtUp += 1;
              if (caughtUp === sources.length) backlog.release();
            },
            () => undefined,
          );
          void untilAborted(signal).then(() => {
            resolve(new CandorError("connection-closed", "Looking on was ended."));
          });
        });
      }),
    );
    const first = halted[0];
    if (!signal.aborted && first !== undefined) throw first;
  } finally {
    await Promise.all(readers.map((reader) => reader.close()));
  }
}

export function addTail(program: Command, context: Context): void {
  withPlaceOptions(program.command("tail"))
    .description("look on: events and verdicts as they are stored")
    .option("--run <run>", "only those of this run")
    .option(
      "--kind <kinds...>",
      `only these kinds, with blanks or commas between: an event's kind, or verdict, quarantine, checkpoint`,
    )
    .option("--from-start", "begin with what is stored already")
    .option("--json", "print one line of JSON each")
    .addHelpText(
      "after",
      examples(
        "candor tail",
        "candor tail --run demo-1 --kind error retry",
        "candor tail --from-start --kind verdict --json",
      ),
    )
    .action(async (options: TailOptions) => {
      const wanted = requireKinds(options.kind?.flatMap((words) => words.split(",")).filter((word) => word !== ""));
      const { run } = options;
      const located = await locate(context, options, ["operator", "auditor"]);
      const interruption = watchInterruption();
      const onLine = (line: TailLine): void => {
        // A quarantine record's subject does not say its run.
        if (run !== undefined && line.run !== run) return;
        if (wanted === undefined ? quietKinds.has(line.kind) : !wanted.has(line.kind)) return;
        context.terminal.out(options.json === true ? jsonLine(line) : text(context, line));
      };
      try {
        await withConnection(located, async (bus) => {
          const lanes = bus.lanes ?? (await lanesOfStreams(bus, located.credentials.trust.operator));
          context.terminal.note(
            `Looking on at ${bus.nc.getServer()}${options.fromStart === true ? "" : " from now on (--from-start begins with what is stored)"}. Ctrl-C ends it.`,
          );
          await follow(bus, sourcesOf(run, lanes), options, { signal: interruption.signal, onLine });
        });
      } finally {
        interruption.release();
      }
    });
}
