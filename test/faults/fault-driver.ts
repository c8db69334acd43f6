import { setTimeout as pause } from "node:timers/promises";
import { readStreamState, type Bus } from "@candor/bus";
import { streams } from "@candor/contract";
import type { World } from "../kit/world.js";
import type { Fault } from "./fault-plan.js";
import type { Gate } from "./gate.js";
import type { GuardSlot } from "./guard-slot.js";
import { killLeader, type LedStream } from "./leader.js";
import { pick, type Random } from "./random.js";
import type { Trap } from "./trap.js";
import { unlessAborted, until } from "./waiting.js";

export interface FaultDriverParts {
  readonly world: World;
  readonly operator: Bus;
  readonly gate: Gate;
  readonly slots: readonly [GuardSlot, ...GuardSlot[]];
  readonly trap: Trap;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Brings faults about, one after the other, each when the load has come to its place. */
export class FaultDriver {
  readonly #parts: FaultDriverParts;
  zombies = 0;
  leaderKills = 0;

  constructor(parts: FaultDriverParts) {
    this.#parts = parts;
  }

  readonly #faults: Readonly<Record<Fault, () => Promise<string>>> = {
    kill: async () => {
      const { random } = this.#parts;
      const slot = pick(random, this.#parts.slots);
      await slot.ready();
      this.#parts.gate.open();
      await pause(random() * 100);
      slot.kill();
      // Or else the other one may be killed while this one starts.
      if (random() < 0.5) await slot.ready();
      return slot.name;
    },
    "kill-before-answer": async () => {
      const { signal } = this.#parts;
      await this.#allReady();
      const before = this.#keptBack();
      const caught = this.#parts.trap.set((slot) => {
        slot.kill();
        return "unanswered";
      });
      this.#parts.gate.open();
      const slot = await unlessAborted(signal, "a verdict to be sent", caught);
      await until(signal, "the answer that is kept back", () => this.#keptBack() > before);
      return slot.name;
    },
    zombie: async () => {
      const { random, signal } = this.#parts;
      await this.#allReady();
      const { lastSeq } = await readStreamState(this.#parts.operator, streams.verdicts);
      const caught = this.#parts.trap.set((slot) => {
        slot.freeze();
        return "held";
      });
      this.#parts.gate.open();
      const slot = await unlessAborted(signal, "a verdict to be sent", caught);
      await until(
        signal,
        "the other guard to take over",
        async () => (await readStreamState(this.#parts.operator, streams.verdicts)).lastSeq > lastSeq,
      );
      await pause(random() * 300);
      slot.thaw();
      this.zombies += 1;
      return slot.name;
    },
    "kill-log-leader": () => this.#killLeader(streams.log),
    "kill-verdicts-leader": () => this.#killLeader(streams.verdicts),
  };

  /** Lets one fault after the other happen, each when the load has come to its place. */
  async run(faults: readonly Fault[]): Promise<void> {
    const { say, signal } = this.#parts;
    for (const [i, fault] of faults.entries()) {
      await unlessAborted(signal, "the next fault", this.#parts.gate.nextFault());
      const what = await this.#faults[fault]();
      say(`${i + 1} of ${faults.length}: ${fault}: ${what}`);
    }
    this.#parts.gate.open();
  }

  async #killLeader(stream: LedStream): Promise<string> {
    this.#parts.gate.open();
    await killLeader(this.#parts.world, this.#parts.operator, stream, this.#parts.signal);
    this.leaderKills += 1;
    return stream;
  }

  async #allReady(): Promise<void> {
    await unlessAborted(this.#parts.signal, "the guards", Promise.all(this.#parts.slots.map((slot) => slot.ready())));
  }

  #keptBack(): number {
    return this.#parts.slots.reduce((sum, { keptBack }) => sum + keptBack, 0);
  }
}
