import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { honestTask, laneOfRun, startGuardStage, type GuardStage } from "../kit/guard-stage.js";
import { keys } from "../kit/scenario.js";

let stage: GuardStage;

beforeAll(async () => {
  stage = await startGuardStage();
});
afterEach(async () => {
  await stage.stopGuards();
});
afterAll(async () => {
  await stage.close();
});

describe("the state API", () => {
  it("answers for lane, run and task, and refuses a bad question by field", async () => {
    await stage.guard();
    const scenario = honestTask("state");
    await stage.play(scenario);
    await stage.untilVerdicts("state", scenario.verdicts.length);
    const lane = laneOfRun(stage, "state");
    const { nc } = await stage.server.connect("auditor");
    const ask = async (query: string): Promise<unknown> =>
      (await nc.request(`candor.guard.state.${lane}`, query)).json();
    expect(await ask("")).toMatchObject({
      lane,
      state: "live",
      guard: "g1",
      lag: 0,
      openTasks: expect.any(Number) as number,
    });
    expect(await ask(`{"run":"state"}`)).toMatchObject({ tasks: ["t1"] });
    expect(await ask(`{"run":"state","task":"t1"}`)).toMatchObject({ task: { task: "t1", epoch: 1, accepted: true } });
    expect(await ask(`{"task":"t1"}`)).toMatchObject({ error: expect.stringContaining("task") as string });
  });

  it("answers a failure with the headers of the service protocol, and a success without", async () => {
    await stage.guard("g1", { lanes: [0] });
    const { nc } = await stage.server.connect("auditor");
    const good = await nc.request("candor.guard.state.0", "");
    expect(good.headers?.get("Nats-Service-Error-Code") ?? "").toBe("");
    for (const query of ["{", "7", `{"run":"a b"}`, `{"task":"t1"}`]) {
      const bad = await nc.request("candor.guard.state.0", query);
      expect(bad.headers?.get("Nats-Service-Error-Code")).toBe("400");
      expect(bad.headers?.get("Nats-Service-Error")).toBe(bad.json<{ error: string }>().error);
    }
    const stats = await stage.operator.nc.request("$SRV.STATS.candor-guard", "");
    expect(stats.json()).toMatchObject({ endpoints: [{ num_requests: 5, num_errors: 4 }] });
  });

  it("speaks the NATS service protocol", async () => {
    const guard = await stage.guard("g1", { lanes: [0, 1] });
    const { nc } = stage.operator;
    const ask = async <T>(subject: string): Promise<T> => (await nc.request(subject, "")).json<T>();
    const ping = await ask<{ id: string; name: string }>("$SRV.PING");
    expect(ping).toMatchObject({ type: "io.nats.micro.v1.ping_response", name: "candor-guard", version: "0.1.0" });
    const info = await ask<{ endpoints: object[] }>(`$SRV.INFO.candor-guard.${ping.id}`);
    expect(info).toMatchObject({ type: "io.nats.micro.v1.info_response", metadata: { guard: "g1", lanes: "0,1" } });
    expect(info.endpoints).toMatchObject([{ subject: "candor.guard.state.0" }, { subject: "candor.guard.state.1" }]);
    await nc.request("candor.guard.state.1", "");
    expect(await ask("$SRV.STATS.candor-guard")).toMatchObject({
      type: "io.nats.micro.v1.stats_response",
      endpoints: [{ num_requests: 0 }, { num_requests: 1, num_errors: 0, data: { lane: 1 } }],
    });
    await guard.stop();
    await expect(nc.request("$SRV.PING", "", { timeout: 500 })).rejects.toThrow();
  });
});

describe("whom a guard trusts", () => {
  it("refuses an identity that the operator did not certify as this guard", async () => {
    const { stranger } = keys;
    const identity = stage.guardIdentity("g1");
    await expect(stage.guard("g1", { identity: { ...identity, signer: stranger } })).rejects.toMatchObject({
      code: "untrusted-key",
    });
    await expect(stage.guard("g1", { identity: { ...identity, operator: stranger.publicKey } })).rejects.toMatchObject({
      code: "untrusted-key",
    });
  });

  it("refuses lanes that are not there", async () => {
    await expect(stage.guard("g1", { lanes: [4] })).rejects.toMatchObject({ code: "bad-argument" });
  });
});
