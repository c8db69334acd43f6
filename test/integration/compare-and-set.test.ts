import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Publisher, readLast, type Bus, type PublishOutcome } from "@candor/bus";
import { intentKeySubject, laneOf, streams, utf8 } from "@candor/contract";
import { startServer, type TestServer } from "../kit/start-server.js";

const run = "r1";
const lane = laneOf(run, 16);
const racers = 6;
const races = 25;

describe.each([{ nodes: 1 as const }, { nodes: 3 as const }])("compare-and-set on $nodes nodes", ({ nodes }) => {
  let server: TestServer;
  let operator: Bus;
  const publishers: Publisher[] = [];
  const agents: Publisher[] = [];

  beforeAll(async () => {
    server = await startServer({ nodes });
    operator = await server.connect("operator");
    for (let i = 0; i < racers; i += 1) {
      publishers.push(new Publisher(await server.connect("orchestrator", "f1")));
      agents.push(new Publisher(await server.connect("agent", "a1")));
    }
  });
  afterAll(() => server.close());

  const countOn = async (stream: string, filter: string): Promise<number[]> => {
    const { state } = await operator.jsm.streams.info(stream, { subjects_filter: filter });
    return Object.values(state.subjects ?? {});
  };
  const intent = (task: string): { published: string; stored: string } => ({
    published: `candor.in.orch.f1.${run}.${task}.intent`,
    stored: `candor.log.${lane}.${run}.${task}.orch.f1.intent`,
  });
  const winners = (outcomes: readonly PublishOutcome[]): number =>
    outcomes.filter(({ type }) => type === "stored").length;

  it("R2 of many who race for a number exactly one gets it, and every other learns who", async () => {
    for (let race = 0; race < races; race += 1) {
      const { published, stored } = intent(`race${race}`);
      const outcomes = await Promise.all(
        publishers.map((publisher, i) =>
          publisher.publish({ subject: published, bytes: utf8(`by ${i}`), expect: { sequence: 0, subject: stored } }),
        ),
      );
      expect(winners(outcomes)).toBe(1);
      const last = await readLast(operator, streams.log, stored);
      for (const outcome of outcomes) {
        if (outcome.type === "lost") expect(outcome).toMatchObject({ certain: true, last: { seq: last?.seq } });
      }
    }
    expect(await countOn(streams.log, `candor.log.${lane}.${run}.*.orch.f1.intent`)).toEqual(Array(races).fill(1));
  });

  it("F7 an intent key is written once by the server itself, and every loser gets what is written", async () => {
    for (let race = 0; race < races; race += 1) {
      const subject = intentKeySubject({ actor: "a1", run, key: `k${race}`, step: "claim-1" });
      const outcomes = await Promise.all(
        agents.map((publisher, i) => publisher.publish({ subject, bytes: utf8(`by ${i}`) })),
      );
      expect(winners(outcomes)).toBe(1);
      const existing = await readLast(operator, streams.keys, subject);
      for (const outcome of outcomes) {
        if (outcome.type !== "stored")
          expect(outcome).toMatchObject({ type: "taken", existing: { seq: existing?.seq } });
      }
    }
    expect(await countOn(streams.keys, "candor.key.a1.>")).toEqual(Array(races).fill(1));
  });

  it("R2 no dispatch is stored after a recall, however close they come", { timeout: 120_000 }, async () => {
    let refused = 0;
    let before = 0;
    for (let round = 0; round < races; round += 1) {
      const task = `fence${round}`;
      const { published, stored } = intent(task);
      const [first] = publishers;
      const delegate = await first?.publish({
        subject: published,
        bytes: utf8("delegate"),
        expect: { sequence: 0, subject: stored },
      });
      if (first === undefined || delegate?.type !== "stored") return expect.unreachable();
      const effect = `candor.log.${lane}.${run}.${task}.agent.a1.effect`;
      const dispatching = agents.flatMap((agent, i) =>
        [0, 1].map(async (n) => {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 6));
          return agent.publish({
            subject: `candor.in.agent.a1.${run}.${task}.effect`,
            bytes: utf8(`dispatch ${i} ${n}`),
            storedSubject: effect,
            expect: { sequence: delegate.seq, subject: stored },
          });
        }),
      );
      await new Promise((resolve) => setTimeout(resolve, 3));
      const recall = await first.publish({
        subject: published,
        bytes: utf8("recall"),
        expect: { sequence: delegate.seq, subject: stored },
      });
      if (recall.type !== "stored") return expect.unreachable();
      for (const outcome of await Promise.all(dispatching)) {
        if (outcome.type === "stored") {
          before += 1;
          expect(outcome.seq).toBeLessThan(recall.seq);
        } else {
          refused += 1;
          expect(outcome).toMatchObject({ type: "lost", certain: true, last: { seq: recall.seq } });
        }
      }
      expect((await readLast(operator, streams.log, effect))?.seq ?? 0).toBeLessThan(recall.seq);
    }
    expect(refused).toBeGreaterThan(0);
    expect(before).toBeGreaterThan(0);
    const stored = await countOn(streams.log, `candor.log.${lane}.${run}.*.agent.a1.effect`);
    expect(stored.reduce((sum, n) => sum + n, 0)).toBe(before);
  });
});
