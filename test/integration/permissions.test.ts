import { headers } from "@nats-io/transport-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readLive, type Bus, type IdentityRole } from "@candor/bus";
import { CandorError, laneOf, streams } from "@candor/contract";
import { startServer, type TestServer } from "../kit/start-server.js";
import { storedCounts, storedSince } from "../kit/stored.js";

const lanes = 16;

/** Every subject that a stream captures, and every one that live delivery uses, each under a run or number of its own. */
function targetsOf(n: number): Record<string, string> {
  const run = `r${n}`;
  return {
    "events of a1": `candor.in.agent.a1.${run}.t.error`,
    "events of a2": `candor.in.agent.a2.${run}.t.error`,
    "intents of f1": `candor.in.orch.f1.${run}.t.intent`,
    "intents of f2": `candor.in.orch.f2.${run}.t.intent`,
    "probes of p1": `candor.in.probe.p1.${run}.t.probe`,
    "probes of p2": `candor.in.probe.p2.${run}.t.probe`,
    timers: `candor.in.guard.guard.${run}.t.timer`,
    verdicts: `candor.vd.${laneOf(run, lanes)}.${run}.t.disclosure`,
    "quarantine records": `candor.quarantine.1.a1.${n}`,
    checkpoints: `candor.checkpoint.${n}`,
    "claims of a1": `candor.key.a1.${run}.k.claim-1`,
    "claims of a2": `candor.key.a2.${run}.k.claim-1`,
    "evidence of a1": `candor.evidence.a1.${run}.h.0`,
    "evidence of a2": `candor.evidence.a2.${run}.h.0`,
    "evidence of f1": `candor.evidence.f1.${run}.h.0`,
    "evidence of p1": `candor.evidence.p1.${run}.h.0`,
    "data keys of f1": `$KV.CANDOR_DATA_KEYS.f1.${run}`,
    "data keys of f2": `$KV.CANDOR_DATA_KEYS.f2.${run}`,
    "the stored log": `candor.log.1.${run}.t.orch.f1.intent`,
    "live intents": `candor.live.log.1.${run}.t.orch.f1.intent`,
    "live verdicts": `candor.live.vd.1.${run}.t.disclosure`,
  };
}

/** The subject that a published one is stored under. */
function storedAs(published: string): string {
  const [, , role, actor, run = "", task, kind] = published.split(".");
  if (!published.startsWith("candor.in.")) return published;
  return `candor.log.${laneOf(run, lanes)}.${run}.${task}.${role}.${actor}.${kind}`;
}

/** What each may publish; all else is refused. The other identities of a role are in the table as strangers. */
const own = {
  operator: [],
  guard: ["timers", "verdicts", "quarantine records", "checkpoints"],
  prober: ["probes of p1", "evidence of p1"],
  orchestrator: ["intents of f1", "evidence of f1", "data keys of f1"],
  agent: ["events of a1", "claims of a1", "evidence of a1"],
  auditor: [],
} as const satisfies Record<IdentityRole, readonly string[]>;

const roles = Object.keys(own) as IdentityRole[];
const clients = roles.filter((role) => role !== "operator" && role !== "guard");

describe.each([1, 3] as const)("B7 permissions on a live server (%s nodes), by what was stored", (nodes) => {
  let server: TestServer;
  let operator: Bus;
  let guard: Bus;
  let count = 100;
  const bus = new Map<IdentityRole, Bus>();
  const seenLive: string[] = [];

  const as = (role: IdentityRole): Bus => {
    const found = bus.get(role);
    if (found === undefined) throw new CandorError("defect", `${role} is not connected.`);
    return found;
  };

  beforeAll(async () => {
    server = await startServer({ nodes, lanes, identities: { prober: ["p1", "p2"] } });
    for (const role of roles) bus.set(role, await server.connect(role));
    operator = as("operator");
    guard = as("guard");
    // Something to look up and to pull, and somebody who answers requests.
    for (const [name, subject] of Object.entries(targetsOf(1))) {
      const publisher = roles.find((role) => (own[role] as readonly string[]).includes(name));
      if (publisher !== undefined) await as(publisher).nc.request(subject, "stored in good faith");
    }
    for (const stream of [streams.log, streams.verdicts]) {
      await operator.jsm.consumers.add(stream, { durable_name: "known", ack_policy: "none" });
    }
    guard.nc.subscribe("candor.guard.state.*", { callback: (_, message) => void message.respond("state") });
    const { nc } = await server.connect("orchestrator", "f2");
    nc.subscribe("candor.live.>", {
      callback: (_, message) => {
        const live = readLive(message);
        if (live !== undefined) seenLive.push(live.subject);
      },
    });
    await Promise.all([guard.nc.flush(), nc.flush()]);
    atStart = await storedCounts(operator);
  });
  afterAll(() => server.close());

  /** Messages that are certain to be stored, one in each stream: what was sent before them is stored, or never will be. */
  async function barrier(): Promise<Record<string, number>> {
    const [run, n] = [`barrier${++count}`, count];
    const subjects = [`candor.in.guard.guard.${run}.t.timer`, `candor.quarantine.1.nobody.${n}`];
    for (const subject of subjects) await guard.nc.request(subject, "");
    const claim = `candor.key.a1.${run}.k.done`;
    await as("agent").nc.request(claim, "");
    const key = `$KV.CANDOR_DATA_KEYS.f1.${run}`;
    await as("orchestrator").nc.request(key, "");
    const evidence = `candor.evidence.a1.${run}.h.0`;
    await as("agent").nc.request(evidence, "");
    return Object.fromEntries([...subjects, claim, key, evidence].map((subject) => [storedAs(subject), 1]));
  }

  /** Everything that was rightly stored since the attacks began. */
  const total = new Map<string, number>();
  const add = (stored: Record<string, number>): void => {
    for (const [subject, times] of Object.entries(stored)) total.set(subject, (total.get(subject) ?? 0) + times);
  };
  let atStart = new Map<string, number>();

  /** Makes an attack that may store just what it returns. */
  async function expectStored(
    attack: (targets: Record<string, string>) => Promise<Record<string, number>>,
  ): Promise<void> {
    add(await attack(targetsOf(++count)));
    for (const { nc } of bus.values()) await nc.flush();
    add(await barrier());
    const since = async (): Promise<Record<string, number>> => storedSince(atStart, await storedCounts(operator));
    await expect.poll(since, { timeout: 5_000 }).toEqual(Object.fromEntries([...total].sort()));
  }

  /** Sends a request whose answer is to go to each target, then once more for itself, so that all have been answered. */
  async function aim(nc: Bus["nc"], targets: Record<string, string>, subject: string, body = ""): Promise<void> {
    for (const target of Object.values(targets)) nc.publish(subject, body, { reply: target });
    // A pulled message keeps its stored subject, by which the client's shared inbox would not know it: hence `noMux`.
    await nc.request(subject, body, { timeout: 1_000, noMux: true }).catch(() => undefined);
  }

  it.each(roles)("%s stores by publishing exactly what is its own", async (role) => {
    await expectStored(async (targets) => {
      for (const subject of Object.values(targets)) as(role).nc.publish(subject, `by ${role}`);
      await as(role).nc.flush();
      return Object.fromEntries(own[role].map((name) => [storedAs(targets[name] ?? ""), 1]));
    });
  });

  it.each(clients)("%s stores nothing elsewhere by a reply subject of what it may publish", async (role) => {
    await expectStored(async (targets) => {
      await aim(as(role).nc, targets, "candor.guard.state.1", "with a reply subject");
      const [first] = own[role];
      if (first === undefined) return {};
      const mine = targetsOf(++count)[first] ?? "";
      await aim(as(role).nc, targets, mine, "with a reply subject");
      // One for each target, and the one that it sent for itself.
      return { [storedAs(mine)]: Object.keys(targets).length + 1 };
    });
  });

  it.each(clients)("%s stores nothing by the reply subject of a pull", async (role) => {
    await expectStored(async (targets) => {
      const { nc } = as(role);
      for (const prefix of ["candor.js", "$JS.API"]) {
        for (const stream of Object.values(streams)) {
          await aim(nc, targets, `${prefix}.CONSUMER.MSG.NEXT.${stream}.known`, `{"batch":1,"no_wait":true}`);
          const create = { stream_name: stream, config: { name: `by-${role}`, ack_policy: "none" } };
          const subject = `${prefix}.CONSUMER.CREATE.${stream}.by-${role}`;
          await nc.request(subject, JSON.stringify(create), { timeout: 2_000 }).catch(() => undefined);
          await aim(nc, targets, `${prefix}.CONSUMER.MSG.NEXT.${stream}.by-${role}`, `{"batch":1,"no_wait":true}`);
        }
      }
      return {};
    });
  });

  it.each(clients)("%s stores nothing by the deliver subject of a push consumer", async (role) => {
    await expectStored(async (targets) => {
      // The server pushes only where somebody listens, so those who share the streams' account try to.
      for (const target of Object.values(targets)) for (const { nc } of [operator, guard]) nc.subscribe(target);
      await Promise.all([operator.nc.flush(), guard.nc.flush()]);
      const { nc } = as(role);
      const attempts = ["candor.js", "$JS.API"].flatMap((prefix) =>
        Object.values(streams).flatMap((stream) =>
          Object.values(targets).map((target, index) => {
            const name = `push-${role}-${index}-${count}`;
            const config = { name, deliver_subject: target, ack_policy: "none", deliver_policy: "all" };
            const body = JSON.stringify({ stream_name: stream, config });
            const create = `${prefix}.CONSUMER.CREATE.${stream}.${name}`;
            return nc.request(create, body, { timeout: 2_000 }).catch(() => undefined);
          }),
        ),
      );
      await Promise.all(attempts);
      return {};
    });
  });

  it.each(clients)("%s stores nothing by the reply subject of a look-up", async (role) => {
    const [run, lane] = ["r1", laneOf("r1", lanes)];
    const lookUps = [
      `DIRECT.GET.${streams.log}.candor.log.${lane}.${run}.t.orch.f1.intent`,
      `DIRECT.GET.${streams.log}.candor.log.${lane}.${run}.t.agent.a1.error`,
      `DIRECT.GET.${streams.log}.candor.log.${lane}.${run}.t.probe.p1.probe`,
      `DIRECT.GET.${streams.verdicts}.candor.vd.${lane}.${run}.t.disclosure`,
      `DIRECT.GET.${streams.verdicts}.candor.checkpoint.1`,
      `DIRECT.GET.${streams.keys}.candor.key.a1.${run}.k.claim-1`,
      `DIRECT.GET.${streams.evidence}.candor.evidence.a1.${run}.h.0`,
      `DIRECT.GET.${streams.dataKeys}.$KV.CANDOR_DATA_KEYS.f1.${run}`,
      ...Object.values(streams).map((stream) => `STREAM.INFO.${stream}`),
    ];
    await expectStored(async (targets) => {
      const { nc } = as(role);
      for (const prefix of ["candor.js", "$JS.API"]) {
        for (const lookUp of lookUps) await aim(nc, targets, `${prefix}.${lookUp}`);
        for (const stream of Object.values(streams)) {
          await aim(nc, targets, `${prefix}.DIRECT.GET.${stream}`, `{"seq":1}`);
          await aim(nc, targets, `${prefix}.STREAM.MSG.GET.${stream}`, `{"seq":1}`);
        }
      }
      return {};
    });
  });

  it("B10 all that was seen live was stored, under that subject", async () => {
    const counts = await storedCounts(operator);
    const isLive = /^candor\.(vd|quarantine|checkpoint)\.|^candor\.log\.[^.]+\.[^.]+\.[^.]+\.orch\./;
    // What was stored for the run r1, before anybody listened, was not seen.
    const before = Object.values(targetsOf(1)).map(storedAs);
    const expected = [...counts].flatMap(([subject, times]) =>
      isLive.test(subject) && !before.includes(subject) ? Array.from({ length: times }, () => subject) : [],
    );
    await expect.poll(() => seenLive.length).toBeGreaterThanOrEqual(expected.length);
    expect([...seenLive].sort()).toEqual(expected.sort());
  });

  it("B10 a push consumer that is aimed at a live subscriber is told from live delivery", async () => {
    const { nc } = await server.connect("agent", "a2");
    const target = "candor.live.vd.1.aimed.t.disclosure";
    const received: (string | undefined)[] = [];
    nc.subscribe(target, { callback: (_, message) => void received.push(readLive(message)?.subject) });
    await nc.flush();
    const config = { name: "aimed", deliver_subject: target, ack_policy: "none", deliver_policy: "last" };
    const body = JSON.stringify({ stream_name: streams.log, config });
    await as("auditor").nc.request(`candor.js.CONSUMER.CREATE.${streams.log}.aimed`, body);
    await expect.poll(() => received).toEqual([undefined]);
    await guard.nc.request("candor.vd.1.aimed.t.disclosure", "real");
    await expect.poll(() => received).toEqual([undefined, "candor.vd.1.aimed.t.disclosure"]);
  });

  it("B10 headers that a publisher forged do not pass for the server's", async () => {
    const { nc } = await server.connect("agent", "a2");
    const received: unknown[] = [];
    nc.subscribe("candor.live.log.*.forged.*.orch.*.intent", {
      callback: (_, message) => void received.push(readLive(message)),
    });
    await nc.flush();
    const forged = headers();
    forged.set("Nats-Stream", streams.verdicts);
    forged.set("Nats-Subject", "candor.vd.1.forged.t.disclosure");
    forged.set("Nats-Sequence", "7");
    const { nc: orchestrator } = as("orchestrator");
    const answer = await orchestrator.request("candor.in.orch.f1.forged.t.intent", "intent", {
      headers: forged,
      timeout: 2_000,
    });
    const { seq } = answer.json<{ seq: number }>();
    const subject = `candor.log.${laneOf("forged", lanes)}.forged.t.orch.f1.intent`;
    await expect.poll(() => received).toMatchObject([{ stream: streams.log, subject, sequence: seq }]);
  });
});
