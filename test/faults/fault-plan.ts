import { shuffled, type Random } from "./random.js";

const fewestBeforeAnswer = 3;
const shareBeforeAnswer = 0.4;
const zombies = 2;

/** What is to happen to guards and servers. */
export type Fault = "kill" | "kill-before-answer" | "zombie" | "kill-log-leader" | "kill-verdicts-leader";

/** How many kills are to fall between a verdict and its answer. */
export function killsBeforeAnswer(kills: number): number {
  return Math.min(kills, Math.max(fewestBeforeAnswer, Math.ceil(kills * shareBeforeAnswer)));
}

/** All that is to happen, in an order of chance. */
export function faultsOf(kills: number, nodes: number, random: Random): Fault[] {
  const before = killsBeforeAnswer(kills);
  const leaders = nodes > 1 ? Math.max(1, Math.round(kills / 5)) : 0;
  return shuffled(random, [
    ...Array.from({ length: before }, (): Fault => "kill-before-answer"),
    ...Array.from({ length: kills - before }, (): Fault => "kill"),
    ...Array.from({ length: zombies }, (): Fault => "zombie"),
    ...Array.from({ length: leaders }, (_, i): Fault => (i % 2 === 0 ? "kill-verdicts-leader" : "kill-log-leader")),
  ]);
}

/** How many inputs it takes for so many kills to have room between them. */
export function fewestInputs(kills: number, nodes: number): number {
  return 4 * (faultsOf(kills, nodes, () => 0).length + 1);
}
