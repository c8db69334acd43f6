import { describe, expect, it } from "vitest";
import { zeroHash } from "@candor/contract";
import { createSeed, createSigner, type Signer } from "@candor/ledger";
import { acceptedTask, keys, type Scenario } from "../../../test/kit/scenario.js";

const critical = (): Scenario => acceptedTask({ brief: { critical: true } });
const elsewhere = new Uint8Array(32).fill(5);

describe("D4 a probe receipt", () => {
  it.each<[string, (s: Scenario) => { signer: Signer; actor: string }]>([
    [
      "by the agent's deployment identity",
      (s) => {
        s.trust("prober", keys.deployment.publicKey);
        return { signer: keys.deployment, actor: "prober" };
      },
    ],
    [
      "by the agent's task key",
      (s) => {
        const signer = s.author("t1").signer as Signer;
        s.trust("prober", signer.publicKey);
        return { signer, actor: "prober" };
      },
    ],
    [
      "under the agent's own name",
      (s) => {
        s.trust("agent", keys.prober.publicKey);
        return { signer: keys.prober, actor: "agent" };
      },
    ],
  ])("%s is not independent and confirms nothing", (_, prober) => {
    const scenario = critical();
    scenario.probe("confirmed", prober(scenario));
    scenario.report().tick(2_000);
    expect(scenario.last("disclosure")).toMatchObject({
      verdict: "PARTIAL_DISCLOSURE_RISK",
      action: "probe",
      findings: ["probe-not-independent", "probe-missing"],
    });
  });

  it("under a key that is added in the run counts from then on", () => {
    const later = createSigner(createSeed());
    const scenario = critical();
    scenario.probe("confirmed", { signer: later });
    expect(scenario.codes()).toEqual(["bad-signature"]);
    scenario.trust("prober", later.publicKey);
    scenario.probe("confirmed", { signer: later });
    scenario.report();
    expect(scenario.last("disclosure")).toMatchObject({ verdict: "FULL_DISCLOSURE_VERIFIED", action: "proceed" });
  });
});

describe("B3 no probe receipt vanishes", () => {
  it("two stories under one number: a confirmation no longer counts, a contradiction does", () => {
    const scenario = critical();
    scenario.probe("confirmed");
    scenario.report();
    expect(scenario.last("disclosure")?.verdict).toBe("FULL_DISCLOSURE_VERIFIED");
    scenario.probe("inconclusive");
    expect(scenario.last("disclosure")?.findings).toEqual(["probe-missing"]);
    scenario.probe("contradicted");
    expect(scenario.last("disclosure")).toMatchObject({ action: "halt", findings: ["probe-contradicts"] });
  });

  it("one that waits for a predecessor: a contradiction counts at once, a confirmation when its turn comes", () => {
    const scenario = critical();
    scenario.report();
    scenario.probe("confirmed", { seq: 3, prev: elsewhere });
    expect(scenario.last("disclosure")?.findings).toEqual(["probe-missing"]);
    scenario.probe("contradicted", { seq: 2, prev: elsewhere });
    expect(scenario.last("disclosure")?.findings).toEqual(["probe-contradicts"]);
  });

  it("more than may wait are quarantined, unless they contradict", () => {
    const scenario = acceptedTask({ policy: { reorderBuffer: 1 } });
    scenario.report();
    scenario.probe("confirmed", { seq: 3, prev: elsewhere });
    scenario.probe("confirmed", { seq: 4, prev: elsewhere });
    expect(scenario.codes()).toEqual(["malformed"]);
    scenario.probe("contradicted", { seq: 5, prev: elsewhere });
    expect(scenario.last("disclosure")?.findings).toEqual(["probe-contradicts"]);
  });

  it("a repeated one is a duplicate, whatever was seen since", () => {
    const scenario = acceptedTask();
    scenario.probe("contradicted");
    const first = scenario.log.at(-1);
    const head = scenario.lastHash;
    scenario.probe("confirmed", { seq: 2, prev: head });
    scenario.report();
    expect(scenario.last("disclosure")?.action).toBe("proceed");
    if (first === undefined) expect.unreachable();
    scenario.store(first.subject, first.data);
    expect(scenario.last("disclosure")?.action).toBe("proceed");
  });

  it("a contradiction of an epoch that is over is a new revision of its verdict, and cancels nobody's timer", () => {
    const scenario = acceptedTask();
    scenario.report();
    scenario.delegate().accept();
    scenario.stop("t1", "recall");
    const armed = scenario.fold.pendingTimers();
    scenario.probe("contradicted", { epoch: 1, seq: 1, prev: zeroHash });
    const last = scenario.verdicts.at(-1);
    expect(last).toMatchObject({ judge: "disclosure", epoch: 1, revision: 2, verdict: "CONCEALMENT_DETECTED" });
    expect(scenario.fold.pendingTimers()).toEqual(armed);
  });
});
