import { describe, expect, it } from "vitest";
import { defaultPolicy, policyHash, sha256, utf8, type Action, type Judge, type VerdictBody } from "@candor/contract";
import { waitForDecision, type Decision, type DecisionPort, type GuardState } from "./decision.js";
import { RunView } from "./run-view.js";
import type { StoredIntent } from "./task-line.js";

const task = "t1";
const limitMs = 120;

interface Given {
  readonly guard?: GuardState;
  readonly connected?: boolean;
  readonly refresh?: () => Promise<void>;
}

function port(view: RunView, given: Given = {}): DecisionPort {
  return {
    refresh: given.refresh ?? (() => Promise.resolve()),
    view: () => view.task(task),
    changed: (signal) => view.changed(task, signal),
    guardState: () => Promise.resolve(given.guard),
    isConnected: () => given.connected ?? true,
  };
}

function intent(control: number, kind: "delegate" | "recall", epoch = 1): StoredIntent {
  const hash = sha256(utf8(`${control} ${kind}`));
  return { sequence: control * 10, control, kind, epoch, hash, actor: "f1", atMs: 0 };
}

let ordinal = 0;

function verdict(judge: Judge, action: Action, more: Partial<VerdictBody> = {}): VerdictBody {
  ordinal += 1;
  return {
    run: "r1",
    task,
    epoch: 1,
    judge,
    verdict: "FULL_DISCLOSURE_VERIFIED",
    action,
    final: true,
    revision: 1,
    ordinal,
    findings: [],
    sentence: "Said for people.",
    cause: { first: 1, last: 15 },
    at: 0,
    fold: 1,
    policy: policyHash(defaultPolicy),
    isolation: "separate-process",
    ...more,
  };
}

function accepted(of: StoredIntent): VerdictBody {
  return verdict("intent", "proceed", {
    verdict: "INTENT_ACCEPTED",
    epoch: of.epoch,
    intent: { control: of.control, kind: of.kind, hash: of.hash },
    cause: { first: of.sequence, last: of.sequence },
  });
}

function delegated(): RunView {
  const view = new RunView();
  const first = intent(1, "delegate");
  view.stored(task, first);
  view.verdict(accepted(first));
  return view;
}

function why(decision: Decision): string {
  return decision.kind === "undecided" ? decision.why : decision.action;
}

describe("Q8 a decision", () => {
  it("comes as soon as disclosure is final", async () => {
    const view = delegated();
    const waiting = waitForDecision(port(view), 5_000);
    view.verdict(verdict("disclosure", "verify", { final: false }));
    view.verdict(verdict("disclosure", "proceed"));
    expect(await waiting).toMatchObject({ kind: "decided", action: "proceed", final: true, epoch: 1 });
  });

  it("is the strictest action of the judges, whatever the verdicts on intents say", async () => {
    const view = delegated();
    view.verdict(verdict("disclosure", "proceed"));
    view.verdict(verdict("recall", "reconcile", { verdict: "TERMINATED_WITH_UNKNOWNS" }));
    view.verdict(verdict("intent", "halt", { verdict: "INTENT_REJECTED" }));
    expect(why(await waitForDecision(port(view), limitMs))).toBe("reconcile");
  });

  it("does not take a final verdict from before a recall for one on the recall", async () => {
    const view = delegated();
    view.verdict(verdict("disclosure", "proceed"));
    const recall = intent(2, "recall");
    view.stored(task, recall);
    expect(why(await waitForDecision(port(view, { guard: { behind: 0 } }), limitMs))).toBe("lane-behind");
    view.verdict(accepted(recall));
    expect(why(await waitForDecision(port(view, { guard: { behind: 0 } }), limitMs))).toBe("not-final");
    view.verdict(
      verdict("recall", "proceed", { verdict: "RECALL_NO_SIDE_EFFECTS_SAFE", cause: { first: 10, last: 21 } }),
    );
    expect(why(await waitForDecision(port(view), limitMs))).toBe("proceed");
  });

  it("R7 a verdict on an earlier epoch hides none on this one, and the stop of this one is known to be judged", async () => {
    const view = delegated();
    const second = intent(2, "delegate", 2);
    const recall = intent(3, "recall", 2);
    for (const sent of [second, recall]) {
      view.stored(task, sent);
      view.verdict(accepted(sent));
    }
    const cause = { first: 20, last: 31 };
    view.verdict(verdict("recall", "halt", { verdict: "GHOST_ACTION_DETECTED", epoch: 2, cause }));
    view.verdict(verdict("recall", "proceed", { verdict: "EPOCH_ABANDONED", cause: { first: 10, last: 32 } }));
    expect(why(await waitForDecision(port(view), limitMs))).toBe("halt");
  });

  it("is not made from the verdicts of an earlier epoch", async () => {
    const view = delegated();
    view.verdict(verdict("disclosure", "proceed"));
    const second = intent(2, "delegate", 2);
    view.stored(task, second);
    view.verdict(accepted(second));
    expect(why(await waitForDecision(port(view, { guard: { behind: 0 } }), limitMs))).toBe("no-report");
  });

  it.each([
    ["not-delegated", () => new RunView(), { guard: { behind: 0 } }],
    ["no-guard", delegated, {}],
    ["guard-halted", delegated, { guard: { behind: 7, halted: { code: "log-altered", message: "It differs." } } }],
    ["lane-behind", delegated, { guard: { behind: 7 } }],
    ["no-report", delegated, { guard: { behind: 0 } }],
    ["disconnected", delegated, { connected: false, guard: { behind: 0 } }],
    ["no-guard", delegated, { refresh: () => new Promise<void>(() => undefined) }],
  ] as const)("ends in a typed undecided: %s", async (expected, view, given) => {
    const started = performance.now();
    const decision = await waitForDecision(port(view(), given), limitMs);
    expect(why(decision)).toBe(expected);
    expect(performance.now() - started).toBeLessThan(limitMs * 5);
  });

  it("says how far the guard is behind", async () => {
    const decision = await waitForDecision(port(delegated(), { guard: { behind: 7 } }), limitMs);
    expect(decision).toMatchObject({ kind: "undecided", behind: 7 });
  });

  it("waits for a look at the server before it believes what it knows", async () => {
    const view = delegated();
    view.verdict(verdict("disclosure", "proceed"));
    const recall = intent(2, "recall");
    const refresh = (): Promise<void> => {
      view.stored(task, recall);
      return Promise.resolve();
    };
    expect(why(await waitForDecision(port(view, { refresh, guard: { behind: 3 } }), limitMs))).toBe("lane-behind");
  });
});
