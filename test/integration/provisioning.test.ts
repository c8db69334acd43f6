import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { applyStreams, checkStreams, streamDocuments, type Bus } from "@candor/bus";
import { laneOf, storedSubject, streams } from "@candor/contract";
import { startServer, type TestServer } from "../kit/start-server.js";

describe("B1 the streams on a live server", () => {
  let server: TestServer;
  let operator: Bus;
  const settings = () => ({ operator: server.operatorKey });

  beforeAll(async () => {
    server = await startServer({ provisioned: false });
    operator = await server.connect("operator", undefined, { provisioned: false });
  });
  afterAll(() => server.close());

  it("are missed by whoever connects before they are made, with one clear error", async () => {
    for (const role of ["operator", "guard", "prober", "orchestrator", "agent", "auditor"] as const) {
      await expect(server.connect(role)).rejects.toMatchObject({ code: "not-provisioned" });
    }
    await expect(checkStreams(operator.nc, settings())).rejects.toMatchObject({ code: "not-provisioned" });
  });

  it("can't have replicas on a server of its own, and that is said at once", async () => {
    const asked = applyStreams(operator.nc, { ...settings(), replicas: 3 });
    await expect(asked).rejects.toMatchObject({ code: "bad-argument", path: "replicas" });
    await expect(checkStreams(operator.nc, settings())).rejects.toMatchObject({ code: "not-provisioned" });
  });

  it("a dry run tells what it would make and makes nothing", async () => {
    const { changes } = await applyStreams(operator.nc, { ...settings(), lanes: 8, dryRun: true });
    expect(changes.map(({ stream, field, change }) => [stream, field, change])).toEqual(
      Object.values(streams).map((stream) => [stream, "*", "create"]),
    );
    await expect(checkStreams(operator.nc, settings())).rejects.toMatchObject({ code: "not-provisioned" });
  });

  it("are made as the files say, and a second time there is nothing to do", async () => {
    const made = await applyStreams(operator.nc, { ...settings(), lanes: 8 });
    expect(made).toMatchObject({ lanes: 8, replicas: 1, operator: server.operatorKey });
    for (const document of streamDocuments({ lanes: 8, replicas: 1, operator: server.operatorKey })) {
      const { config } = await operator.jsm.streams.info(document.name);
      const { metadata, ...fields } = document;
      // What is false is left out of the server's answer.
      const set = Object.entries(fields).filter(([, value]) => value !== false);
      expect(config).toMatchObject(Object.fromEntries(set));
      expect(config.metadata).toMatchObject(metadata as object);
    }
    expect((await applyStreams(operator.nc, settings())).changes).toEqual([]);
    expect(await checkStreams(operator.nc, settings())).toMatchObject({ lanes: 8, changes: [] });
  });

  it("another number of lanes or another operator is refused, and nothing is changed", async () => {
    const attempts = [
      { ...settings(), lanes: 9 },
      { ...settings(), operator: server.identity("guard").signingKey },
    ];
    for (const attempt of attempts) {
      await expect(applyStreams(operator.nc, attempt)).rejects.toMatchObject({ code: "streams-differ" });
    }
    expect(await checkStreams(operator.nc, settings())).toMatchObject({ lanes: 8, changes: [] });
  });

  it("a drift is shown by the check and put right by applying", async () => {
    const { config } = await operator.jsm.streams.info(streams.log);
    await operator.jsm.streams.update(streams.log, { ...config, max_msg_size: 1024 });
    const drift = { stream: streams.log, field: "max_msg_size", from: 1024, to: 262_144, change: "update" };
    expect((await checkStreams(operator.nc, settings())).changes).toEqual([drift]);
    expect((await applyStreams(operator.nc, settings())).changes).toEqual([drift]);
    expect((await checkStreams(operator.nc, settings())).changes).toEqual([]);
  });

  it("a role that trusts another operator refuses to work with them", async () => {
    const stranger = server.identity("guard").signingKey;
    for (const role of ["guard", "orchestrator", "auditor"] as const) {
      await expect(server.connect(role, undefined, { operator: stranger })).rejects.toMatchObject({
        code: "streams-differ",
      });
      const bus = await server.connect(role, undefined, { operator: server.operatorKey });
      expect(bus).toMatchObject({ lanes: 8, operator: server.operatorKey });
    }
  });

  it("the server stores an event under the lane that the contract computes", async () => {
    const { nc } = await server.connect("agent", "a1");
    const runs = Array.from({ length: 40 }, (_, n) => `run-${n}-${"x".repeat(n)}`.slice(0, 64));
    for (const run of runs) await nc.request(`candor.in.agent.a1.${run}.t.error`, "");
    const { state } = await operator.jsm.streams.info(streams.log, { subjects_filter: ">" });
    const expected = runs.map((run) =>
      storedSubject({ lane: laneOf(run, 8), run, task: "t", role: "agent", actor: "a1", kind: "error" }),
    );
    expect(Object.keys(state.subjects ?? {}).sort()).toEqual(expected.sort());
  });

  it("B3 what is over 256 KiB or of another subject shape is refused by the server itself", async () => {
    const { nc } = await server.connect("agent", "a1");
    const { state: before } = await operator.jsm.streams.info(streams.log);
    const answer = await nc.request("candor.in.agent.a1.r.t.error", new Uint8Array(256 * 1024 + 1));
    expect(answer.json()).toMatchObject({ error: { err_code: 10054 } });
    for (const subject of ["candor.in.agent.a1.r.t", "candor.in.agent.a1.r.t.error.more"]) {
      await expect(nc.request(subject, "")).rejects.toThrow(/no responders/);
    }
    expect((await operator.jsm.streams.info(streams.log)).state.messages).toBe(before.messages);
  });
});

describe("B1 the streams on a cluster of three", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ nodes: 3 });
  });
  afterAll(() => server.close());

  it("have three replicas each", async () => {
    const operator = await server.connect("operator");
    expect(await checkStreams(operator.nc, { operator: server.operatorKey })).toMatchObject({
      replicas: 3,
      changes: [],
    });
    for (const stream of Object.values(streams)) {
      const { cluster } = await operator.jsm.streams.info(stream);
      expect(cluster?.replicas).toHaveLength(2);
    }
  });

  it("serve a client through any member, after the leader was killed too", async () => {
    const operator = await server.connect("operator");
    const { cluster } = await operator.jsm.streams.info(streams.log);
    const leader = server.nodes.find(({ serverName }) => serverName === cluster?.leader);
    await leader?.kill();
    const { nc } = await server.connect("agent", "a1");
    const publish = () => nc.request("candor.in.agent.a1.r.t.error", "").then((answer) => answer.string(), String);
    await expect.poll(publish, { timeout: 30_000 }).toContain('"stream":"CANDOR_LOG"');
    await leader?.restart();
  });
});
