import { connectOrchestrator } from "@candor/orchestrator";
import { connectSubagent } from "@candor/subagent";
import { publishedSubject } from "@candor/contract";
import { startWorld } from "../kit/world.js";
import { median, quantile, round } from "./figures.js";

const rounds = 10;
const perRound = 40;
/** Bytes of a bare message: about what a dispatch weighs. */
const bareBytes = 400;

export interface EffectFigures {
  readonly effectP50Ms: number;
  readonly effectP95Ms: number;
  readonly bareP50Ms: number;
  readonly bareP95Ms: number;
  /** Median of the rounds' own ratios. */
  readonly ratio: number;
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
 * is two round trips of two messages each, with its spool on disk; what it does in between is nothing.
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
    const subject = publishedSubject({ role: "agent", actor: "payer", run: run.id, task: "bare", kind: "error" });
    const data = new Uint8Array(bareBytes);
    const task = await agent.accept(token);
    const effects: number[] = [];
    const bare: number[] = [];
    const ratios: number[] = [];
    await task.run(async (ctx) => {
      // The first round warms both up and is not counted.
      for (let i = 0; i <= rounds; i += 1) {
        const ofBare = await timed(perRound, () => js.publish(subject, data));
        const ofEffects = await timed(perRound, (at) =>
          ctx.effect({ intent: "charge", arguments: { number: i * perRound + at, amount: 40 } }, ({ key }) => key),
        );
        if (i === 0) continue;
        bare.push(...ofBare);
        effects.push(...ofEffects);
        ratios.push(median(ofEffects) / median(ofBare));
        say(`round ${i} of ${rounds}: ${round(median(ofEffects), 3)} ms beside ${round(median(ofBare), 3)} ms`);
      }
      return { claim: "pass" };
    });
    return {
      effectP50Ms: round(median(effects), 3),
      effectP95Ms: round(quantile(effects, 0.95), 3),
      bareP50Ms: round(median(bare), 3),
      bareP95Ms: round(quantile(bare, 0.95), 3),
      ratio: round(median(ratios), 2),
      samples: effects.length,
    };
  } finally {
    await agent.close();
    await fleet.close();
    await world.close();
  }
}
