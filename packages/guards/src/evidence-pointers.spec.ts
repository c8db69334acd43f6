import { describe, expect, it } from "vitest";
import { guardActor, zeroHash, type ReportedEvidence } from "@candor/contract";
import type { Output, TimerRequest } from "@candor/guards";
import { acceptedTask, type Scenario } from "../../../test/kit/scenario.js";

const piece = (byte: number, size = 10): ReportedEvidence => ({
  actor: "agent",
  hash: new Uint8Array(32).fill(byte),
  size,
  label: Uint8Array.of(1),
});
const [first, second] = [piece(1), piece(2)];

/** A report that points to evidence, and what the guard asks the store about it. */
function reported(...evidence: ReportedEvidence[]): { readonly scenario: Scenario; readonly asked: Asked } {
  const scenario = acceptedTask();
  scenario.report("t1", { evidence });
  return { scenario, asked: askedIn(scenario) };
}

type Asked = TimerRequest | undefined;

function askedIn({ timers }: Scenario): Asked {
  return timers.filter(({ timer }) => timer === "evidence").at(-1);
}

/** Tells the log what a guard found. */
function found(
  scenario: Scenario,
  asked: Asked,
  stored: readonly (readonly [ReportedEvidence, boolean])[],
  { actor = guardActor, task = "t1" } = {},
): Output[] {
  return scenario.event(
    "timer",
    {
      timer: "evidence",
      deadlineMs: asked?.deadlineMs ?? 0,
      evidence: stored.map(([{ actor: owner, hash }, is]) => ({ actor: owner, hash, stored: is })),
    },
    { task, actor, epoch: 1, seq: 1, prev: zeroHash, signer: undefined },
  ).outputs;
}

describe("T2 what a report points to", () => {
  it("is looked up before the verdict is final", () => {
    const { scenario, asked } = reported(first, second, first);
    expect(asked?.evidence).toEqual([first, second].map(({ actor, hash, size }) => ({ actor, hash, size })));
    expect(scenario.last("disclosure")).toMatchObject({ action: "wait", final: false, findings: [] });
    found(scenario, asked, [
      [first, true],
      [second, true],
    ]);
    expect(scenario.last("disclosure")).toMatchObject({
      verdict: "FULL_DISCLOSURE_VERIFIED",
      action: "proceed",
      final: true,
    });
  });

  it("S23 and is not there: a pointer without a body", () => {
    const { scenario, asked } = reported(first, second);
    found(scenario, asked, [
      [first, true],
      [second, false],
    ]);
    expect(scenario.last("disclosure")).toMatchObject({
      verdict: "CONCEALMENT_DETECTED",
      action: "halt",
      final: true,
      findings: ["dangling-evidence"],
    });
  });

  it("costs nothing where a report points to nothing", () => {
    const { scenario, asked } = reported();
    expect(asked).toBeUndefined();
    expect(scenario.last("disclosure")).toMatchObject({ final: true, action: "proceed" });
  });

  it("the settle window does not end the wait, and what is left open is asked for again", () => {
    const { scenario, asked } = reported(first, second);
    scenario.tick(2_000);
    expect(scenario.last("disclosure")).toMatchObject({ final: false, action: "wait" });
    found(scenario, asked, [[first, true]]);
    const again = askedIn(scenario);
    expect(again?.evidence).toEqual([{ actor: "agent", hash: second.hash, size: 10 }]);
    scenario.tick(1_000);
    found(scenario, again, [[second, true]]);
    expect(scenario.last("disclosure")).toMatchObject({ final: true, action: "proceed" });
  });

  it("only a guard's word counts, only on what was asked, and the first one holds", () => {
    const { scenario, asked } = reported(first);
    found(scenario, asked, [[first, true]], { actor: "g1" });
    expect(scenario.codes()).toEqual(["untrusted-key"]);
    found(scenario, { ...asked, deadlineMs: 1 } as Asked, [[first, true]]);
    expect(scenario.last("disclosure")).toMatchObject({ final: false });
    found(scenario, asked, [
      [first, true],
      [piece(9), false],
    ]);
    found(scenario, asked, [[first, false]]);
    expect(scenario.last("disclosure")).toMatchObject({ final: true, findings: [] });
  });

  it("is looked up in a closed task too: nothing else would ever look", () => {
    const { scenario, asked } = reported(first);
    scenario.close("t1");
    expect(scenario.last("disclosure")).toMatchObject({ final: false, action: "wait" });
    found(scenario, asked, [[first, false]]);
    expect(scenario.last("disclosure")).toMatchObject({ final: true, findings: ["dangling-evidence"] });
  });

  it("is asked for again by a guard that starts in between, and never of an epoch that is over", () => {
    const { scenario, asked } = reported(first);
    expect(scenario.fold.pendingTimers().filter(({ timer }) => timer === "evidence")).toMatchObject([
      { task: "t1", deadlineMs: asked?.deadlineMs, evidence: asked?.evidence },
    ]);
    scenario.delegate("t1");
    expect(scenario.fold.pendingTimers().filter(({ timer }) => timer === "evidence")).toEqual([]);
  });
});

describe("T3 what was collected", () => {
  it("changes nothing, whoever is told, and is a guard's to tell", () => {
    const scenario = acceptedTask();
    const record = { closedAtMs: 1, items: [{ actor: "agent", hash: first.hash }] };
    const at = { task: "_run", epoch: 1, seq: 1, prev: zeroHash, signer: undefined };
    expect(scenario.event("collected", record, { ...at, actor: guardActor }).outputs).toEqual([]);
    expect(scenario.event("collected", record, { ...at, actor: "g1" }).outputs).toMatchObject([
      { type: "quarantine", body: { code: "untrusted-key" } },
    ]);
  });
});
