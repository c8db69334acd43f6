import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runTask, type LogEntry } from "@candor/contract";
import { admit, verifySignature } from "@candor/ledger";
import { keys, Scenario } from "../../../test/kit/scenario.js";
import { LaneFold } from "./lane-fold.js";
import type { Output } from "./output.js";

const minted = { intents: ["charge"] };

/** What two tasks of one run can do, while their lane's clock goes on and back. */
const steps: Readonly<Record<string, (s: Scenario) => void>> = {
  error: (s) => void s.error("t1"),
  other: (s) => void s.error("t0"),
  dispatch: (s) => void s.dispatch("t1"),
  outcome: (s) => void s.outcome("t1", Math.max(2, s.author("t1").seq - 1)),
  report: (s) => void s.report("t1"),
  acknowledge: (s) => void s.agent("t1", "acknowledge", { control: 2, takenAt: s.author("t1").seq - 1, manifest: [] }),
  recall: (s) => void s.stop("t1", "recall", { graceMs: 2_000 }),
  delegate: (s) => void s.delegate("t1", minted).accept("t1"),
  forth: (s) => void (s.nowMs += 400),
  back: (s) => void (s.nowMs -= 350),
  // Another task's event at a later time, as when a new leader's clock is behind the last one's.
  skew: (s) => {
    s.nowMs += 50;
    s.error("t0");
    s.nowMs -= 50;
  },
  skewedRecall: (s) => {
    steps["skew"]?.(s);
    s.stop("t1", "recall", { graceMs: 2_000 });
  },
  tick: (s) => void s.tick(1_500),
  close: (s) => void s.close("t1"),
  closeOther: (s) => void s.close("t0"),
};

function play(names: readonly string[]): Scenario {
  const scenario = new Scenario().open();
  scenario.delegate("t0").accept("t0").delegate("t1", minted).accept("t1");
  for (const name of names) steps[name]?.(scenario);
  return scenario;
}

const isRecord = ({ type }: Output): boolean => type === "verdict" || type === "quarantine";

/** Folds a log. @param keepsClosed whether nothing ever leaves memory, so that nothing is read again */
function records(log: readonly LogEntry[], keepsClosed: boolean): readonly Output[] {
  const fold = new LaneFold(0, { operator: keys.operator.publicKey }, keepsClosed);
  return log.flatMap((entry, index) => {
    const need = fold.needsHistory(entry);
    if (need !== undefined) {
      const past = log
        .slice(0, index)
        .filter((one) => one.type === "event" && [runTask, need.task].includes(one.event.task));
      fold.revive(need, past, verifySignature);
    }
    return fold.fold(entry, verifySignature).filter(isRecord);
  });
}

describe("B1 the time of a log may go back", () => {
  it("says of a task that is read again what it says of one that is kept", () => {
    const names = fc.array(fc.constantFrom(...Object.keys(steps)), { maxLength: 16 });
    fc.assert(
      fc.property(names, names, (before, after) => {
        const log = play([...before, "close", ...after]).log.map(admit);
        expect(records(log, false)).toEqual(records(log, true));
      }),
      { numRuns: 60 },
    );
  });

  it("R4 a deadline is counted from the recall's own time, whatever other tasks' events said before", () => {
    const scenario = play(["dispatch", "forth", "other", "back", "recall", "tick", "tick", "close"]);
    const ordinals = scenario.verdicts.filter(({ task, judge }) => task === "t1" && judge === "recall");
    scenario.outcome("t1", 2);
    const all = scenario.verdicts.filter(({ task, judge }) => task === "t1" && judge === "recall");
    expect(all.slice(ordinals.length).map(({ ordinal }) => ordinal)).toEqual([(ordinals.at(-1)?.ordinal ?? 0) + 1]);
    expect(new Set(all.map(({ deadlineMs }) => deadlineMs)).size).toBe(1);
  });
});
