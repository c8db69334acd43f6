import { Session, type Profiler } from "node:inspector";
import { CandorError, type LogEntry } from "@candor/contract";
import { LaneFold } from "@candor/guards";
import { admit } from "@candor/ledger";
import { cheapCast } from "./cheap-cast.js";
import { median, round } from "./figures.js";
import { mixes, openRun, taskMessages, type Message, type Mix } from "./workload.js";

const rounds = 5;
const profiledRounds = 3;
const samplingMicros = 100;
/** A log a tenth as long as that of `bench guard` gives the same figures. */
const shareOfMix = 0.1;
/** Tasks that are under way at the same time. */
const abreast = 50;

/** What a module of the guards works for. A sample is counted for the deepest frame that is in one of these. */
const partOfModule: Readonly<Record<string, string>> = {
  "intent.js": "control sequence",
  "intent-fold.js": "control sequence",
  "intent-transitions.js": "control sequence",
  "orchestrator-fold.js": "control sequence",
  "author-chain.js": "author's chain",
  "waiting-events.js": "author's chain",
  "hash-number.js": "author's chain",
  "disclosure.js": "disclosure",
  "disclosure-state.js": "disclosure",
  "receipt-check.js": "disclosure",
  "tally.js": "disclosure",
  "confidence.js": "disclosure",
  "recall.js": "recall",
  "effect-fold.js": "effects and intent keys",
  "effect-ledger.js": "effects and intent keys",
  "kept-keys.js": "effects and intent keys",
  "upstream-book.js": "upstream",
  "upstream-fold.js": "upstream",
  "upstream-trouble.js": "upstream",
  "upstream-view.js": "upstream",
  "dispatch.js": "dispatch",
  "dispatch-judge.js": "dispatch",
  "dispatch-rows.js": "dispatch",
  "dispatch-state.js": "dispatch",
  "terms.js": "dispatch",
  "result-board.js": "result",
  "result-fold.js": "result",
  "evidence-pointers.js": "result",
  "failure-fold.js": "failure and its hops",
  "failure-decision.js": "failure and its hops",
  "family.js": "failure and its hops",
};
const rest = "routing and the rest";
const admission = "admission (decode, schema, hash)";

export interface JudgeFigures {
  readonly mix: Mix;
  readonly events: number;
  /** Microseconds an event, on one thread, without the bus and without checks of signatures. */
  readonly microsPerEvent: Readonly<Record<string, number>>;
}

/** The log of a mix as a guard reads it. */
function logOf(mix: Mix): { readonly operatorKey: string; readonly entries: () => LogEntry[] } {
  const { eventsPerTask } = mixes[mix];
  const tasks = mixes[mix].tasks * shareOfMix;
  const cast = cheapCast("judges");
  const messages: Message[] = [openRun(cast)];
  for (let from = 0; from < tasks; from += abreast) {
    const group = Array.from({ length: Math.min(abreast, tasks - from) }, (_, i) =>
      taskMessages(cast, `t${from + i}`, eventsPerTask),
    );
    messages.push(...group.map(({ intent }) => intent));
    for (let i = 0; i < eventsPerTask; i += 1) messages.push(...group.flatMap(({ events }) => events[i] ?? []));
    messages.push(...group.map(({ close }) => close));
  }
  const stored = messages.map(({ subject, data }, index) => {
    const [, , role = "", actor = "", run = "", id = "", kind = ""] = subject.split(".");
    const seq = index + 1;
    return { seq, timeMs: seq, subject: `candor.log.0.${run}.${id}.${role}.${actor}.${kind}`, data };
  });
  return { operatorKey: cast.operatorKey, entries: () => stored.map((message) => admit(message)) };
}

function timed(work: () => void): number {
  const started = performance.now();
  work();
  return (performance.now() - started) * 1000;
}

/** Where the time went: samples by part. */
function profiled(work: () => void): ReadonlyMap<string, number> {
  const session = new Session();
  session.connect();
  let profile: Profiler.Profile | undefined;
  // The answers come before these calls return.
  session.post("Profiler.enable");
  session.post("Profiler.setSamplingInterval", { interval: samplingMicros });
  session.post("Profiler.start");
  work();
  session.post("Profiler.stop", (error, answer) => {
    if (error === null) ({ profile } = answer);
  });
  session.disconnect();
  if (profile === undefined) throw new CandorError("defect", "The profiler gave no profile.");
  return samplesByPart(profile);
}

function samplesByPart({ nodes, samples = [] }: Profiler.Profile): ReadonlyMap<string, number> {
  const parts = new Map<number, string>();
  const known = new Map(nodes.map((node) => [node.id, node]));
  const visit = (id: number, above: string): void => {
    const node = known.get(id);
    if (node === undefined) return;
    const file = node.callFrame.url.split("/").at(-1) ?? "";
    const part = partOfModule[file] ?? above;
    parts.set(id, part);
    for (const child of node.children ?? []) visit(child, part);
  };
  const [root] = nodes;
  if (root !== undefined) visit(root.id, rest);
  const counts = new Map<string, number>();
  for (const id of samples) {
    const part = parts.get(id) ?? rest;
    counts.set(part, (counts.get(part) ?? 0) + 1);
  }
  return counts;
}

/**
 * What each judge costs the guard: time of the fold alone, unprofiled, divided by the profiler's samples. Rounds of both take
 * turns.
 */
export function benchJudges(mix: Mix, say: (line: string) => void): JudgeFigures {
  const { operatorKey, entries } = logOf(mix);
  const fold = (log: readonly LogEntry[]): void => {
    const lane = new LaneFold(0, { operator: operatorKey });
    for (const entry of log) lane.fold(entry, () => true);
  };
  let log = entries();
  fold(log);
  const [admitting, folding]: [number[], number[]] = [[], []];
  const samples = new Map<string, number>();
  for (let i = 0; i < rounds; i += 1) {
    admitting.push(
      timed(() => {
        log = entries();
      }),
    );
    folding.push(
      timed(() => {
        fold(log);
      }),
    );
    if (i >= profiledRounds) continue;
    for (const [part, count] of profiled(() => {
      fold(log);
    }))
      samples.set(part, (samples.get(part) ?? 0) + count);
    say(`${mix}: round ${i + 1} of ${profiledRounds}`);
  }
  const all = [...samples.values()].reduce((sum, count) => sum + count, 0);
  const perEvent = median(folding) / log.length;
  const names = [...new Set([...Object.values(partOfModule), rest])];
  const micros = names.map((name) => [name, round((perEvent * (samples.get(name) ?? 0)) / all, 3)] as const);
  return {
    mix,
    events: log.length,
    microsPerEvent: Object.fromEntries([[admission, round(median(admitting) / log.length, 3)], ...micros]),
  };
}
