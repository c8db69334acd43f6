import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LaneReader, type Bus } from "@candor/bus";
import { streams, type CandorError } from "@candor/contract";
import { laneOfRun, startGuardStage, until, honestTask, type GuardStage } from "../kit/guard-stage.js";

const nanosPerMs = 1e6;
const tooMany = 10026;

let stage: GuardStage;
let auditor: Bus;
beforeAll(async () => {
  stage = await startGuardStage();
  auditor = await stage.server.connect("auditor");
});
afterAll(() => stage.close());

/** Makes a durable consumer as the auditor. @returns the server's error number, 0 for none, and what it made */
async function durable(
  stream: string,
  name: string,
  config: object = {},
): Promise<{ readonly error: number; readonly inactiveMs: number }> {
  const filter = stream === streams.log ? "candor.log.>" : "candor.vd.>";
  const answer = await auditor.nc.request(
    `candor.js.CONSUMER.CREATE.${stream}.${name}.${filter}`,
    JSON.stringify({
      stream_name: stream,
      config: {
        name,
        durable_name: name,
        ack_policy: "explicit",
        deliver_policy: "all",
        filter_subject: filter,
        ...config,
      },
    }),
    { timeout: 10_000 },
  );
  const body = answer.json<{ error?: { err_code: number }; config?: { inactive_threshold?: number } }>();
  return { error: body.error?.err_code ?? 0, inactiveMs: (body.config?.inactive_threshold ?? 0) / nanosPerMs };
}

/** Takes every consumer that the server still gives. @returns their names; undefined where the server has no limit */
async function fill(stream: string): Promise<readonly string[] | undefined> {
  const names: string[] = [];
  for (let i = 0; i < 1_100; i += 1) {
    const { error } = await durable(stream, `z${i}`);
    if (error === tooMany) return names;
    names.push(`z${i}`);
  }
  return undefined;
}

async function remove(stream: string, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => auditor.nc.request(`candor.js.CONSUMER.DELETE.${stream}.${name}`)));
}

describe("B7 consumers that read-only roles make", () => {
  it.each([streams.log, streams.verdicts])("of %s go when they are left alone, durable or not", async (stream) => {
    expect(await durable(stream, "left")).toEqual({ error: 0, inactiveMs: 300_000 });
    expect((await durable(stream, "long", { inactive_threshold: 3_600_000 * nanosPerMs })).error).not.toBe(0);
    await remove(stream, ["left"]);
  });

  it("Q8 where they are all taken a reader ends with the server's reason, within its patience", async (ctx) => {
    const names = await fill(streams.verdicts);
    if (names === undefined) {
      ctx.skip("this server has no limit of consumers");
      return;
    }
    const fleet = await stage.server.connect("orchestrator", "fleet");
    const halted = await new Promise<CandorError>((onHalt) => {
      const options = { stream: streams.verdicts, refusalPatienceMs: 300, onMessages: () => undefined, onHalt };
      new LaneReader(fleet, options).start();
    });
    expect(halted).toMatchObject({ code: "server-failed", details: { errCode: tooMany } });
    expect(halted.message).toContain("nats consumer report");
    await remove(streams.verdicts, names);
  });

  it("B5 where they are all taken a guard is not ready, says so, and begins once there is room", async (ctx) => {
    const lane = laneOfRun(stage, "full");
    const names = await fill(streams.log);
    if (names === undefined) {
      ctx.skip("this server has no limit of consumers");
      return;
    }
    let isReady = false;
    const starting = stage.guard("g1", { lanes: [lane] }).then(() => {
      isReady = true;
    });
    const state = await until(async () => {
      const answer = await auditor.nc.request(`candor.guard.state.${lane}`, "", { timeout: 1_000 }).catch(() => null);
      const view = answer?.json<{ state: string; trouble?: { code: string; message: string } }>();
      return view?.trouble !== undefined && view;
    });
    expect(state).toMatchObject({ state: "checking", trouble: { code: "server-failed" } });
    expect(isReady).toBe(false);
    await remove(streams.log, names);
    await starting;
    const scenario = honestTask("full");
    await stage.play(scenario);
    await stage.untilVerdicts("full", scenario.verdicts.length);
  });
});
