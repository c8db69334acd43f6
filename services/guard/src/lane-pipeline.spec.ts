import { describe, expect, it } from "vitest";
import type { CandorError, StoredMessage } from "@candor/contract";
import { LaneFold, type Output } from "@candor/guards";
import { admit } from "@candor/ledger";
import { keys, Scenario } from "../../../test/kit/scenario.js";
import { LanePipeline, type PipelineOptions } from "./lane-pipeline.js";
import { SignatureAhead } from "./signature-ahead.js";
import { SignatureThreads } from "./signature-threads.js";

interface Stage {
  readonly pipeline: LanePipeline;
  readonly ahead: SignatureAhead;
  readonly folded: number[];
  readonly outputs: Output[];
  readonly faults: CandorError[];
}

function stage(options: Partial<PipelineOptions> = {}): Stage {
  const operator = keys.operator.publicKey;
  const ahead = new SignatureAhead(operator, new SignatureThreads([]));
  const folded: number[] = [];
  const outputs: Output[] = [];
  const faults: CandorError[] = [];
  const pipeline = new LanePipeline({
    lane: 0,
    fold: new LaneFold(0, { operator }),
    ahead,
    readHistory: () => Promise.resolve([]),
    isBlocked: () => false,
    onFolded: ({ entry }, more) => {
      folded.push(entry.seq);
      outputs.push(...more);
    },
    onFault: (error) => faults.push(error),
    ...options,
  });
  return { pipeline, ahead, folded, outputs, faults };
}

/** Tasks one after the other, each from delegation to report. */
function tasks(count: number): Scenario {
  const scenario = new Scenario().open();
  for (let i = 0; i < count; i += 1) {
    const task = `t${i}`;
    scenario.delegate(task).accept(task);
    scenario.error(task, { recovered: true });
    scenario.report(task);
  }
  return scenario;
}

async function untilFolded({ folded, faults }: Stage, count: number): Promise<void> {
  while (folded.length < count && faults.length === 0) await new Promise((resolve) => setImmediate(resolve));
}

function bodies(outputs: readonly Output[]): unknown[] {
  return outputs.flatMap((output) => (output.type === "verdict" ? [output.body] : []));
}

describe("B1 the pipeline of a lane", () => {
  it("gives what folding entry by entry gives, with its signatures checked ahead on other threads", async () => {
    const scenario = tasks(40);
    const run = stage();
    void run.pipeline.deliver(scenario.log, false);
    await untilFolded(run, scenario.log.length);
    expect(run.folded).toEqual(scenario.log.map(({ seq }) => seq));
    expect(bodies(run.outputs)).toEqual(scenario.verdicts);
    expect(run.ahead.missed).toBe(0);
  });

  it("checks on the spot where it is caught up: going to another thread only takes time then", () => {
    const scenario = tasks(1);
    const run = stage();
    for (const message of scenario.log) void run.pipeline.deliver([message], true);
    expect(bodies(run.outputs)).toEqual(scenario.verdicts);
    expect(run.ahead.missed).toBeGreaterThan(0);
  });

  it("is not misled by keys that strangers announce", async () => {
    const scenario = new Scenario().open().delegate("t1").accept();
    // Somebody else accepts the same epoch in the agent's name, with a key of his own.
    scenario.accept("t1", { actor: "other" });
    scenario.report("t1");
    const run = stage();
    void run.pipeline.deliver(scenario.log, false);
    await untilFolded(run, scenario.log.length);
    expect(bodies(run.outputs)).toEqual(scenario.verdicts);
  });
});

describe("a pipeline whose other end is slow", () => {
  it("holds the reader back, and lets it go on when there is room", async () => {
    const [message] = tasks(0).log as [StoredMessage];
    const garbage = Array.from({ length: 2_500 }, (_, i) => ({ ...message, seq: i + 1, data: new Uint8Array(8) }));
    const gate = { isShut: true };
    const run = stage({ isBlocked: () => gate.isShut });
    const room = run.pipeline.deliver(garbage, false);
    expect(room).toBeInstanceOf(Promise);
    expect(run.folded).toEqual([]);
    gate.isShut = false;
    run.pipeline.run();
    await room;
    expect(run.pipeline.waiting).toBeLessThan(1_500);
    await untilFolded(run, garbage.length);
    expect(run.folded.length).toBe(garbage.length);
  });

  it("counts bytes too: a few large messages are many", () => {
    const [message] = tasks(0).log as [StoredMessage];
    const large = Array.from({ length: 20 }, (_, i) => ({ ...message, seq: i + 1, data: new Uint8Array(256 * 1024) }));
    expect(stage({ isBlocked: () => true }).pipeline.deliver(large, false)).toBeInstanceOf(Promise);
    expect(stage({ isBlocked: () => true }).pipeline.deliver(large.slice(0, 4), false)).toBeUndefined();
  });

  it("lets a waiting reader go when it is stopped", async () => {
    const [message] = tasks(0).log as [StoredMessage];
    const many = Array.from({ length: 3_000 }, (_, i) => ({ ...message, seq: i + 1 }));
    const run = stage({ isBlocked: () => true });
    const room = run.pipeline.deliver(many, false);
    run.pipeline.stop();
    await expect(room).resolves.toBeUndefined();
    expect(run.folded).toEqual([]);
  });
});

describe("history", () => {
  it("is read for what comes after a task is closed, and never for a run that was not opened", async () => {
    const scenario = tasks(1);
    scenario.close("t0");
    const closed = scenario.log.length;
    scenario.error("t0");
    const asked: string[] = [];
    const run = stage({
      readHistory: ({ run: id, task }, belowSeq) => {
        asked.push(`${id}/${task} below ${belowSeq}`);
        return Promise.resolve(scenario.log.filter(({ seq }) => seq < belowSeq).map(admit));
      },
    });
    void run.pipeline.deliver(scenario.log, false);
    await untilFolded(run, scenario.log.length);
    expect(asked).toEqual([`r1/t0 below ${closed + 1}`]);
    expect(bodies(run.outputs)).toEqual(scenario.verdicts);

    const stranger = new Scenario({ run: "never-opened" });
    stranger.delegate("t1");
    void run.pipeline.deliver(
      stranger.log.map((message) => ({ ...message, seq: 900 })),
      true,
    );
    expect(run.outputs.at(-1)).toMatchObject({ type: "quarantine", body: { code: "no-delegation" } });
    expect(asked.length).toBe(1);
  });

  it("that can't be read halts the lane with what is wrong, not silently", async () => {
    const scenario = tasks(1);
    scenario.close("t0");
    scenario.error("t0");
    const run = stage({ readHistory: () => Promise.reject(new TypeError("broken")) });
    void run.pipeline.deliver(scenario.log, false);
    await untilFolded(run, scenario.log.length);
    expect(run.faults).toMatchObject([{ code: "defect" }]);
  });
});
