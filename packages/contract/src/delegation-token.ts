import { z } from "zod";
import { decodeBase64Url, encodeBase64Url } from "./base64.js";
import { certificateSchema, type Certificate } from "./certificate.js";
import { CandorError } from "./errors.js";
import { count, hash32, number } from "./identifiers.js";
import { decodeValue, encodeCanonical } from "./msgpack.js";

const tokenPrefix = "candor1.";

const shape = z.union([
  z.tuple([z.literal(1), z.instanceof(Uint8Array), count, number, hash32]),
  z.tuple([z.literal(1), z.instanceof(Uint8Array), count, number, hash32, certificateSchema]),
]);

/** What a subagent's process is handed: the stored intent, where it lies, and the run's data key. A secret. */
export interface DelegationToken {
  /** The `delegate` event's frame as stored. */
  readonly intent: Uint8Array;
  readonly lane: number;
  /** Stream sequence of the intent, which dispatches are fenced by. */
  readonly sequence: number;
  /** 32 bytes that prose is sealed with. */
  readonly dataKey: Uint8Array;
  /** Operator's word for the fleet's key, for a run whose opening is no longer the last message of its subject. */
  readonly fleet?: Certificate | undefined;
}

/** One line of text. Hand it over by file descriptor, file of mode 0600 or message; never in an argument list. */
export function encodeDelegationToken(token: DelegationToken): string {
  const { intent, lane, sequence, dataKey, fleet } = token;
  const members = [1, intent, lane, sequence, dataKey, ...(fleet === undefined ? [] : [fleet])];
  return tokenPrefix + encodeBase64Url(encodeCanonical(members));
}

/** @throws CandorError `malformed` if the text is no delegation token. */
export function decodeDelegationToken(text: string): DelegationToken {
  const trimmed = text.trim();
  if (trimmed.startsWith(tokenPrefix)) {
    const parsed = shape.safeParse(tryDecode(trimmed.slice(tokenPrefix.length)));
    if (parsed.success) {
      const [, intent, lane, sequence, dataKey, fleet] = parsed.data;
      return { intent, lane, sequence, dataKey, ...(fleet === undefined ? {} : { fleet }) };
    }
  }
  throw new CandorError(
    "malformed",
    `This is no delegation token: it begins with ${tokenPrefix} and comes from delegate(). Pass it on whole.`,
  );
}

function tryDecode(text: string): unknown {
  const bytes = decodeBase64Url(text);
  try {
    return bytes === undefined ? undefined : decodeValue(bytes);
  } catch {
    return undefined;
  }
}
