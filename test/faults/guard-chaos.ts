import { readStreamState, type Bus } from "@candor/bus";
import { laneOf, stateSubject, streams, type Logger } from "@candor/contract";
import type { World } from "../kit/world.js";
import { foldLog, recordsIn } from "./expected-records.js";
import { FaultDriver } from "./fault-driver.js";
import { faultsOf, killsBeforeAnswer } from "./fault-plan.js";
import { Gate } from "./gate.js";
import { GuardSlot } from "./guard-slot.js";
import { untilCurrent } from "./leader.js";
import { runLoad } from "./load.js";
import type { Random } from "./random.js";
import { compareRecords, type RecordCounts } from "./record-check.js";
import { readWhole } from "./stream-reading.js";
import { castOf } from "./task-scripts.js";
import { Trap } from "./trap.js";
import { unlessAborted, until } from "./waiting.js";

export interface GuardChaosOptions {
  readonly inputs: number;
  /** SIGKILLs of guards. */
  readonly kills: number;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  readonly logger: Logger;
}

export interface GuardChaosFigures extends RecordCounts {
  readonly inputs: number;
  /** Records stored: verdicts, and quarantined events among them. */
  readonly verdicts: number;
  readonly quarantined: number;
  readonly kills: number;
  /** Kills between a verdict's reaching the server and its answer's reaching the guard. */
  readonly killsBeforeAnswer: number;
  /** Guards frozen in the middle of sending a verdict, which went on long after. */
  readonly zombies: number;
  readonly leaderKills: number;
  /** Errors that guards logged, and ends that nobody brought about. */
  readonly alarms: number;
  readonly nodes: number;
  readonly ms: number;
}

const guards = ["g1", "g2"] as const;

interface LaneState {
  readonly guard: string;
  readonly position: number;
  readonly underWay: number;
  readonly timers: number;
}

async function laneState(operator: Bus, lane: number): Promise<LaneState | undefined> {
  try {
    return (await operator.nc.request(stateSubject(lane), "", { timeout: 500 })).json<LaneState>();
  } catch {
    return undefined;
  }
}

/** Waits until every guard has folded all of the log, nothing is under way, and no deadline is left. */
async function untilAtEnd(operator: Bus, lane: number, signal: AbortSignal): Promise<void> {
  const done = new Map<string, number>();
  await until(signal, "the guards to reach the end of the log", async () => {
    const { lastSeq } = await readStreamState(operator, streams.log);
    const state = await laneState(operator, lane);
    if (state?.position === lastSeq && state.underWay === 0 && state.timers === 0) done.set(state.guard, lastSeq);
    return guards.every((guard) => done.get(guard) === lastSeq);
  });
}

/** Compares what guards stored with what the log gives, both read anew. */
async function compareStored(world: World, operator: Bus, lane: number, signal: AbortSignal) {
  const { operatorKey } = world;
  const { records, inputs } = foldLog(await readWhole(operator, streams.log, signal), lane, operatorKey);
  const found = recordsIn(await readWhole(operator, streams.verdicts, signal), lane, operatorKey);
  const quarantined = found.filter(({ subject }) => subject.startsWith("candor.quarantine.")).length;
  return { inputs, verdicts: found.length, quarantined, ...compareRecords(records, found) };
}

function slotsOf(world: World, lane: number, trap: Trap, say: (line: string) => void): [GuardSlot, GuardSlot] {
  const ports = world.nodes.map(({ port }) => port);
  const slot = (name: string, i: number): GuardSlot =>
    new GuardSlot({ world, name, lane, ports: [...ports.slice(i), ...ports.slice(0, i)], fate: trap.fate, say });
  return [slot(guards[0], 0), slot(guards[1], 1)];
}

/** Runs two guards on one lane, lets all this happen to them under load, and compares what they stored with the log. */
export async function runGuardChaos(world: World, options: GuardChaosOptions): Promise<GuardChaosFigures> {
  const { inputs, kills, random, signal, say } = options;
  const started = performance.now();
  const nodes = world.nodes.length;
  const operator = await world.connect("operator", "operator");
  const cast = castOf(world, "chaos");
  const lane = laneOf(cast.run, operator.lanes ?? 1);
  const faults = faultsOf(kills, nodes, random);
  const gate = new Gate(inputs, faults.length, random);
  const trap = new Trap();
  const slots = slotsOf(world, lane, trap, say);
  const allReady = () => unlessAborted(signal, "the guards", Promise.all(slots.map((slot) => slot.ready())));
  try {
    say(`two guards on lane ${lane}, ${nodes} nodes, ${inputs} inputs, ${faults.length} faults`);
    await allReady();
    const driver = new FaultDriver({ ...options, world, operator, gate, slots, trap });
    const load = runLoad({ ...options, world, cast, gate });
    await unlessAborted(signal, "load and faults", Promise.all([load, driver.run(faults)]));

    say("the load is over; the guards go on to the end of the log");
    await allReady();
    if (nodes > 1) await untilCurrent(operator, signal);
    await untilAtEnd(operator, lane, signal);
    await Promise.all(slots.map((slot) => slot.close()));

    const compared = await compareStored(world, operator, lane, signal);
    const alarms = slots.flatMap((slot) => slot.alarms);
    for (const line of alarms) say(`alarm: ${line}`);
    return {
      ...compared,
      kills: slots[0].kills + slots[1].kills,
      killsBeforeAnswer: slots[0].keptBack + slots[1].keptBack,
      zombies: driver.zombies,
      leaderKills: driver.leaderKills,
      alarms: alarms.length,
      nodes,
      ms: Math.round(performance.now() - started),
    };
  } finally {
    for (const slot of slots) slot.abandon();
  }
}

/** True if everything happened that was to happen, and every verdict is stored once and in order. */
export function isGuardChaosGood(
  figures: GuardChaosFigures,
  asked: Pick<GuardChaosOptions, "inputs" | "kills">,
): boolean {
  const { doubled, missing, outOfOrder, differing, alarms, inputs, kills } = figures;
  const faults = [doubled, missing, outOfOrder, differing, alarms];
  return (
    faults.every((count) => count === 0) &&
    inputs >= asked.inputs &&
    kills >= asked.kills &&
    figures.killsBeforeAnswer >= killsBeforeAnswer(asked.kills)
  );
}
