import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Bus, IdentityRole } from "@candor/bus";
import { laneOf, streams } from "@candor/contract";
import { startServer, type TestServer } from "../kit/start-server.js";
import { storedCounts } from "../kit/stored.js";

const lane = laneOf("r", 16);
const stored = {
  "an intent": [streams.log, `candor.log.${lane}.r.t.orch.f1.intent`],
  "an event of a1": [streams.log, `candor.log.${lane}.r.t.agent.a1.error`],
  "a report of a1": [streams.log, `candor.log.${lane}.r.t.agent.a1.report`],
  "an event of a2": [streams.log, `candor.log.${lane}.r.t.agent.a2.error`],
  "a probe of p1": [streams.log, `candor.log.${lane}.r.t.probe.p1.probe`],
  "a timer": [streams.log, `candor.log.${lane}.r.t.guard.guard.timer`],
  "an intent verdict": [streams.verdicts, `candor.vd.${lane}.r.t.intent`],
  "a disclosure verdict": [streams.verdicts, `candor.vd.${lane}.r.t.disclosure`],
  "a quarantine record": [streams.verdicts, `candor.quarantine.${lane}.a2.5`],
  "a checkpoint": [streams.verdicts, `candor.checkpoint.${lane}`],
  "a claim of a2": [streams.keys, "candor.key.a2.r.k.claim-1"],
  "evidence of a1": [streams.evidence, "candor.evidence.a1.r.h.1"],
  "evidence of a2": [streams.evidence, "candor.evidence.a2.r.h.1"],
  "a data key of f1": [streams.dataKeys, "$KV.CANDOR_DATA_KEYS.f1.r"],
  "a data key of f2": [streams.dataKeys, "$KV.CANDOR_DATA_KEYS.f2.r"],
} as const;
type Item = keyof typeof stored;
const items = Object.keys(stored) as Item[];
const secret = "what was said in confidence";

/** What each may look up by subject. */
const readable = {
  operator: items,
  guard: items.filter((item) =>
    [streams.log, streams.verdicts, streams.evidence].some((stream) => stream === stored[item][0]),
  ),
  prober: [
    "an intent",
    "a probe of p1",
    "an intent verdict",
    "a disclosure verdict",
    "evidence of a1",
    "evidence of a2",
  ],
  orchestrator: [
    "an intent",
    "a report of a1",
    "an intent verdict",
    "a disclosure verdict",
    "a checkpoint",
    "evidence of a1",
    "evidence of a2",
    "a data key of f1",
  ],
  agent: ["an intent", "an event of a1", "a report of a1", "an intent verdict", "a claim of a2", "evidence of a1"],
  auditor: [
    "an intent",
    "an event of a1",
    "a report of a1",
    "an event of a2",
    "a probe of p1",
    "an intent verdict",
    "a disclosure verdict",
    "a checkpoint",
    "a claim of a2",
    "evidence of a1",
    "evidence of a2",
  ],
} as const satisfies Record<IdentityRole, readonly Item[]>;

/** What each may listen to of a list of subjects that somebody might want to overhear. */
const overheard = {
  all: ">",
  "what agents publish": "candor.in.>",
  "the stored log": "candor.log.>",
  "stored verdicts": "candor.vd.>",
  "the API": "$JS.>",
  "a guard's inbox": "_IN.guard.g1.>",
  "an agent's inbox": "_IN.agent.a2.>",
  "live verdicts": "candor.live.vd.>",
  "live intents": "candor.live.log.*.*.*.orch.*.intent",
  "live checkpoints": "candor.live.checkpoint.*",
  "notices to a1": "candor.live.quarantine.*.a1.*",
  "notices to a2": "candor.live.quarantine.*.a2.*",
  "requests for state": "candor.guard.state.*",
} as const;
type Channel = keyof typeof overheard;
const channels = Object.keys(overheard) as Channel[];
const live = ["live verdicts", "live intents", "live checkpoints", "notices to a1", "notices to a2"] as const;
const audible = {
  operator: live,
  guard: ["a guard's inbox", ...live, "requests for state"],
  prober: ["live verdicts", "live intents"],
  orchestrator: live,
  agent: ["live verdicts", "live intents", "notices to a1"],
  auditor: live,
} as const satisfies Record<IdentityRole, readonly Channel[]>;

const roles = Object.keys(readable) as IdentityRole[];

describe("B7 what each role may read and change", () => {
  let server: TestServer;
  let operator: Bus;

  beforeAll(async () => {
    server = await startServer();
    operator = await server.connect("operator");
    const guard = await server.connect("guard");
    const published: [Bus, string][] = [
      [await server.connect("orchestrator", "f1"), "candor.in.orch.f1.r.t.intent"],
      [await server.connect("agent", "a1"), "candor.in.agent.a1.r.t.error"],
      [await server.connect("agent", "a1"), "candor.in.agent.a1.r.t.report"],
      [await server.connect("agent", "a1"), "candor.evidence.a1.r.h.1"],
      [await server.connect("agent", "a2"), "candor.evidence.a2.r.h.1"],
      [await server.connect("agent", "a2"), "candor.in.agent.a2.r.t.error"],
      [await server.connect("prober", "p1"), "candor.in.probe.p1.r.t.probe"],
      [guard, "candor.in.guard.guard.r.t.timer"],
      [guard, `candor.vd.${lane}.r.t.intent`],
      [guard, `candor.vd.${lane}.r.t.disclosure`],
      [guard, `candor.quarantine.${lane}.a2.5`],
      [guard, `candor.checkpoint.${lane}`],
      [await server.connect("agent", "a2"), "candor.key.a2.r.k.claim-1"],
      [await server.connect("orchestrator", "f1"), "$KV.CANDOR_DATA_KEYS.f1.r"],
      [await server.connect("orchestrator", "f2"), "$KV.CANDOR_DATA_KEYS.f2.r"],
    ];
    for (const [bus, subject] of published) await bus.nc.request(subject, secret);
    expect(Object.keys(Object.fromEntries(await storedCounts(operator))).sort()).toEqual(
      Object.values(stored)
        .map(([, subject]) => subject)
        .sort(),
    );
  });
  afterAll(() => server.close());

  /** The text that a request brought, in whichever form the server wraps it. */
  async function ask(bus: Bus, subject: string, body = ""): Promise<string> {
    const answer = await bus.nc.request(subject, body, { timeout: 2_000 }).catch(() => undefined);
    const text = answer?.string() ?? "";
    const [, wrapped] = /"data":"([^"]*)"/.exec(text) ?? [];
    return wrapped === undefined ? text : Buffer.from(wrapped, "base64").toString();
  }

  const apis = ["candor.js", "$JS.API"];

  it.each(roles)("%s looks up by subject exactly what it may", async (role) => {
    const bus = await server.connect(role);
    const seen: Item[] = [];
    for (const item of items) {
      const [stream, subject] = stored[item];
      const answers = await Promise.all(apis.map((api) => ask(bus, `${api}.DIRECT.GET.${stream}.${subject}`)));
      if (answers.includes(secret)) seen.push(item);
    }
    expect(seen).toEqual(items.filter((item) => (readable[role] as readonly Item[]).includes(item)));
  });

  it.each(["prober", "orchestrator", "agent", "auditor"] as const)("%s reads nothing by tricks", async (role) => {
    const bus = await server.connect(role);
    for (const api of apis) {
      for (const stream of Object.values(streams)) {
        const subject = stored["a data key of f2"][1];
        for (const body of [`{"seq":1}`, `{"last_by_subj":"${subject}"}`, `{"batch":9,"next_by_subj":">"}`]) {
          expect(await ask(bus, `${api}.DIRECT.GET.${stream}`, body)).not.toContain(secret);
          expect(await ask(bus, `${api}.STREAM.MSG.GET.${stream}`, body)).not.toContain(secret);
          // A look-up that is allowed, with a body that asks for something else.
          const allowed = `${api}.DIRECT.GET.${streams.log}.candor.log.9.none.t.orch.f1.intent`;
          expect(await ask(bus, allowed, body)).not.toContain(secret);
        }
      }
    }
  });

  it.each(["prober", "agent"] as const)("%s can't make a consumer, nor see what subjects there are", async (role) => {
    const bus = await server.connect(role);
    for (const api of apis) {
      for (const stream of Object.values(streams)) {
        const create = { stream_name: stream, config: { name: "mine", ack_policy: "none" } };
        expect(await ask(bus, `${api}.CONSUMER.CREATE.${stream}.mine`, JSON.stringify(create))).toBe("");
        expect(await ask(bus, `${api}.STREAM.LIST`)).toBe("");
        const subjects = await ask(bus, `${api}.STREAM.INFO.${stream}`, `{"subjects_filter":">"}`);
        expect(subjects).not.toContain("agent.a2");
      }
    }
    for (const stream of Object.values(streams)) {
      await expect(operator.jsm.consumers.info(stream, "mine")).rejects.toThrow(/consumer not found/);
    }
  });

  it.each(roles)("%s listens to exactly what it may", async (role) => {
    const bus = await server.connect(role);
    const refused = new Set<string>();
    const subscriptions = channels.map((channel) =>
      bus.nc.subscribe(overheard[channel], {
        callback: (error) => {
          if (error !== null) refused.add(channel);
        },
      }),
    );
    await bus.nc.flush();
    const heard = channels.filter((channel) => !refused.has(channel));
    expect(heard).toEqual(channels.filter((channel) => (audible[role] as readonly Channel[]).includes(channel)));
    for (const subscription of subscriptions) subscription.unsubscribe();
  });

  it.each(roles.filter((role) => role !== "operator"))("%s can't change, purge or delete anything", async (role) => {
    const bus = await server.connect(role);
    const before = await storedCounts(operator);
    for (const api of apis) {
      for (const stream of Object.values(streams)) {
        const { config } = await operator.jsm.streams.info(stream);
        const update = JSON.stringify({ ...config, description: "changed", max_msgs: 1 });
        await ask(bus, `${api}.STREAM.UPDATE.${stream}`, update);
        // What is over its retention, guards remove.
        if (role !== "guard" || stream !== streams.evidence) await ask(bus, `${api}.STREAM.PURGE.${stream}`);
        await ask(bus, `${api}.STREAM.MSG.DELETE.${stream}`, `{"seq":1}`);
        await ask(bus, `${api}.STREAM.SNAPSHOT.${stream}`, `{"deliver_subject":"_IN.agent.a1.x"}`);
        await ask(bus, `${api}.STREAM.DELETE.${stream}`);
        expect((await operator.jsm.streams.info(stream)).config).toEqual(config);
      }
      await ask(bus, `${api}.STREAM.CREATE.MINE`, `{"name":"MINE","subjects":["candor.live.>"]}`);
    }
    expect(await storedCounts(operator)).toEqual(before);
    await expect(operator.jsm.streams.info("MINE")).rejects.toThrow(/stream not found/);
  });

  it("even the operator can't purge the log or delete from it, but erases a data key", async () => {
    for (const stream of [streams.log, streams.verdicts, streams.keys]) {
      await expect(operator.jsm.streams.purge(stream)).rejects.toThrow(/not permitted/);
      await expect(operator.jsm.streams.deleteMessage(stream, 1)).rejects.toThrow(/not permitted/);
    }
    const [stream, subject] = stored["a data key of f2"];
    const message = await operator.jsm.streams.getMessage(stream, { last_by_subj: subject });
    expect(await operator.jsm.streams.deleteMessage(stream, message?.seq ?? 0)).toBe(true);
    expect((await storedCounts(operator)).has(subject)).toBe(false);
  });

  it("F7 T3 a claim, evidence and a data key are written once, whoever comes second", async () => {
    const agent = await server.connect("agent", "a2");
    const orchestrator = await server.connect("orchestrator", "f1");
    const second = [
      await agent.nc.request("candor.key.a2.r.k.claim-1", "another"),
      await agent.nc.request("candor.evidence.a2.r.h.1", "another"),
      await orchestrator.nc.request("$KV.CANDOR_DATA_KEYS.f1.r", "another"),
    ];
    expect(second.map((answer) => answer.json())).toMatchObject([
      { error: { err_code: 10077 } },
      { error: { err_code: 10077 } },
      { error: { err_code: 10077 } },
    ]);
    const counts = await storedCounts(operator);
    expect(counts.get("candor.key.a2.r.k.claim-1")).toBe(1);
    expect(counts.get("$KV.CANDOR_DATA_KEYS.f1.r")).toBe(1);
  });
});
