import { randomUUID } from "node:crypto";
import {
  CandorError,
  concatBytes,
  cutText,
  domainPrefix,
  encodeCanonical,
  hex,
  memberKey,
  sha256,
  type DoubtPolicy,
  type Mode,
  type Payload,
} from "@candor/contract";
import { differs, type BookedEffect } from "./effect-book.js";
import { decryptJson } from "./encrypted-json.js";
import type { DoubtProbe } from "./doubt-probe.js";
import type { Classify } from "./failure.js";
import type { Inherited } from "./inheritance.js";
import { requireLabel } from "./label.js";
import { memberDigest } from "./member.js";

export interface EffectOptions {
  /** Name under which the delegation minted a key. */
  readonly intent: string;
  /** Where the effect goes; may be left out where the delegation says it. */
  readonly target?: string;
  /** Key task of the brief that this effect does. */
  readonly covers?: string;
  /** What the effect is called with; only a digest of it is recorded. Of a key family it names the member. */
  readonly arguments?: unknown;
  /** The agent's own types for its errors. A type that turns the call away says that nothing happened. */
  readonly classify?: Classify;
  /** Looks the key up where the effect goes, for an intent that declares `probe`: called only where it is in doubt. */
  readonly probe?: DoubtProbe;
}

/** What is about to be dispatched. */
export interface Planned {
  readonly intent: string;
  readonly key: string;
  readonly target: string;
  readonly covers: string | undefined;
  readonly arguments: Uint8Array | undefined;
  readonly minted: boolean;
  /** What the delegation declares for an effect of which nobody knows whether it happened. */
  readonly inDoubt: DoubtPolicy | undefined;
  /** Digest of the member of a key family. */
  readonly member: Uint8Array | undefined;
}

/** The minted keys and families of a delegation, by intent. */
export type MintedKeys = ReadonlyMap<string, Payload<"delegate">["intents"][number]>;

export function mintedKeys(intents: Payload<"delegate">["intents"]): MintedKeys {
  return new Map(intents.map((minted) => [minted.intent, minted]));
}

/**
 * What an effect is dispatched as.
 *
 * @param dataKey the run's, under which members of a key family are told apart
 * @throws CandorError `intent-key-unknown` for one that the delegation minted no key for, unless in observe mode;
 *   `bad-argument`
 */
export function planEffect(
  options: EffectOptions & NamedEffect,
  minted: MintedKeys,
  mode: Mode,
  dataKey: Uint8Array,
): Planned {
  const { intent, target, covers, arguments: given } = options;
  requireLabel(intent, "intent");
  if (covers !== undefined) requireLabel(covers, "covers");
  const found = minted.get(intent);
  const digest = given === undefined ? undefined : argumentsDigest(given);
  const goesTo = target ?? found?.target;
  if (goesTo === undefined)
    throw new CandorError("bad-argument", `The effect ${intent} needs a target.`, { path: "target" });
  requireLabel(goesTo, "target");
  if (found === undefined) {
    if (mode === "enforce") throw unknownKey(intent, "the delegation minted no key for it");
    // Told apart from every other one, since in observe mode nothing that the agent does may change.
    const key = `unminted-${randomUUID()}`;
    const undeclared = { minted: false, inDoubt: undefined, member: undefined };
    return { intent, key, target: goesTo, covers, arguments: digest, ...undeclared };
  }
  if (found.target !== undefined && found.target !== goesTo) {
    throw unknownKey(intent, `its key was minted for the target ${found.target}, not for ${goesTo}`);
  }
  const { key: family, discriminator, inDoubt } = found;
  const member =
    discriminator === undefined ? undefined : (options.member ?? memberDigest(family, discriminator, given, dataKey));
  const key = member === undefined ? family : memberKey(family, member);
  return { intent, key, target: goesTo, covers, arguments: digest, minted: true, inDoubt, member };
}

/** Under which name an effect goes. */
export interface NamedEffect {
  /** Its errors and retries are told under it: each member of a key family has one of its own. */
  readonly operation: string;
  /** Digest of the member of a key family; undefined too where it can't be told. */
  readonly member: Uint8Array | undefined;
}

export function nameEffect(
  { intent, arguments: given }: EffectOptions,
  minted: MintedKeys,
  dataKey: Uint8Array,
): NamedEffect {
  const { key, discriminator } = minted.get(intent) ?? {};
  if (key === undefined || discriminator === undefined) return { operation: intent, member: undefined };
  try {
    const member = memberDigest(key, discriminator, given, dataKey);
    return { operation: `${cutText(intent, 119)}/${hex(member.subarray(0, 4))}`, member };
  } catch {
    // It is refused for that when it is planned.
    return { operation: intent, member: undefined };
  }
}

export interface Before {
  /** The last dispatch under the key in this epoch. */
  readonly last: BookedEffect | undefined;
  /** One of which it is not known what came of it, if there is one. */
  readonly open: BookedEffect | undefined;
  /** What it returned, encrypted. */
  readonly result: Uint8Array | undefined;
  /** What earlier epochs left. */
  readonly inherited: Inherited | undefined;
  readonly dataKey: Uint8Array;
}

/** Nobody knows whether the effect happened. */
export interface Doubt {
  readonly state: "in-doubt";
  /** What left it so. */
  readonly by: string;
  /** The last earlier epoch that did, if one did. */
  readonly epoch: number | undefined;
}

/** What a key came to before. */
export type Found = { readonly state: "fresh" } | { readonly state: "done"; readonly value: unknown } | Doubt;

/**
 * What the key came to before.
 *
 * @throws CandorError `intent-key-reuse`, `not-found` for a result that was not kept
 */
export function firstResult(plan: Planned, before: Before): Found {
  const { last, open, result, inherited, dataKey } = before;
  const epoch = inherited?.state === "in-doubt" ? inherited.epoch : undefined;
  if (last?.phase === "committed") {
    requireSameArguments(plan, last.arguments);
    return { state: "done", value: openResult(plan, result, last.identifiers, dataKey) };
  }
  if (open !== undefined) {
    requireSameArguments(plan, open.arguments);
    return { state: "in-doubt", by: "this epoch", epoch };
  }
  if (inherited === undefined) return { state: "fresh" };
  if (inherited.state === "in-doubt") {
    requireSameArguments(plan, inherited.arguments);
    return { state: "in-doubt", by: "an earlier epoch", epoch };
  }
  requireSameArguments(plan, inherited.done.arguments);
  return { state: "done", value: openResult(plan, inherited.done.result, inherited.done.identifiers, dataKey) };
}

const argumentsDomain = domainPrefix("candor/v1/arguments");

/** Digest of what an effect is called with. @throws CandorError `bad-argument` for a value that is no plain data */
function argumentsDigest(value: unknown): Uint8Array {
  try {
    requirePlain(value, 0);
    return sha256(concatBytes(argumentsDomain, encodeCanonical(value)));
  } catch (cause) {
    throw new CandorError(
      "bad-argument",
      "The arguments of an effect must be plain data: texts, numbers, bytes, dates, lists and objects of them.",
      {
        cause,
        path: "arguments",
      },
    );
  }
}

/** Deeper than this nothing is encoded. */
const deepest = 100;

/** Whose content is not in its own fields, such as a Map, would be encoded as empty, and then any two of it were the same. */
function requirePlain(value: unknown, depth: number): void {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || value instanceof Date) return;
  const isPlain = Array.isArray(value) || Object.prototype.toString.call(value) === "[object Object]";
  if (!isPlain || depth > deepest) throw new TypeError("This is no plain data.");
  for (const member of Object.values(value)) requirePlain(member, depth + 1);
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
export function inDoubt(plan: Planned, by: string, cause?: unknown): CandorError {
  return new CandorError(
    "intent-key-in-doubt",
    `The effect ${plan.intent} was started by ${by} and it is not known whether it happened. Have it looked up at ${plan.target} by key ${plan.key} before anything else.`,
    { details: { intent: plan.intent, key: plan.key, target: plan.target }, cause },
  );
}

function unknownKey(intent: string, why: string): CandorError {
  return new CandorError(
    "intent-key-unknown",
    `The effect ${intent} is refused: ${why}. Have the orchestrator name it in the delegation.`,
    { details: { intent } },
  );
}
