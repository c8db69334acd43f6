import type { Plan } from "./plan.js";

/** A point that several tasks come to; whoever is there first waits for the others. */
class Meeting {
  readonly #due: Set<string>;
  #open: () => void = () => undefined;
  readonly #all: Promise<void>;

  constructor(tasks: readonly string[]) {
    this.#due = new Set(tasks);
    this.#all = new Promise((resolve) => (this.#open = resolve));
  }

  arrive(task: string): Promise<void> {
    this.#due.delete(task);
    if (this.#due.size === 0) this.#open();
    return this.#all;
  }
}

/**
 * Tasks whose results are compared with each other: what is said of one may be news on the other, so both are judged before
 * either is decided on for good, and both are decided on before either is closed.
 */
export class Pairing {
  readonly #judged = new Map<string, Meeting>();
  readonly #decided = new Map<string, Meeting>();

  constructor(plans: readonly Plan[]) {
    for (const group of new Set(plans.map((plan) => plan.compared))) {
      if (group === undefined) continue;
      const tasks = plans.filter(({ compared }) => compared === group).map(({ task }) => task);
      this.#judged.set(group, new Meeting(tasks));
      this.#decided.set(group, new Meeting(tasks));
    }
  }

  async judged({ compared = "", task }: Plan): Promise<void> {
    await this.#judged.get(compared)?.arrive(task);
  }

  async decided({ compared = "", task }: Plan): Promise<void> {
    await this.#decided.get(compared)?.arrive(task);
  }

  /** Nobody waits for the task any more. */
  gaveUp(plan: Plan): void {
    void this.judged(plan);
    void this.decided(plan);
  }
}
