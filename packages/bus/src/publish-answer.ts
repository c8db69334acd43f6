import type { Msg } from "@nats-io/transport-node";
import type { ErrorCode } from "@candor/contract";

/** What came of one attempt to publish. */
export type PublishAnswer =
  | { readonly type: "stored"; readonly seq: number }
  /** Another message is last on the subject; `last` is its sequence. */
  | { readonly type: "lost"; readonly last: number }
  /** Collided with a message under way, which may pass or fail. */
  | { readonly type: "collision" }
  /** The subject is write-once and written. */
  | { readonly type: "taken" }
  /** Not stored, and it may help to try again. */
  | { readonly type: "later"; readonly code: ErrorCode; readonly reason: string }
  /** Not stored, and it never will be. */
  | { readonly type: "refused"; readonly code: ErrorCode; readonly reason: string }
  /** No answer: stored or not. */
  | { readonly type: "silence"; readonly reason: string };

const later = (code: ErrorCode, reason: string): PublishAnswer => ({ type: "later", code, reason });
const refused = (code: ErrorCode, reason: string): PublishAnswer => ({ type: "refused", code, reason });

/** By the server's `err_code`; what is not listed is refused for good. */
const byNumber: Readonly<Record<number, (description: string) => PublishAnswer>> = {
  10002: (text) => later("store-full", text),
  10008: (text) => later("server-unreachable", text),
  10009: (text) => later("server-unreachable", text),
  10023: (text) => later("store-full", text),
  10028: (text) => later("store-full", text),
  10039: (text) => refused("no-jetstream", text),
  10047: (text) => later("store-full", text),
  10054: (text) => refused("too-large", text),
  10071: (text) => ({ type: "lost", last: Number(/\d+/.exec(text)?.[0] ?? 0) }),
  10076: (text) => later("server-unreachable", text),
  10077: (text) => {
    if (text.includes("maximum messages per subject")) return { type: "taken" };
    return text.includes("too large") ? refused("too-large", text) : later("store-full", text);
  },
  10118: (text) => later("server-unreachable", text),
  10122: (text) => later("store-full", text),
  10164: () => ({ type: "collision" }),
  10167: (text) => later("server-unreachable", text),
  10194: (text) => later("server-unreachable", text),
};

interface Acknowledgement {
  readonly seq?: number;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

/** Reads the server's answer to a published message. */
export function readAnswer(reply: Msg): PublishAnswer {
  if (reply.data.length === 0) {
    return reply.headers?.code === 503
      ? later("server-unreachable", "no stream takes this subject now")
      : { type: "silence", reason: "an empty answer" };
  }
  let answer: Acknowledgement;
  try {
    answer = reply.json<Acknowledgement>();
  } catch {
    return { type: "silence", reason: "an answer that is no acknowledgement" };
  }
  if (answer.error === undefined) {
    return typeof answer.seq === "number"
      ? { type: "stored", seq: answer.seq }
      : { type: "silence", reason: "an answer without a sequence" };
  }
  const { err_code: number = 0, description = "no reason given" } = answer.error;
  const text = `${description} (${number})`;
  return byNumber[number]?.(text) ?? refused("server-failed", text);
}
