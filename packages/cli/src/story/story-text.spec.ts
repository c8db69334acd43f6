import { createContext } from "../context.js";
import { createTerminal } from "../output/terminal.js";
import { describe, expect, it } from "vitest";
import type { PublishedVerdict, RunLog } from "./run-log.js";
import { taskRows } from "./story-text.js";
import { tellTask } from "./task-story.js";

const stream = { write: () => true };
const context = createContext(createTerminal({ stdout: stream, stderr: stream, environment: {} }), {});

const said = (facts: Pick<PublishedVerdict, "judge" | "verdict" | "action">, ordinal: number): PublishedVerdict => ({
  run: "r",
  task: "t",
  ordinal,
  epoch: 0,
  revision: 1,
  final: true,
  cause: { first: 1, last: ordinal },
  at: 1,
  fold: 1,
  policy: new Uint8Array(32),
  findings: [],
  sentence: "",
  isolation: "separate-process",
  guard: "g",
  recordSeq: ordinal,
  ...facts,
});

const logOf = (verdicts: readonly PublishedVerdict[]): RunLog => ({
  run: "r",
  lane: 0,
  entries: [],
  verdicts,
  key: { state: "withheld" },
});

const recall = said({ judge: "recall", verdict: "RECALL_ACTIVE", action: "reconcile" }, 1);
const disclosure = said({ judge: "disclosure", verdict: "FULL_DISCLOSURE_VERIFIED", action: "proceed" }, 2);

describe("Q3 candor run show", () => {
  it("shows beside an action the verdict that it comes from, whoever spoke last", () => {
    for (const verdicts of [
      [recall, disclosure],
      [disclosure, recall],
    ]) {
      const story = tellTask(logOf(verdicts), "t");
      expect(story.decidedBy).toEqual({ judge: "recall", verdict: "RECALL_ACTIVE" });
      expect(taskRows(context, [story])).toMatch(/ reconcile +yes +RECALL_ACTIVE$/);
    }
  });

  it("shows no verdict where nothing is decided", () => {
    expect(taskRows(context, [tellTask(logOf([]), "t")])).toMatch(/ – +no +–$/);
  });
});
