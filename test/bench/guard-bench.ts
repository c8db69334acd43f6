import { applyStreams, readStreamState, type Bus } from "@candor/bus";
import { CandorError, laneOf, stateSubject, streams, utf8 } from "@candor/contract";
import { createSeed, createSigner, verifySignature } from "@candor/ledger";
import { setTimeout as pause } from "node:timers/promises";
import { startWorld, type World } from "../kit/world.js";
import { median, processUse, round } from "./figures.js";
import { prefill } from "./prefill.js";
import { rawConsumePerSec } from "./raw-consume.js";
import { mixes, signaturesPerTask, type Mix } from "./workload.js";

const lanes = 16;
const rounds = 3;

export interface GuardFigures {
  readonly mix: Mix;
  readonly rawPerSec: number;
  readonly guardPerSec: number;
  readonly ratio: number;
  readonly signaturesPerEvent: number;
  readonly verifyMicros: number;
  readonly boundPerSec: number;
  readonly ofBound: number;
  readonly cpuMicrosPerEvent: number;
  readonly rssMiB: number;
  readonly events: number;
  readonly bytesPerEvent: number;
  readonly verdicts: number;
  readonly verification: string;
}

/** Median cost of one strict Ed25519 verification on one thread, in microseconds. */
export function verifyMicros(): number {
  const signer = createSigner(createSeed());
  const times = Array.from({ length: 500 }, (_, i) => {
    const message = utf8(`message ${i}`);
    const signature = signer.sign(message);
    const started = performance.now();
    if (!verifySignature(signer.publicKey, message, signature))
      throw new CandorError("defect", "A good signature was refused.");
    return (performance.now() - started) * 1000;
  });
  return median(times);
}

interface LaneState {
  readonly position: number;
  readonly underWay: number;
  readonly state: string;
}

async function laneState(bus: Bus, lane: number): Promise<LaneState | undefined> {
  try {
    return (await bus.nc.request(stateSubject(lane), "", { timeout: 500 })).json<LaneState>();
  } catch {
    return undefined;
  }
}

interface GuardRun {
  readonly perSec: number;
  readonly cpuMicrosPerEvent: number;
  readonly rssMiB: number;
  readonly verdicts: number;
}

/** Empties what guards wrote, so that the next guard starts from nothing. */
async function forgetVerdicts(world: World, operator: Bus): Promise<void> {
  await operator.jsm.streams.delete(streams.verdicts);
  await applyStreams(operator.nc, { operator: world.operatorKey, lanes, replicas: 1 });
}

/** One guard as shipped on the prefilled log, from its first message to its last verdict stored. */
async function runGuard(world: World, operator: Bus, lane: number, events: number): Promise<GuardRun> {
  const { lastSeq } = await readStreamState(operator, streams.log);
  const guard = await world.startGuard("g1", { lanes: String(lane) });
  const pid = guard.child.pid ?? 0;
  const before = processUse(pid);
  const started = performance.now();
  for (;;) {
    const state = await laneState(operator, lane);
    if (state?.state === "halted") throw new CandorError("defect", `The guard halted: ${guard.log().slice(-500)}`);
    // Not until the last checkpoint, which waits for a second of quiet.
    if (state?.position === lastSeq && state.underWay === 0) break;
    // Each answer costs the guard and the server some time.
    await pause(25);
  }
  const elapsedMs = performance.now() - started;
  const after = processUse(pid);
  const { messages: verdicts } = await readStreamState(operator, streams.verdicts);
  await guard.kill("SIGTERM");
  return {
    perSec: (events / elapsedMs) * 1000,
    cpuMicrosPerEvent: ((after.cpuMs - before.cpuMs) * 1000) / events,
    rssMiB: after.peakRssMiB,
    verdicts,
  };
}

/** Measures one mix: three rounds interleaved, medians. */
export async function benchGuard(mix: Mix, say: (line: string) => void): Promise<GuardFigures> {
  const world = await startWorld({ lanes });
  try {
    const { tasks } = mixes[mix];
    say(`${mix}: filling the log`);
    const { run, events, bytes } = await prefill(world, mix, (done) => {
      if (done % (tasks / 10) === 0) say(`${mix}: ${done} of ${tasks} tasks`);
    });
    const lane = laneOf(run, lanes);
    const operator = await world.connect("operator", "operator");
    const raw: number[] = [];
    const verify: number[] = [];
    const guards: GuardRun[] = [];
    for (let i = 0; i < rounds; i += 1) {
      raw.push(await rawConsumePerSec(operator, events));
      verify.push(verifyMicros());
      guards.push(await runGuard(world, operator, lane, events));
      say(
        `${mix}: round ${i + 1}: raw ${Math.round(raw.at(-1) ?? 0)}/s, guard ${Math.round(guards.at(-1)?.perSec ?? 0)}/s`,
      );
      await forgetVerdicts(world, operator);
    }
    const rawPerSec = median(raw);
    const guardPerSec = median(guards.map(({ perSec }) => perSec));
    const micros = median(verify);
    const signaturesPerEvent = (tasks * signaturesPerTask + 2) / events;
    const boundPerSec = 1 / (1 / rawPerSec + (signaturesPerEvent * micros) / 1e6);
    return {
      mix,
      rawPerSec: Math.round(rawPerSec),
      guardPerSec: Math.round(guardPerSec),
      ratio: round(guardPerSec / rawPerSec, 3),
      signaturesPerEvent: round(signaturesPerEvent, 4),
      verifyMicros: round(micros, 1),
      boundPerSec: Math.round(boundPerSec),
      ofBound: round(guardPerSec / boundPerSec, 3),
      cpuMicrosPerEvent: round(median(guards.map(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent)), 2),
      rssMiB: Math.round(median(guards.map(({ rssMiB }) => rssMiB))),
      events,
      bytesPerEvent: Math.round(bytes / events),
      verdicts: median(guards.map(({ verdicts }) => verdicts)),
      verification: "ahead of the fold, on threads of the guard's own",
    };
  } finally {
    await world.close();
  }
}
