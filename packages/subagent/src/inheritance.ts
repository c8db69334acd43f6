import type { Payload } from "@candor/contract";
import type { IntentKeys } from "./intent-keys.js";
import type { DoneRecord, KeyRecord } from "./key-record.js";

/** What an earlier epoch left under an intent key. */
export type Inherited =
  { readonly state: "done"; readonly done: DoneRecord; readonly record: KeyRecord } | { readonly state: "in-doubt" };

/** Look-ups at once. */
const width = 16;

/**
 * Looks up what earlier epochs did under the minted keys, so that nothing is done twice: this agent's own, and those of
 * the predecessor that the delegation names. A claim leaves the key in doubt unless there is a result, or its holder's
 * word that nothing happened in that epoch; a result that is not provably an agent's word does too. What is found is written
 * down under this agent too, so that the next in line need only ask this one.
 *
 * @throws CandorError `server-unreachable`
 */
export async function inherit(
  keys: IntentKeys,
  task: { readonly actor: string; readonly epoch: number; readonly delegation: Payload<"delegate"> },
): Promise<ReadonlyMap<string, Inherited>> {
  const { actor, epoch, delegation } = task;
  const { predecessor, intents } = delegation;
  const found = new Map<string, Inherited>();
  if (epoch === 1 && predecessor === undefined) return found;
  const epochsOf = new Map([[actor, epoch - 1]]);
  if (predecessor !== undefined) {
    epochsOf.set(predecessor.actor, Math.max(predecessor.epoch, epochsOf.get(predecessor.actor) ?? 0));
  }
  for (let i = 0; i < intents.length; i += width) {
    const batch = intents.slice(i, i + width);
    const states = await Promise.all(batch.map(({ key }) => stateOf(keys, key, epochsOf)));
    for (const [index, { key }] of batch.entries()) {
      const state = states[index];
      if (state !== undefined) found.set(key, state);
    }
  }
  await Promise.all([...found].map(([key, state]) => passOn(keys, key, state)));
  return found;
}

async function stateOf(
  keys: IntentKeys,
  key: string,
  epochsOf: ReadonlyMap<string, number>,
): Promise<Inherited | undefined> {
  for (const actor of epochsOf.keys()) {
    const record = await keys.done(actor, key);
    if (record === "unproven") return { state: "in-doubt" };
    if (record?.outcome.type === "done") return { state: "done", done: record.outcome, record };
  }
  for (const [actor, last] of epochsOf) {
    for (let epoch = last; epoch >= 1; epoch -= 1) {
      if (await keys.isClaimed(actor, key, epoch)) return { state: "in-doubt" };
    }
  }
  return undefined;
}

async function passOn(keys: IntentKeys, key: string, inherited: Inherited): Promise<void> {
  if (inherited.state === "done") keys.handOn(key, inherited.record);
  else await keys.claim(key, 5_000);
}
