import { createHmac } from "node:crypto";
import {
  CandorError,
  concatBytes,
  domainPrefix,
  encodeCanonical,
  uuidOf,
  type DoubtPolicy,
  type Payload,
} from "@candor/contract";
import { seal } from "@candor/ledger";

/** An effect that the subagent may have. */
export interface IntentOptions {
  /** Its name in the brief, and in the subagent's code. */
  readonly name: string;
  /** Where it goes; wherever the subagent says by default. */
  readonly target?: string;
  /**
   * What the SDK does where nobody knows whether the effect happened: `reissue` it under its key, if the downstream honours
   * keys; `probe`, by the look-up that the effect's code brings; or `halt` until somebody has decided.
   */
  readonly inDoubt?: DoubtPolicy;
  /**
   * For a fan-out that is decided at run time: the argument, like `recipient`, by whose value one effect differs from the
   * next. Each value gets a key of its own; the other arguments are no part of it.
   */
  readonly discriminator?: string;
  /** The planned action that it is for, which a person approved (U4). */
  readonly planned?: PlannedAction;
}

/** A planned action of a report, as the agent wrote it: to be read, never obeyed. */
export interface PlannedAction {
  readonly text: string;
  readonly digest: Uint8Array;
}

/** An effect that the subagent may have, or its name alone. */
export type IntentRequest = string | IntentOptions;

export type MintedIntent = Payload<"delegate">["intents"][number];

/** What an intent key is minted for. It names no epoch: whoever takes a task over gets the keys of the one before. */
export interface MintingPlace {
  readonly run: string;
  readonly task: string;
  /** Data key of the run, 32 bytes. */
  readonly dataKey: Uint8Array;
}

/**
 * Gives each named effect of a task a key of its own (F7): HMAC-SHA-256 (RFC 2104) of run, task and name under the run's
 * data key. So one name has one key over all epochs of the task, in whichever process it is delegated: an agent that
 * takes over finds what the one before did under it, and the downstream sees a repeat as a repeat (S19). The arguments
 * are no part of it: a key from them would change whenever a model words them differently.
 *
 * @throws CandorError `bad-argument` for a name given twice
 */
export function mintIntents(requests: readonly IntentRequest[], place: MintingPlace): MintedIntent[] {
  const names = new Set<string>();
  return requests.map((request) => {
    const { name, target, inDoubt, discriminator, planned }: IntentOptions =
      typeof request === "string" ? { name: request } : request;
    if (names.has(name)) {
      throw new CandorError(
        "bad-argument",
        `The intent ${JSON.stringify(name)} is listed twice: an effect that happens twice needs two names, since each has one key.`,
        { path: "intents" },
      );
    }
    names.add(name);
    return {
      intent: name,
      key: keyOf(name, place),
      ...(target === undefined ? {} : { target }),
      ...(planned === undefined
        ? {}
        : { planned: { digest: planned.digest, text: seal(planned.text, place.dataKey) } }),
      ...(inDoubt === undefined ? {} : { inDoubt }),
      ...(discriminator === undefined ? {} : { discriminator }),
    };
  });
}

function keyOf(name: string, { run, task, dataKey }: MintingPlace): string {
  const message = concatBytes(domainPrefix("candor/v1/intent-key"), encodeCanonical([run, task, name]));
  return uuidOf(createHmac("sha256", dataKey).update(message).digest());
}
