import { parseArgs } from "node:util";
import { benchEffect } from "./effect-bench.js";
import { benchEvidence } from "./evidence-bench.js";
import { benchGuard } from "./guard-bench.js";
import { benchJudges } from "./judges-bench.js";
import { benchLatency } from "./latency-bench.js";
import { benchMemory } from "./memory-bench.js";
import type { Mix } from "./workload.js";

const usage = `Usage: pnpm -s bench <guard|judges|latency|effect|memory|evidence> [--mix long|short] [--tasks N]

guard    how fast the guard folds a prefilled log, beside the bare client, in two mixes; then memory an open task
judges   what each judge costs the guard an event, in two mixes
latency  from a report published to its verdict received, beside the same round trip with no logic
effect   an effect on a fresh key, beside one bare awaited publish
memory   memory an open and a closed task
evidence 64 MiB of evidence put and read, beside the bare client; memory on the way

One JSON line a measurement on standard output, progress on standard error.
`;

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function print(figures: object): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`);
}

function wantedMixes(mix: string | undefined): readonly Mix[] {
  return mix === "long" || mix === "short" ? [mix] : ["long", "short"];
}

async function benchGuardAll(mix: string | undefined): Promise<void> {
  for (const one of wantedMixes(mix)) print(await benchGuard(one, say));
  if (mix === undefined) print(benchMemory(say));
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { mix: { type: "string" }, tasks: { type: "string" } },
});
const benches: Readonly<Record<string, () => Promise<void>>> = {
  guard: () => benchGuardAll(values.mix),
  judges: () => {
    for (const one of wantedMixes(values.mix)) print(benchJudges(one, say));
    return Promise.resolve();
  },
  latency: async () => {
    print(await benchLatency(say));
  },
  evidence: async () => {
    print(await benchEvidence(say));
  },
  effect: async () => {
    print(await benchEffect(say));
  },
  memory: () => {
    print(benchMemory(say, values.tasks === undefined ? undefined : Number(values.tasks)));
    return Promise.resolve();
  },
};
const bench = benches[positionals[0] ?? ""];
if (bench === undefined) {
  process.stderr.write(usage);
  process.exit(2);
}
await bench();
process.exit(0);
