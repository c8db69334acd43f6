import type { GuardSlot } from "./guard-slot.js";
import type { Fate } from "./guard-wire.js";

/** The next verdict that a guard sends is the one that something happens to. */
export class Trap {
  #spring: ((slot: GuardSlot) => Fate) | undefined;

  readonly fate = (slot: GuardSlot): Fate => {
    const spring = this.#spring;
    this.#spring = undefined;
    return spring?.(slot) ?? "pass";
  };

  /** Resolves with the guard that went into it. */
  set(act: (slot: GuardSlot) => Fate): Promise<GuardSlot> {
    return new Promise((resolve) => {
      this.#spring = (slot) => {
        const fate = act(slot);
        resolve(slot);
        return fate;
      };
    });
  }
}
