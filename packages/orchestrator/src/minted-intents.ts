import { randomUUID } from "node:crypto";
import { CandorError, type Payload } from "@candor/contract";

/** An effect that the subagent may have: its name in the brief, and where it goes. */
export type IntentRequest = string | { readonly name: string; readonly target?: string };

export type MintedIntent = Payload<"delegate">["intents"][number];

/**
 * Gives each named effect a key of its own (F7). Keys are random: one derived from the arguments would change
 * whenever a model words them differently, and the effect would happen twice.
 *
 * @throws CandorError `bad-argument` for a name given twice
 */
export function mintIntents(requests: readonly IntentRequest[]): MintedIntent[] {
  const names = new Set<string>();
  return requests.map((request) => {
    const { name, target } = typeof request === "string" ? { name: request, target: undefined } : request;
    if (names.has(name)) {
      throw new CandorError(
        "bad-argument",
        `The intent ${JSON.stringify(name)} is listed twice: an effect that happens twice needs two names, since each has one key.`,
        { path: "intents" },
      );
    }
    names.add(name);
    return { intent: name, key: randomUUID(), ...(target === undefined ? {} : { target }) };
  });
}
