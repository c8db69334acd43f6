import { afterEach, describe, expect, it } from "vitest";
import { apiRequest, readLast } from "@candor/bus";
import { streams } from "@candor/contract";
import { startServer, type StartServerOptions, type TestServer } from "../kit/start-server.js";
import { expectExactlyOnce, foldOutput, storedRecords, subjectOf, writing } from "../kit/verdict-writing.js";

let open: TestServer | undefined;
const start = async (options: StartServerOptions = {}): Promise<TestServer> => {
  open = await startServer({
    identities: { guard: ["g1", "g2"], agent: [], auditor: [], prober: [], orchestrator: [] },
    ...options,
  });
  return open;
};
afterEach(async () => {
  await open?.close();
  open = undefined;
});

/** Guards that are cut off at random moments and start over, each from an earlier place of the same fold. */
async function chaos(server: TestServer, kill: () => Promise<void>): Promise<void> {
  const all = foldOutput(7, 60);
  const guard = async (name: string, seed: number): Promise<number> => {
    let crashes = 0;
    for (;;) {
      const bus = await server.connect("guard", name, { connectTimeoutMs: 20_000 });
      const { writer, divergences, faults } = writing(bus, name);
      const crashAt = crashes < 12 ? 1 + Math.floor(Math.random() * all.length) : all.length + 1;
      // A restart begins at a checkpoint, up to which all records are stored: here, at the beginning.
      for (const [i, one] of all.entries()) {
        writer.write(one);
        if ((i + seed) % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
        if (i === crashAt) break;
      }
      expect(divergences.concat(faults)).toEqual([]);
      if (crashAt > all.length) {
        await writer.drain();
        writer.close();
        return crashes;
      }
      crashes += 1;
      writer.close();
      await bus.nc.close();
    }
  };
  const [first, second] = await Promise.all([guard("g1", 0), guard("g2", 1), kill()]);
  expect(first + second).toBe(24);
  expectExactlyOnce(await storedRecords(await server.connect("operator")), 7, 60);
}

describe("B5 verdict writers under chaos", () => {
  it(
    "two guards on one lane, cut off at random, and the server killed: no record lost, doubled or out of order",
    { timeout: 120_000 },
    async () => {
      const server = await start();
      await chaos(server, async () => {
        for (let i = 0; i < 3; i += 1) {
          await new Promise((resolve) => setTimeout(resolve, 500));
          await server.server.kill();
          await server.server.restart();
        }
      });
    },
  );

  it("the same on three nodes, with the leader killed", { timeout: 180_000 }, async () => {
    const server = await start({ nodes: 3 });
    const operator = await server.connect("operator");
    await chaos(server, async () => {
      for (let i = 0; i < 2; i += 1) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        const answer = await apiRequest(
          operator.nc,
          `$JS.API.STREAM.INFO.${streams.verdicts}`,
          undefined,
          20_000,
          1_000,
        );
        const { leader: name } = (answer.ok ? answer.body["cluster"] : {}) as { leader?: string };
        const leader = server.nodes.find(({ serverName }) => serverName === name);
        await leader?.kill();
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        await leader?.restart();
      }
    });
    expect(await readLast(operator, streams.verdicts, subjectOf(0))).toBeDefined();
  });
});
