import { concatBytes, memberKey, sha256, utf8, type DoubtPolicy, type Payload } from "@candor/contract";
import { hashText } from "./kept.js";

type Minted = Payload<"delegate">["intents"][number];
type Used = Pick<Payload<"effect">, "intent" | "key" | "target" | "member">;

/** Minted intent keys as one text, each by its own digest and by that of key, intent and target. */
type KeyText = string;

/** Minted keys of which some declare more than what they stand for: key families, and what is done in doubt. */
interface DeclaredKeys {
  readonly text: KeyText;
  readonly declared: readonly Minted[];
}

/** What is kept of the keys that a delegation mints. Most declare nothing, and are one text. */
export type KeptKeys = KeyText | DeclaredKeys;

/** Bytes kept of the digest of a minted key, to know it by, and of the digest of what it stands for, which nobody can forge. */
const keyBytes = 5;
const meaningBytes = 11;

interface Meaning {
  readonly key: string;
  readonly intent: string;
  readonly target?: string | undefined;
}

/** Ids and labels hold no line break and are never empty, so no two meanings read alike. */
function meaningDigest({ key, intent, target = "" }: Meaning): Uint8Array {
  return sha256(utf8(`${key}\n${intent}\n${target}`)).subarray(0, meaningBytes);
}

function keyDigest(key: string): Uint8Array {
  return sha256(utf8(key)).subarray(0, keyBytes);
}

export function keepKeys(intents: readonly Minted[]): KeptKeys {
  const plain = intents.filter(({ discriminator }) => discriminator === undefined);
  const text = hashText(concatBytes(...plain.flatMap((minted) => [keyDigest(minted.key), meaningDigest(minted)])));
  const declared = intents.filter(({ inDoubt, discriminator }) => (inDoubt ?? discriminator) !== undefined);
  return declared.length === 0 ? text : { text, declared };
}

/** How an effect uses its key: as the delegation minted it, for something else, or nobody minted it. */
export type KeyUse = "as-minted" | "otherwise" | "unminted";

/** A key without a target stands for its intent at any target. */
export function keyUse(kept: KeptKeys, effect: Used): KeyUse {
  if (typeof kept === "string") return useOfText(kept, effect);
  const row = declaredFor(kept, effect);
  if (row === undefined) {
    // A family's own key is good for no effect.
    const isFamilys = kept.declared.some(({ key, discriminator }) => discriminator !== undefined && key === effect.key);
    return isFamilys ? "otherwise" : useOfText(kept.text, effect);
  }
  return row.target === undefined || row.target === effect.target ? "as-minted" : "otherwise";
}

/** What the delegation declares for an effect of which nobody knows whether it happened; undefined if nothing. */
export function doubtPolicy(kept: KeptKeys, effect: Used): DoubtPolicy | undefined {
  return typeof kept === "string" ? undefined : declaredFor(kept, effect)?.inDoubt;
}

/** Names of intents are told apart by the writer, and by nothing else; only rows of this one are compared. */
function declaredFor({ declared }: DeclaredKeys, { intent, key, member }: Used): Minted | undefined {
  return declared.find((minted) => {
    if (minted.intent !== intent) return false;
    if (minted.discriminator === undefined) return minted.key === key;
    return member !== undefined && memberKey(minted.key, member) === key;
  });
}

function useOfText(minted: KeyText, { key, intent, target }: Used): KeyUse {
  const name = hashText(keyDigest(key));
  let use: KeyUse = "unminted";
  for (let at = 0; at < minted.length; at += keyBytes + meaningBytes) {
    if (!minted.startsWith(name, at)) continue;
    const meanings = [
      { key, intent, target },
      { key, intent },
    ].map((meaning) => hashText(meaningDigest(meaning)));
    if (meanings.some((meaning) => minted.startsWith(meaning, at + keyBytes))) return "as-minted";
    use = "otherwise";
  }
  return use;
}
