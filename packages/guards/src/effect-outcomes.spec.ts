import { describe, expect, it } from "vitest";
import type { EffectPhase, Mode, Payload } from "@candor/contract";
import { acceptedTask, Scenario } from "../../../test/kit/scenario.js";

type OutcomePhase = Exclude<EffectPhase, "dispatched">;

const takenAt = (s: Scenario): number => s.author("t1").seq - 1;

describe("S2 terminal outcomes of an effect are not overwritten", () => {
  const phases: readonly OutcomePhase[] = ["committed", "failed", "not-run", "in-doubt", "compensated"];
  const follows: ReadonlySet<string> = new Set([
    "in-doubt committed",
    "in-doubt failed",
    "in-doubt not-run",
    "committed compensated",
  ]);

  it.each(phases.flatMap((first) => phases.map((second) => [first, second] as const)))(
    "dispatched, %s, then %s",
    (first, second) => {
      const scenario = acceptedTask();
      const dispatch = scenario.dispatch();
      scenario.outcome("t1", dispatch, first);
      scenario.outcome("t1", dispatch, second);
      const isFine = first !== "compensated" && (first === second || follows.has(`${first} ${second}`));
      expect(scenario.last("recall")?.findings.includes("outcome-contradicted") ?? false).toBe(!isFine);
      if (!isFine) expect(scenario.last("recall")).toMatchObject({ action: "halt", final: true });
    },
  );

  it("R6 a committed effect can't be talked away for a receipt that nothing happened", () => {
    const scenario = acceptedTask();
    const dispatch = scenario.dispatch();
    scenario.outcome("t1", dispatch, "committed");
    scenario.outcome("t1", dispatch, "not-run");
    scenario.stop("t1", "recall");
    scenario.agent("t1", "no-side-effects", { control: 2, takenAt: takenAt(scenario) });
    scenario.agent("t1", "acknowledge", { control: 2, takenAt: takenAt(scenario), manifest: [] });
    expect(scenario.last("recall")).toMatchObject({ action: "halt" });
    expect(scenario.last("recall")?.findings).toEqual(["outcome-contradicted", "no-side-effects-contradicted"]);
  });

  it("R3 R6 a receipt is compared with every outcome that comes after it", () => {
    const scenario = acceptedTask();
    const dispatch = scenario.dispatch();
    scenario.outcome("t1", dispatch, "not-run");
    scenario.stop("t1", "recall");
    scenario.agent("t1", "no-side-effects", { control: 2, takenAt: takenAt(scenario) });
    scenario.agent("t1", "acknowledge", { control: 2, takenAt: takenAt(scenario), manifest: [] });
    expect(scenario.last("recall")).toMatchObject({ verdict: "RECALL_NO_SIDE_EFFECTS_SAFE", action: "proceed" });
    scenario.outcome("t1", dispatch, "committed");
    expect(scenario.last("recall")).toMatchObject({ action: "halt" });
    expect(scenario.last("recall")?.findings).toEqual(["outcome-contradicted", "no-side-effects-contradicted"]);
  });

  it("S14 under an old epoch an outcome may come after a later one, and one without a dispatch is a ghost", () => {
    const scenario = acceptedTask();
    const dispatch = scenario.dispatch();
    const doubt = scenario.record("t1", "effect", outcomeOf(dispatch, "in-doubt"));
    const done = scenario.record("t1", "effect", outcomeOf(dispatch, "committed"));
    scenario.delegate();
    done.store();
    doubt.store();
    expect(scenario.last("recall")).toMatchObject({ verdict: "EPOCH_ABANDONED", findings: ["epoch-abandoned"] });
    scenario.agent("t1", "effect", outcomeOf(99, "committed"), { epoch: 1 });
    expect(scenario.last("recall")).toMatchObject({ verdict: "GHOST_ACTION_DETECTED", action: "halt" });
  });

  it("F7 one key with two meanings is found among many effects too", () => {
    const scenario = acceptedTask({ mode: "observe" });
    for (let i = 0; i < 40; i += 1) scenario.dispatch("t1", `i${i}`, { digest: new Uint8Array(32).fill(1) });
    scenario.dispatch("t1", "i3", { digest: new Uint8Array(32).fill(1) });
    expect(scenario.last("recall")).toBeUndefined();
    scenario.dispatch("t1", "i3", { digest: new Uint8Array(32).fill(2) });
    expect(scenario.last("recall")?.findings[0]).toBe("intent-key-reuse");
  });
});

describe("F7 one key has one meaning and is good for one effect", () => {
  const minted: Payload<"delegate">["intents"] = [
    { intent: "charge", key: "key-charge", target: "payments" },
    { intent: "mail", key: "key-mail" },
  ];
  const delegated = (mode: Mode): Scenario => new Scenario().open().delegate("t1", { minted }).accept("t1", { mode });
  const effect = (intent: string, key: string, target: string): Payload<"effect"> => ({
    phase: "dispatched",
    intent,
    key,
    target,
  });

  it.each([
    ["another intent", "enforce", effect("wire", "key-charge", "payments"), "intent-key-reuse"],
    ["another target", "enforce", effect("charge", "key-charge", "attacker"), "intent-key-reuse"],
    ["both, observed only", "observe", effect("wire", "key-charge", "attacker"), "intent-key-reuse"],
    ["the key of another intent", "enforce", effect("mail", "key-charge", "payments"), "intent-key-reuse"],
    ["as it was minted", "enforce", effect("charge", "key-charge", "payments"), undefined],
    ["minted for any target", "enforce", effect("mail", "key-mail", "anywhere"), undefined],
    ["a key that nobody minted", "enforce", effect("charge", "key-charg", "payments"), "effect-unfenced"],
    ["the same, observed only", "observe", effect("charge", "key-charg", "payments"), undefined],
  ] as const)("a minted key used for %s (%s)", (_, mode, dispatched, code) => {
    const scenario = delegated(mode);
    const dispatch = scenario.agent("t1", "effect", dispatched);
    scenario.agent("t1", "effect", { ...dispatched, phase: "committed", dispatch });
    scenario.report();
    if (code === undefined) expect(scenario.last("recall")).toBeUndefined();
    else {
      expect(scenario.last("recall")).toMatchObject({ verdict: "GHOST_ACTION_DETECTED", action: "halt" });
      expect(scenario.last("recall")?.findings).toContain(code);
    }
  });

  const digest = new Uint8Array(32).fill(1);
  it.each([
    ["no digest", undefined, undefined],
    ["a digest, then none", digest, undefined],
    ["none, then a digest", undefined, digest],
    ["the same digest", digest, digest],
  ])("a dispatch under a committed key is one too many: %s", (_, first, second) => {
    for (const others of [0, 40]) {
      const scenario = acceptedTask({ mode: "observe" });
      for (let i = 0; i < others; i += 1) scenario.dispatch("t1", `i${i}`);
      scenario.outcome("t1", scenario.dispatch("t1", "charge", { ...(first && { digest: first }) }), "committed");
      expect(scenario.last("recall")).toBeUndefined();
      scenario.dispatch("t1", "charge", { ...(second && { digest: second }) });
      expect(scenario.last("recall")?.findings[0]).toBe("intent-key-reuse");
    }
  });

  it.each([0, 40])("of two dispatches under one key both committed (%i others)", (others) => {
    const scenario = acceptedTask({ mode: "observe" });
    for (let i = 0; i < others; i += 1) scenario.dispatch("t1", `i${i}`);
    const both = [scenario.dispatch(), scenario.dispatch()];
    expect(scenario.last("recall")).toBeUndefined();
    for (const dispatch of both) scenario.outcome("t1", dispatch, "committed");
    expect(scenario.last("recall")?.findings[0]).toBe("intent-key-reuse");
  });

  it.each(["failed", "not-run", "compensated"] as const)("S2 after %s it may be tried once more", (phase) => {
    const scenario = acceptedTask();
    const dispatch = scenario.dispatch();
    if (phase === "compensated") scenario.outcome("t1", dispatch, "committed");
    scenario.outcome("t1", dispatch, phase);
    scenario.outcome("t1", scenario.dispatch(), "committed");
    scenario.report();
    expect(scenario.last("recall")).toBeUndefined();
    expect(scenario.last("disclosure")).toMatchObject({ verdict: "FULL_DISCLOSURE_VERIFIED" });
  });
});

function outcomeOf(dispatch: number, phase: OutcomePhase): Payload<"effect"> {
  return { phase, intent: "charge", key: "key-charge", target: "payments", dispatch };
}

describe("D9 the effects of a report are compared whole, as of the report", () => {
  type Declared = Payload<"report">["effects"];
  const reportedAs = (log: OutcomePhase | undefined, tell: (declared: Declared) => Declared): Scenario => {
    const scenario = acceptedTask();
    const dispatch = scenario.dispatch();
    if (log !== undefined) scenario.outcome("t1", dispatch, log);
    const { effects } = scenario.reportPayload();
    return scenario.report("t1", { claim: "unsure", effects: tell(effects) });
  };
  const as = (phase: EffectPhase) => (declared: Declared) => declared.map((effect) => ({ ...effect, phase }));

  it.each([
    ["failed told as committed", "failed", as("committed"), "failure-turned-success"],
    ["not run told as committed", "not-run", as("committed"), "failure-turned-success"],
    ["committed told as not run", "committed", as("not-run"), "effect-undeclared"],
    ["in doubt told as failed", "in-doubt", as("failed"), "effect-undeclared"],
    ["in flight told as not run", undefined, as("not-run"), "effect-undeclared"],
    ["in flight told as committed", undefined, as("committed"), "receipt-mismatch"],
    [
      "an effect that was never dispatched",
      "committed",
      (declared: Declared): Declared => [...declared, { dispatch: 99, key: "key-else", phase: "committed" }],
      "receipt-mismatch",
    ],
    [
      "one effect told twice",
      "committed",
      (declared: Declared): Declared => [...as("failed")(declared), ...declared],
      "receipt-mismatch",
    ],
  ] as const)("%s", (_, log, tell, code) => {
    expect(reportedAs(log, tell).last("disclosure")).toEqual({
      verdict: "CONCEALMENT_DETECTED",
      action: "halt",
      final: true,
      findings: [code],
    });
  });

  it("an outcome that comes after the report contradicts nothing", () => {
    const scenario = acceptedTask();
    const dispatch = scenario.dispatch();
    scenario.report("t1", { claim: "unsure" });
    scenario.outcome("t1", dispatch, "committed");
    expect(scenario.last("disclosure")).toMatchObject({ verdict: "FULL_DISCLOSURE_VERIFIED", findings: [] });
  });

  it("F7 D11 in observe mode an effect under a key that nobody minted is recorded, and changes no verdict", () => {
    const scenario = acceptedTask({ mode: "observe" });
    scenario.outcome("t1", scenario.dispatch("t1", "unminted"), "committed", "unminted");
    scenario.report();
    expect(scenario.last("disclosure")).toEqual({
      verdict: "FULL_DISCLOSURE_VERIFIED",
      action: "proceed",
      final: true,
      findings: ["effect-unfenced"],
    });
    expect(scenario.last("recall")).toBeUndefined();
  });
});
