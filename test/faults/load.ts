import { setTimeout as pause } from "node:timers/promises";
import { Publisher } from "@candor/bus";
import { isCandorError, type Logger } from "@candor/contract";
import type { World } from "../kit/world.js";
import type { Message } from "./author.js";
import type { Gate } from "./gate.js";
import type { Random } from "./random.js";
import { openingOf, scriptOf, type Cast, type Step, type Voice } from "./task-scripts.js";

/** Tasks whose messages go out side by side. */
const tasksAtOnce = 6;
const longestGapMs = 25;

export interface LoadOptions {
  readonly world: World;
  readonly cast: Cast;
  readonly inputs: number;
  readonly gate: Gate;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

const roles = { fleet: "orchestrator", rivals: "orchestrator", payer: "agent" } as const;

async function publishersOf({ world, logger }: LoadOptions): Promise<Readonly<Record<Voice, Publisher>>> {
  const open = async (voice: Voice): Promise<Publisher> =>
    new Publisher(await world.connect(roles[voice], voice), logger);
  return { fleet: await open("fleet"), rivals: await open("rivals"), payer: await open("payer") };
}

/** Publishes until it is stored: a server that is away comes back. */
async function store(publisher: Publisher, { subject, data }: Message, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await publisher.publish({ subject, bytes: data });
      return;
    } catch (error) {
      if (!isCandorError(error, "server-unreachable", "publish-unconfirmed", "store-full")) throw error;
    }
  }
}

/**
 * Opens a run and goes through the scripts of as many tasks as it takes for so many inputs, several at a time, as fast
 * as the gate lets inputs pass.
 */
export async function runLoad(options: LoadOptions): Promise<void> {
  const { cast, inputs, gate, random, signal } = options;
  const publishers = await publishersOf(options);
  let taken = 1;
  let tasks = 0;

  const send = async ({ by, message }: Step): Promise<void> => {
    await store(publishers[by], message, signal);
  };
  const play = async (): Promise<void> => {
    while (taken < inputs) {
      tasks += 1;
      for (const step of scriptOf(cast, `t${tasks}`, random)) {
        if (step.isInput) {
          if (taken >= inputs) return;
          taken += 1;
          await gate.pass(taken);
          await pause(random() * longestGapMs);
        }
        await send(step);
      }
    }
  };

  await send(openingOf(cast));
  await Promise.all(Array.from({ length: tasksAtOnce }, play));
  for (const publisher of Object.values(publishers)) publisher.close();
}
