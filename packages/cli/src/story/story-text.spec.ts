import { createContext } from "../context.js";
import { createTerminal } from "../output/terminal.js";
import { describe, expect, it } from "vitest";
import type { PublishedVerdict, RunLog } from "./run-log.js";
import { taskRows, taskText } from "./story-text.js";
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

describe("F8 candor task show", () => {
  it("shows what a task failed with, and how that came up: origin, each layer's deed, the downgrade", () => {
    const hash = new Uint8Array(32);
    const unavailable = { type: "unavailable", finality: "exhausted" } as const;
    const partial = { type: "partial", finality: "recoverable" } as const;
    const at = Date.parse("2026-01-01T00:00:00Z");
    const layer = { epoch: 1, hash, at, saw: unavailable } as const;
    const failed: PublishedVerdict = {
      ...disclosure,
      action: "verify",
      failure: {
        vocabulary: 1,
        task: "t",
        epoch: 1,
        actor: "planner",
        hash,
        ...partial,
        severity: "medium",
        operation: "delegate",
        attempt: 1,
        attempts: [],
        effects: [{ intent: "charge", key: "key-1", identifiers: { payment: "p-1" } }],
        effectsOmitted: 0,
        origin: { task: "leaf", epoch: 1, actor: "fetcher", hash, ...unavailable },
        layers: [
          { ...layer, task: "middle", actor: "buyer", did: "passed", says: unavailable, downgraded: false },
          { ...layer, task: "t", actor: "planner", did: "downgraded", says: partial, downgraded: true },
        ],
      },
    };
    const shown = taskText(context, tellTask(logOf([failed]), "t"));
    expect(shown).toMatch(/^failed with +partial, recoverable; severity medium$/m);
    expect(shown).toMatch(/^had happened +charge key key-1 payment p-1$/m);
    expect(shown).toMatch(/^leaf +1 +fetcher +– +failed +unavailable, exhausted +– +–$/m);
    expect(shown).toMatch(/^middle +1 +buyer +unavailable, exhausted +passed +unavailable, exhausted +no +2026/m);
    expect(shown).toMatch(/^t +1 +planner +unavailable, exhausted +downgraded +partial, recoverable +yes +2026/m);
  });
});
