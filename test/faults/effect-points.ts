import type { DoubtPolicy } from "@candor/contract";

/** How the task ends: the effect is known to be done, somebody has to find out, or a person has to decide. */
export type EffectEnd = "settled" | "in doubt" | "escalated";

/** Where a payer stands when it is killed. */
export interface EffectPoint {
  readonly name: string;
  /** Where its own code waits to be killed. */
  readonly hold?: "before" | "dispatched" | "answered" | "done";
  /** What it sends never reaches the server. */
  readonly drops?: "claim" | "dispatch" | "result";
  /** It sees no answer to what it sends from its claim on. */
  readonly deaf?: true;
  /** It is killed as soon as this is stored, or the service has written this down. */
  readonly stored?: readonly ("claim" | "dispatch" | "outcome")[];
  readonly booked?: "accepted" | "settled";
  /** Whether it is known, in a process with its spool and in a new epoch without, what became of the effect. */
  readonly known: { readonly spool: boolean; readonly epoch: boolean };
  /** The service has the payment when the payer is killed. */
  readonly paid: boolean;
}

/** Ten points around an effect, in order. */
export const effectPoints: readonly EffectPoint[] = [
  { name: "before claim and dispatch", hold: "before", known: { spool: true, epoch: true }, paid: false },
  // A new epoch knows of the claim alone, and never guesses.
  { name: "claim stored, dispatch not", drops: "dispatch", stored: ["claim"], known: { spool: true, epoch: false }, paid: false }, // prettier-ignore
  { name: "dispatch stored, claim not", drops: "claim", stored: ["dispatch"], known: { spool: true, epoch: true }, paid: false }, // prettier-ignore
  { name: "both stored, answers not seen", deaf: true, stored: ["claim", "dispatch"], known: { spool: true, epoch: false }, paid: false }, // prettier-ignore
  { name: "begun, the downstream not called", hold: "dispatched", known: { spool: false, epoch: false }, paid: false },
  { name: "the downstream accepted", booked: "accepted", known: { spool: false, epoch: false }, paid: true },
  { name: "the downstream booked", booked: "settled", known: { spool: false, epoch: false }, paid: true },
  { name: "answered, before the outcome", hold: "answered", known: { spool: false, epoch: false }, paid: true },
  { name: "outcome stored, result not", drops: "result", stored: ["outcome"], known: { spool: true, epoch: false }, paid: true }, // prettier-ignore
  { name: "settled, before the report", hold: "done", known: { spool: true, epoch: true }, paid: true },
];

/** What comes after the kill: a fresh process of the same agent with its spool, or a new epoch without. */
export const restarts = ["spool", "epoch"] as const;
export type Restart = (typeof restarts)[number];

export interface EffectCase {
  readonly point: EffectPoint;
  readonly restart: Restart;
  readonly inDoubt: DoubtPolicy;
}

export interface EffectResult {
  readonly end: EffectEnd;
  /** Payments that the service booked for the intent. */
  readonly payments: number;
}

/** What must come out: one payment, unless the intent says that a doubt is nobody's to settle here. */
export function expectedOf({ point, restart, inDoubt }: EffectCase): EffectResult {
  if (point.known[restart] || inDoubt !== "halt") return { end: "settled", payments: 1 };
  return { end: "escalated", payments: point.paid ? 1 : 0 };
}

/** Every point with every restart and policy; `short`: each point once, so that all restarts and policies come up. */
export function effectCases(short: boolean): EffectCase[] {
  const policies = ["reissue", "probe", "halt"] as const;
  if (!short) {
    return effectPoints.flatMap((point) =>
      restarts.flatMap((restart) => policies.map((inDoubt) => ({ point, restart, inDoubt }))),
    );
  }
  return effectPoints.map((point, i) => ({
    point,
    restart: i % 2 === 0 ? "spool" : "epoch",
    inDoubt: policies[i % policies.length] ?? "halt",
  }));
}
