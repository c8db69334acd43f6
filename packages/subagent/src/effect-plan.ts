import { randomUUID } from "node:crypto";
import {
  CandorError,
  concatBytes,
  domainPrefix,
  encodeCanonical,
  sha256,
  type Mode,
  type Payload,
} from "@candor/contract";
import { differs, type BookedEffect } from "./effect-book.js";
import { decryptJson } from "./encrypted-json.js";
import type { Classify } from "./failure.js";
import type { Inherited } from "./inheritance.js";
import { requireLabel } from "./label.js";

export interface EffectOptions {
  /** Name under which the delegation minted a key. */
  readonly intent: string;
  /** Where the effect goes; may be left out where the delegation says it. */
  readonly target?: string;
  /** Key task of the brief that this effect does. */
  readonly covers?: string;
  /** What the effect is called with; only a digest of it is recorded. */
  readonly arguments?: unknown;
  /** The agent's own types for its errors. A type that turns the call away says that nothing happened. */
  readonly classify?: Classify;
}

/** What is about to be dispatched. */
export interface Planned {
  readonly intent: string;
  readonly key: string;
  readonly target: string;
  readonly covers: string | undefined;
  readonly arguments: Uint8Array | undefined;
  readonly minted: boolean;
}

type Minted = Payload<"delegate">["intents"];

/**
 * What an effect is dispatched as.
 *
 * @throws CandorError `intent-key-unknown` for one that the delegation minted no key for, unless in observe mode;
 *   `bad-argument`
 */
export function planEffect(options: EffectOptions, minted: Minted, mode: Mode): Planned {
  const { intent, target, covers, arguments: given } = options;
  requireLabel(intent, "intent");
  if (covers !== undefined) requireLabel(covers, "covers");
  const found = minted.find((candidate) => candidate.intent === intent);
  const digest = given === undefined ? undefined : argumentsDigest(given);
  const goesTo = target ?? found?.target;
  if (goesTo === undefined)
    throw new CandorError("bad-argument", `The effect ${intent} needs a target.`, { path: "target" });
  requireLabel(goesTo, "target");
  if (found === undefined) {
    if (mode === "enforce") throw unknownKey(intent, "the delegation minted no key for it");
    // Told apart from every other one, since in observe mode nothing that the agent does may change.
    return { intent, key: `unminted-${randomUUID()}`, target: goesTo, covers, arguments: digest, minted: false };
  }
  if (found.target !== undefined && found.target !== goesTo) {
    throw unknownKey(intent, `its key was minted for the target ${found.target}, not for ${goesTo}`);
  }
  return { intent, key: found.key, target: goesTo, covers, arguments: digest, minted: true };
}

export interface Before {
  /** The last dispatch under the key in this epoch. */
  readonly last: BookedEffect | undefined;
  /** What it returned, encrypted. */
  readonly result: Uint8Array | undefined;
  /** What earlier epochs left. */
  readonly inherited: Inherited | undefined;
  readonly dataKey: Uint8Array;
}

/**
 * What the key came to before; undefined if the effect may run.
 *
 * @throws CandorError `intent-key-in-doubt`, `intent-key-reuse`, `not-found` for a result that was not kept
 */
export function firstResult(plan: Planned, before: Before): { readonly value: unknown } | undefined {
  const { last, result, inherited, dataKey } = before;
  if (last?.phase === "dispatched" || last?.phase === "in-doubt") throw inDoubt(plan, "this epoch");
  if (last?.phase === "committed") {
    requireSameArguments(plan, last.arguments);
    return { value: openResult(plan, result, last.identifiers, dataKey) };
  }
  if (inherited?.state === "in-doubt") throw inDoubt(plan, "an earlier epoch");
  if (inherited === undefined) return undefined;
  requireSameArguments(plan, inherited.done.arguments);
  return { value: openResult(plan, inherited.done.result, inherited.done.identifiers, dataKey) };
}

/** Digest of what an effect is called with. @throws CandorError `bad-argument` for a value that is no plain data */
function argumentsDigest(value: unknown): Uint8Array {
  try {
    return sha256(concatBytes(domainPrefix("candor/v1/arguments"), encodeCanonical(value)));
  } catch (cause) {
    throw new CandorError("bad-argument", "The arguments of an effect must be plain data.", {
      cause,
      path: "arguments",
    });
  }
}

/** @throws CandorError `intent-key-reuse` */
export function requireSameArguments(plan: Planned, first: Uint8Array | undefined): void {
  if (!differs(plan.arguments, first)) return;
  throw new CandorError(
    "intent-key-reuse",
    `The effect ${plan.intent} is asked for with other arguments than before. One key has one meaning: have a second key minted.`,
    { details: { intent: plan.intent, key: plan.key } },
  );
}

function openResult(
  plan: Planned,
  result: Uint8Array | undefined,
  identifiers: Readonly<Record<string, string>>,
  dataKey: Uint8Array,
): unknown {
  if (result !== undefined) return decryptJson(result, dataKey);
  throw new CandorError(
    "not-found",
    `The effect ${plan.intent} is done already, and what it returned was not kept. Look it up by its identifiers.`,
    { details: { intent: plan.intent, key: plan.key, identifiers } },
  );
}

/** Nobody knows whether the effect happened: it is never guessed. */
export function inDoubt(plan: Planned, by: string): CandorError {
  return new CandorError(
    "intent-key-in-doubt",
    `The effect ${plan.intent} was started by ${by} and it is not known whether it happened. Have it looked up at ${plan.target} by key ${plan.key} before anything else.`,
    { details: { intent: plan.intent, key: plan.key, target: plan.target } },
  );
}

function unknownKey(intent: string, why: string): CandorError {
  return new CandorError(
    "intent-key-unknown",
    `The effect ${intent} is refused: ${why}. Have the orchestrator name it in the delegation.`,
    { details: { intent } },
  );
}
