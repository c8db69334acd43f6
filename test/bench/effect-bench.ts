import { connectOrchestrator } from "@candor/orchestrator";
import { connectSubagent } from "@candor/subagent";
import { intentKeySubject, publishedSubject } from "@candor/contract";
import { startWorld } from "../kit/world.js";
import { median, quantile, round } from "./figures.js";

const rounds = 10;
const perRound = 100;
/** Rounds that are not counted: until then code is still compiled. */
const warmUpRounds = 5;
/** Bytes of a bare message: about what a dispatch weighs. */
const bareBytes = 400;

export interface EffectFigures {
  readonly effectP50Ms: number;
  readonly effectP95Ms: number;
  readonly bareP50Ms: number;
  readonly bareP95Ms: number;
  /** The four messages of an effect, sent as it sends them, by the bare client and with nothing around them. */
  readonly floorP50Ms: number;
  /** Medians of the rounds' own ratios to the bare publish. */
  readonly ratio: number;
  readonly floorRatio: number;
  readonly samples: number;
}

async function timed(count: number, run: (index: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const started = performance.now();
    await run(i);
    times.push(performance.now() - started);
  }
  return times;
}

/**
 * `effect()` on fresh keys beside one bare awaited publish of the client to the same stream, in interleaved rounds. An effect
 * is two round trips of two messages each, with its spool on disk; what it does in between is nothing. The same four messages
 * by the bare client say how much of it is messages alone.
 */
export async function benchEffect(say: (line: string) => void): Promise<EffectFigures> {
  const world = await startWorld();
  const fleet = await connectOrchestrator({ servers: world.urls, credentials: world.folder("orchestrator", "fleet") });
  const agent = await connectSubagent({ servers: world.urls, credentials: world.folder("agent", "payer") });
  try {
    const run = await fleet.openRun();
    const { token } = await run.delegate({
      task: "effects",
      agent: world.certificate("agent", "payer"),
      intents: [{ name: "charge", target: "payments", discriminator: "number", inDoubt: "reissue" }],
    });
    const { js } = await world.connect("agent", "payer");
    const keySubject = (key: string, step: "claim-1" | "done"): string =>
      intentKeySubject({ actor: "payer", run: run.id, key, step });
    const subject = publishedSubject({ role: "agent", actor: "payer", run: run.id, task: "bare", kind: "error" });
    const data = new Uint8Array(bareBytes);
    const task = await agent.accept(token);
    const effects: number[] = [];
    const bare: number[] = [];
    const floor: number[] = [];
    const ratios: number[] = [];
    const floorRatios: number[] = [];
    const roundTrip = async (key: string, step: "claim-1" | "done"): Promise<unknown> =>
      await Promise.all([js.publish(subject, data), js.publish(keySubject(key, step), data)]);
    await task.run(async (ctx) => {
      for (let i = 0; i < warmUpRounds + rounds; i += 1) {
        const ofBare = await timed(perRound, () => js.publish(subject, data));
        const ofFloor = await timed(perRound, async (at) => {
          await roundTrip(`bare-${i}-${at}`, "claim-1");
          await roundTrip(`bare-${i}-${at}`, "done");
        });
        const ofEffects = await timed(perRound, (at) =>
          ctx.effect({ intent: "charge", arguments: { number: i * perRound + at, amount: 40 } }, ({ key }) => key),
        );
        if (i < warmUpRounds) continue;
        bare.push(...ofBare);
        floor.push(...ofFloor);
        effects.push(...ofEffects);
        ratios.push(median(ofEffects) / median(ofBare));
        floorRatios.push(median(ofFloor) / median(ofBare));
        const [effect, one, four] = [ofEffects, ofBare, ofFloor].map((times) => round(median(times), 3));
        say(`round ${i - warmUpRounds + 1} of ${rounds}: ${effect} ms beside ${one} ms, four bare messages ${four} ms`);
      }
      return { claim: "pass" };
    });
    return {
      effectP50Ms: round(median(effects), 3),
      effectP95Ms: round(quantile(effects, 0.95), 3),
      bareP50Ms: round(median(bare), 3),
      bareP95Ms: round(quantile(bare, 0.95), 3),
      floorP50Ms: round(median(floor), 3),
      ratio: round(median(ratios), 2),
      floorRatio: round(median(floorRatios), 2),
      samples: effects.length,
    };
  } finally {
    await agent.close();
    await fleet.close();
    await world.close();
  }
}
