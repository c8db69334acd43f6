import { EventStream, type Bus } from "@candor/bus";
import { createSeed, createSigner } from "@candor/ledger";
import type { World } from "../kit/world.js";
import { mixes, openRun, taskMessages, type Cast, type Message, type Mix } from "./workload.js";

/** Tasks whose events are interleaved in the log, as tasks that run at the same time are. */
const atOnce = 50;

export interface Prefilled {
  readonly run: string;
  readonly events: number;
  readonly bytes: number;
}

class Sender {
  events = 0;
  bytes = 0;
  readonly #stream: EventStream;

  constructor(bus: Bus) {
    this.#stream = new EventStream(bus);
  }

  async send({ subject, data }: Message): Promise<void> {
    this.events += 1;
    this.bytes += data.length;
    await this.#stream.send(subject, data);
  }

  async stored(): Promise<void> {
    await this.#stream.flush();
  }

  async close(): Promise<void> {
    await this.#stream.flush();
    this.#stream.close();
  }
}

export function castOf(world: World, run: string): Cast {
  const fleet = world.credentials("orchestrator", "fleet");
  const agent = world.credentials("agent", "payer");
  return {
    run,
    operatorKey: world.operatorKey,
    fleet: { certificate: world.certificate("orchestrator", "fleet"), signer: fleet.signer },
    agent: { name: agent.name, signer: agent.signer },
    taskKey: () => createSigner(createSeed()),
  };
}

/** Fills the log with one run of a mix, as the fleet and the agent themselves. */
export async function prefill(world: World, mix: Mix, onProgress: (done: number) => void): Promise<Prefilled> {
  const { tasks, eventsPerTask } = mixes[mix];
  const run = `bench-${mix}`;
  const cast = castOf(world, run);
  const fleet = new Sender(await world.connect("orchestrator", "fleet"));
  const agent = new Sender(await world.connect("agent", "payer"));
  await fleet.send(openRun(cast));
  for (let from = 0; from < tasks; from += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, tasks - from) }, (_, i) =>
      taskMessages(cast, `t${from + i}`, eventsPerTask),
    );
    for (const { intent } of batch) await fleet.send(intent);
    await fleet.stored();
    for (let i = 0; i < eventsPerTask; i += 1) {
      for (const { events } of batch) {
        const message = events[i];
        if (message !== undefined) await agent.send(message);
      }
    }
    await agent.stored();
    onProgress(from + batch.length);
  }
  await Promise.all([fleet.close(), agent.close()]);
  return { run, events: fleet.events + agent.events, bytes: fleet.bytes + agent.bytes };
}
