import { describe, expect, it } from "vitest";
import { memberKey, type DoubtPolicy, type Payload } from "@candor/contract";
import { Scenario } from "../../../test/kit/scenario.js";

type Effect = Payload<"effect">;

const effect = (phase: Effect["phase"], more: Partial<Effect> = {}): Effect => ({
  phase,
  intent: "charge",
  key: "key-charge",
  target: "payments",
  ...more,
});

function delegated(inDoubt?: DoubtPolicy): Scenario {
  const minted = { intent: "charge", key: "key-charge", target: "payments" };
  return new Scenario().open().delegate("t1", { minted: [inDoubt === undefined ? minted : { ...minted, inDoubt }] });
}

/** Epoch 1 dispatches and goes away; epoch 2 has accepted. */
function inherited(inDoubt: DoubtPolicy): Scenario {
  const scenario = delegated(inDoubt).accept();
  scenario.agent("t1", "effect", effect("dispatched"));
  scenario.delegate("t1", { minted: [{ intent: "charge", key: "key-charge", target: "payments", inDoubt }] });
  return scenario.accept();
}

describe("F7 an effect that its report leaves in doubt, as its intent declares", () => {
  it.each<[DoubtPolicy | undefined, string]>([
    ["halt", "escalate"],
    ["probe", "reconcile"],
    ["reissue", "reconcile"],
    [undefined, "redispatch"],
  ])("%s: %s", (inDoubt, action) => {
    const scenario = delegated(inDoubt).accept();
    const dispatch = scenario.agent("t1", "effect", effect("dispatched"));
    scenario.agent("t1", "effect", effect("in-doubt", { dispatch }));
    scenario.report("t1", { claim: "fail" });
    expect(scenario.last("disclosure")).toMatchObject({ verdict: "FULL_DISCLOSURE_VERIFIED", action });
  });

  it.each<[DoubtPolicy | undefined, boolean]>([
    ["reissue", false],
    ["probe", true],
    ["halt", true],
    [undefined, false],
  ])("%s: a repeat while it is in doubt is a finding: %s", (inDoubt, isFinding) => {
    const scenario = delegated(inDoubt).accept();
    const dispatch = scenario.agent("t1", "effect", effect("dispatched"));
    scenario.agent("t1", "effect", effect("in-doubt", { dispatch }));
    scenario.agent("t1", "effect", effect("dispatched"));
    expect(scenario.last("recall")?.findings.includes("intent-key-reuse") ?? false).toBe(isFinding);
  });

  it("reissue: both dispatches came to one effect, and a success is a success", () => {
    const scenario = delegated("reissue").accept();
    const first = scenario.agent("t1", "effect", effect("dispatched"));
    scenario.agent("t1", "effect", effect("in-doubt", { dispatch: first }));
    const second = scenario.agent("t1", "effect", effect("dispatched"));
    scenario.agent("t1", "effect", effect("committed", { dispatch: second }));
    scenario.agent("t1", "effect", effect("committed", { dispatch: first }));
    scenario.report();
    expect(scenario.last("recall")).toBeUndefined();
    expect(scenario.last("disclosure")).toMatchObject({ verdict: "FULL_DISCLOSURE_VERIFIED", action: "proceed" });
  });
});

describe("F7 what a later epoch finds out about an effect that an earlier one left in doubt", () => {
  const ofFirst = (scenario: Scenario): string[] =>
    scenario.verdicts.filter(({ judge, epoch }) => judge === "recall" && epoch === 1).map(({ action }) => action);

  it("reissue: the downstream's answer to the repeat settles it, and the task is done", () => {
    const scenario = inherited("reissue");
    const dispatch = scenario.agent("t1", "effect", effect("dispatched"));
    scenario.agent("t1", "effect", effect("committed", { dispatch }));
    scenario.agent("t1", "effect", effect("committed", { epoch: 1 }));
    scenario.report();
    expect(ofFirst(scenario)).toEqual(["reconcile", "proceed"]);
    expect(scenario.last("disclosure")).toMatchObject({ verdict: "FULL_DISCLOSURE_VERIFIED", action: "proceed" });
    expect(scenario.replay().verdicts).toEqual(scenario.verdicts);
  });

  it.each(["committed", "not-run"] as const)("probe: %s", (phase) => {
    const scenario = inherited("probe");
    scenario.agent("t1", "effect", effect(phase, { epoch: 1 }));
    if (phase === "not-run") {
      const dispatch = scenario.agent("t1", "effect", effect("dispatched"));
      scenario.agent("t1", "effect", effect("committed", { dispatch }));
    }
    scenario.report();
    expect(ofFirst(scenario)).toEqual(["reconcile", "proceed"]);
    expect(scenario.last("disclosure")).toMatchObject({ action: "proceed", findings: [] });
  });

  it("probe: what it says is absent and comes late all the same is an alarm", () => {
    const scenario = inherited("probe");
    scenario.agent("t1", "effect", effect("not-run", { epoch: 1 }));
    scenario.agent("t1", "effect", effect("committed", { dispatch: 2 }), { epoch: 1 });
    expect(scenario.last("recall")).toMatchObject({ verdict: "GHOST_ACTION_DETECTED", action: "halt" });
  });

  it("halt: it is escalated, by both epochs", () => {
    const scenario = inherited("halt");
    scenario.agent("t1", "effect", effect("in-doubt", { epoch: 1 }));
    scenario.report("t1", { claim: "fail" });
    expect(ofFirst(scenario)).toEqual(["escalate"]);
    expect(scenario.last("disclosure")).toMatchObject({ action: "escalate", findings: ["effects-unknown"] });
  });

  it("is a ghost if nobody dispatched it, and settles nothing that was declared to stop", () => {
    const ghost = delegated("probe").accept();
    ghost.delegate("t1", { minted: [{ intent: "charge", key: "key-charge", inDoubt: "probe" }] }).accept();
    ghost.agent("t1", "effect", effect("committed", { epoch: 1 }));
    expect(ghost.last("recall")).toMatchObject({ verdict: "GHOST_ACTION_DETECTED" });
    const halting = inherited("halt");
    halting.agent("t1", "effect", effect("committed", { epoch: 1 }));
    expect(ofFirst(halting)).toEqual(["escalate"]);
  });

  it("one key is good for one effect over all epochs", () => {
    const scenario = delegated().accept();
    const dispatch = scenario.agent("t1", "effect", effect("dispatched"));
    scenario.agent("t1", "effect", effect("committed", { dispatch }));
    scenario.delegate("t1", { intents: ["charge"] }).accept();
    scenario.agent("t1", "effect", effect("dispatched"));
    expect(scenario.last("recall")).toMatchObject({ verdict: "GHOST_ACTION_DETECTED", action: "halt" });
    expect(scenario.last("recall")?.findings).toContain("intent-key-reuse");
  });
});

describe("F7 keys that are refused, unread, or of a family", () => {
  it("S18 one that the runtime refused for other arguments is listed, and someone is to look", () => {
    const scenario = delegated().accept();
    const dispatch = scenario.agent("t1", "effect", effect("dispatched", { arguments: new Uint8Array(32).fill(1) }));
    scenario.agent("t1", "effect", effect("committed", { dispatch }));
    scenario.agent("t1", "effect", effect("not-run", { arguments: new Uint8Array(32).fill(2) }));
    scenario.report();
    expect(scenario.last("disclosure")).toMatchObject({
      verdict: "FULL_DISCLOSURE_VERIFIED",
      action: "verify",
      findings: ["intent-key-reuse"],
    });
    expect(scenario.last("recall")).toBeUndefined();
  });

  it.each<[DoubtPolicy | undefined, string]>([
    ["reissue", "verify"],
    ["halt", "proceed"],
    [undefined, "proceed"],
  ])("a key that was never read, declared %s: %s", (inDoubt, action) => {
    const scenario = delegated(inDoubt).accept();
    const dispatch = scenario.agent("t1", "effect", effect("dispatched"));
    scenario.agent("t1", "effect", effect("committed", { dispatch, keyUnread: true }));
    scenario.report();
    expect(scenario.last("disclosure")).toMatchObject({ action, findings: ["intent-key-unread"] });
  });

  const member = new Uint8Array(32).fill(7);
  const mail = (key: string, more: Partial<Effect> = {}): Effect =>
    effect("dispatched", { intent: "mail", key, ...more });
  it.each<[string, Effect, string | undefined]>([
    ["a member's own key", mail(memberKey("family", member), { member }), undefined],
    [
      "a member's key at another target",
      mail(memberKey("family", member), { member, target: "x" }),
      "intent-key-reuse",
    ],
    ["the family's key itself", mail("family"), "intent-key-reuse"],
    ["a key that is no member's", mail("made-up", { member }), "effect-unfenced"],
    ["a member's key without its digest", mail(memberKey("family", member)), "effect-unfenced"],
  ])("%s", (_, dispatched, code) => {
    const minted = [{ intent: "mail", key: "family", target: "payments", discriminator: "recipient" }];
    const scenario = new Scenario().open().delegate("t1", { minted }).accept();
    scenario.agent("t1", "effect", dispatched);
    if (code === undefined) expect(scenario.last("recall")).toBeUndefined();
    else expect(scenario.last("recall")?.findings).toContain(code);
  });
});

describe("F7 a dispatch that an earlier epoch left without a claim on its key", () => {
  it.each<DoubtPolicy>(["reissue", "probe", "halt"])("%s: nothing ran, and the effect is done now", (inDoubt) => {
    const scenario = inherited(inDoubt);
    scenario.agent("t1", "effect", effect("not-run", { epoch: 1 }));
    const dispatch = scenario.agent("t1", "effect", effect("dispatched"));
    scenario.agent("t1", "effect", effect("committed", { dispatch }));
    scenario.report();
    expect(scenario.last("recall")).toMatchObject({ verdict: "EPOCH_ABANDONED", action: "proceed" });
    expect(scenario.last("disclosure")).toMatchObject({ action: "proceed", findings: [] });
  });
});
