import { randomBytes } from "node:crypto";
import { rm, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Publisher, readStreamState } from "@candor/bus";
import { isCandorError, streams } from "@candor/contract";
import { gist, honestTask, laneOfRun, startGuardStage, until } from "../kit/guard-stage.js";
import { mountSmall } from "../kit/small-file-system.js";

/** What is left free before messages of this size fill the rest. */
const leftBytes = 2 * 1024 * 1024;
const messageBytes = 200_000;

describe("S30 Q1 a file system that is full", () => {
  it(
    "refuses with a clear code; what was acknowledged is there afterwards, and the guard goes on",
    { timeout: 120_000 },
    async (test) => {
      const small = mountSmall(48);
      if (typeof small === "string") {
        test.skip(small);
        return;
      }
      const stage = await startGuardStage({ dir: small.dir, lanes: 2 });
      try {
        const run = "full";
        const lane = laneOfRun(stage, run);
        const guard = await stage.guard("g1");
        const scenario = honestTask(run);
        await stage.play(scenario);
        await stage.untilVerdicts(run, scenario.verdicts.length);

        const { bavail, bsize } = await statfs(small.dir);
        const filler = join(small.dir, "filler");
        await writeFile(filler, randomBytes(bavail * bsize - leftBytes));
        const subject = `candor.in.agent.agent.${run}.t1.error`;
        const publisher = new Publisher(await stage.server.connect("agent", "agent"));
        const acknowledged: number[] = [];
        const refused = await until(async () => {
          try {
            const outcome = await publisher.publish({ subject, bytes: randomBytes(messageBytes), timeoutMs: 1_000 });
            if (outcome.type === "stored") acknowledged.push(outcome.seq);
            return undefined;
          } catch (error) {
            if (!isCandorError(error)) throw error;
            return error;
          }
        });
        // The server only stops answering: what has no answer may be stored or not, and is never taken for stored.
        expect(refused.code).toBe("publish-unconfirmed");
        expect(acknowledged.length * messageBytes).toBeLessThan(leftBytes);

        await rm(filler);
        // A server does not write to a stream again after a failed write until it is started anew.
        await stage.server.server.restart();
        scenario.delegate("t2").accept("t2").report("t2");
        await stage.play(scenario);
        expect(gist(await stage.untilVerdicts(run, scenario.verdicts.length))).toEqual(gist(scenario.verdicts));
        for (const seq of acknowledged) {
          const message = await stage.operator.jsm.streams.getMessage(streams.log, { seq });
          expect(message?.data.length).toBe(messageBytes);
        }
        // Every message is folded or quarantined, those without an answer too.
        const junk = (await readStreamState(stage.operator, streams.log)).messages - scenario.log.length;
        expect(junk).toBeGreaterThanOrEqual(acknowledged.length);
        await until(async () => (await stage.quarantined()).length === junk);
        expect(guard.view(lane)).toMatchObject({ state: "live", metrics: { diverged: 0 } });
      } finally {
        await stage.stopGuards();
        await stage.close();
        small.remove();
      }
    },
  );
});
