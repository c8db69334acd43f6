import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runTask, type LogEntry } from "@candor/contract";
import { admit, verifySignature } from "@candor/ledger";
import { keys, Scenario } from "../../../test/kit/scenario.js";
import { LaneFold } from "./lane-fold.js";
import type { Output } from "./output.js";

/** An event of an agent that no delegation names. */
function fromStranger(s: Scenario, task: string): void {
  s.event("error", s.errorPayload(), { task, actor: "stranger", epoch: 1, seq: 1, prev: new Uint8Array(32) });
}

function foreignIntent(s: Scenario, task: string): void {
  const payload = { standing: { epoch: 1, state: "recalled" as const }, graceMs: 0, reason: "x" };
  s.event("recall", payload, {
    task,
    actor: "rivals",
    epoch: 1,
    seq: 9,
    prev: new Uint8Array(32),
    signer: keys.stranger,
  });
}

/** What may still come for tasks that are closed, or for a run that is. */
const late: Readonly<Record<string, (s: Scenario) => void>> = {
  error: (s) => void s.error("t1"),
  other: (s) => void s.error("t2"),
  dispatch: (s) => void s.dispatch("t1"),
  outcome: (s) => void s.outcome("t1", 3),
  report: (s) => void s.report("t1", { claim: "fail" }),
  recall: (s) => void s.stop("t1", "recall"),
  close: (s) => void s.close("t1"),
  delegate: (s) => void s.delegate("t1"),
  probe: (s) => void s.probe("contradicted"),
  stranger: (s) => {
    fromStranger(s, "t1");
  },
  invented: (s) => {
    fromStranger(s, "t9");
  },
  foreign: (s) => {
    foreignIntent(s, "t1");
  },
  foreignRun: (s) => {
    foreignIntent(s, "_run");
  },
  prober: (s) => void s.probe("contradicted", { signer: keys.stranger }),
  third: (s) => void s.delegate("t3").accept("t3"),
};

function closedTasks(runToo: boolean): Scenario {
  const scenario = new Scenario({ policy: { lateEventsPerActor: 3 } }).open();
  for (const task of ["t1", "t2"]) {
    scenario.delegate(task, { intents: ["charge"] }).accept(task);
    scenario.error(task, { recovered: true });
    scenario.dispatch(task);
    scenario.report(task);
    // One of the two ends with the run only.
    if (!runToo || task === "t1") scenario.close(task);
  }
  if (runToo) scenario.intent("_run", "run-close", { state: "completed" });
  return scenario;
}

interface Folded {
  /** What each entry brought forth. */
  readonly outputs: readonly (readonly Output[])[];
  /** How often the log had to be read again. */
  readonly reads: number;
}

/** Folds a log. @param isLate entries before which history is read again although it is kept */
function foldAll(log: readonly LogEntry[], isLate: (entry: LogEntry, index: number) => boolean = () => false): Folded {
  const fold = new LaneFold(0, { operator: keys.operator.publicKey });
  let reads = 0;
  const outputs = log.map((entry, index) => {
    const { run, task } = entry.type === "event" ? entry.event : { run: "", task: "" };
    if (fold.needsHistory(entry) !== undefined || isLate(entry, index)) {
      reads += 1;
      const history = log
        .slice(0, index)
        .filter((past) => past.type === "event" && past.event.run === run && [runTask, task].includes(past.event.task));
      fold.revive({ run, task }, history, verifySignature);
    }
    return fold.fold(entry, verifySignature);
  });
  return { outputs, reads };
}

describe("closed tasks that are kept for a while", () => {
  it("B1 say what reading the log again says", () => {
    const names = fc.array(fc.constantFrom(...Object.keys(late)), { maxLength: 8 });
    fc.assert(
      fc.property(names, fc.boolean(), (steps, runToo) => {
        const scenario = closedTasks(runToo);
        const closed = scenario.log.length;
        for (const step of steps) late[step]?.(scenario);
        const log = scenario.log.map(admit);
        const isLate = (entry: LogEntry, index: number): boolean =>
          index >= closed && entry.type === "event" && (runToo || ["t1", "t2"].includes(entry.event.task));
        expect(foldAll(log).outputs).toEqual(foldAll(log, isLate).outputs);
      }),
      { numRuns: 25 },
    );
  });

  it("R2 do not have the log read for whoever has no part in them, and say so by name", () => {
    for (const runToo of [false, true]) {
      const scenario = closedTasks(runToo);
      const before = foldAll(scenario.log.map(admit)).reads;
      const spoken = scenario.verdicts.length;
      for (let i = 0; i < 20; i += 1) {
        for (const task of ["t1", "t2", ...(runToo ? [`invented-${i}`] : [])]) fromStranger(scenario, task);
        foreignIntent(scenario, "t1");
      }
      expect(foldAll(scenario.log.map(admit)).reads).toBe(before);
      expect(scenario.verdicts).toHaveLength(spoken);
      expect(new Set(scenario.codes())).toEqual(new Set(["no-delegation"]));
    }
  });

  it("have the log read no more for an actor whose late events are used up", () => {
    for (const runToo of [false, true]) {
      const scenario = closedTasks(runToo);
      for (let i = 0; i < 4; i += 1) scenario.error("t1");
      const before = foldAll(scenario.log.map(admit), () => false);
      const closed = scenario.log.length;
      for (let i = 0; i < 5; i += 1) scenario.error("t1");
      const log = scenario.log.map(admit);
      const fold = new LaneFold(0, { operator: keys.operator.publicKey });
      let asked = 0;
      for (const [index, entry] of log.entries()) {
        const need = fold.needsHistory(entry);
        if (need !== undefined && index >= closed) asked += 1;
        if (need !== undefined) {
          fold.revive(need, log.slice(0, index), verifySignature);
        }
        fold.fold(entry, verifySignature);
      }
      expect([asked, before.reads]).toEqual([0, before.reads]);
    }
  });

  it("have the log read once for a row of late events, not once for each", () => {
    for (const runToo of [false, true]) {
      const scenario = closedTasks(runToo);
      const before = foldAll(scenario.log.map(admit)).reads;
      for (let i = 0; i < 50; i += 1) scenario.error("t1");
      expect(foldAll(scenario.log.map(admit)).reads).toBe(before + 1);
    }
  });
});

describe("R7 a ghost in a closed task", () => {
  const budget = 3;
  const closed = (): Scenario => {
    const scenario = new Scenario({ policy: { lateEventsPerActor: budget } }).open();
    return scenario
      .delegate("t1", { intents: ["charge"] })
      .accept("t1")
      .report("t1");
  };
  const ghost = { verdict: "GHOST_ACTION_DETECTED", action: "halt" };

  it("is seen behind any amount of junk, and the budget goes on from there", () => {
    const scenario = closed();
    scenario.close("t1");
    for (let i = 0; i < 3 * budget; i += 1) scenario.error("t1");
    scenario.dispatch("t1");
    expect(scenario.last("recall")).toMatchObject(ghost);
    const said = scenario.verdicts.length;
    scenario.dispatch("t1");
    expect(scenario.verdicts.length).toBe(said);
    expect(scenario.quarantined.at(-1)?.sentence).toContain("used up");
    expect(scenario.replay().verdicts).toEqual(scenario.verdicts);
  });

  it("is seen behind a number that never comes, and counts once when it does", () => {
    const scenario = closed();
    scenario.close("t1");
    const missing = scenario.record("t1", "error", scenario.errorPayload());
    scenario.dispatch("t1");
    const seen = scenario.last("recall");
    expect(seen).toMatchObject(ghost);
    missing.store();
    expect(scenario.last("recall")).toEqual(seen);
  });
});
