import type { ErrorAction, ErrorCode, ErrorType, Finality } from "@candor/contract";

interface TypeRow {
  /** Whether trying the same call again can help. */
  readonly retryable: boolean;
  /** What the agent can say of its own means once it gives up. */
  readonly given: Finality;
  /** Whether an effect counts as turned away when the agent itself gives this type. */
  readonly turnedAway: boolean;
}

/** What the SDK itself does about each type. The receiver's own decisions are the receiver's. */
export const typeTable = {
  transient: { retryable: true, given: "exhausted", turnedAway: false },
  unavailable: { retryable: true, given: "exhausted", turnedAway: false },
  conflict: { retryable: true, given: "exhausted", turnedAway: true },
  "invalid-input": { retryable: false, given: "not-mine", turnedAway: true },
  denied: { retryable: false, given: "not-mine", turnedAway: true },
  "over-budget": { retryable: false, given: "not-mine", turnedAway: true },
  partial: { retryable: false, given: "exhausted", turnedAway: false },
  "in-doubt": { retryable: false, given: "not-mine", turnedAway: false },
  defect: { retryable: false, given: "exhausted", turnedAway: false },
  cancelled: { retryable: false, given: "not-mine", turnedAway: false },
} as const satisfies Record<ErrorType, TypeRow>;

/**
 * A type, and whether the call was turned away before it did anything. An effect that was not is in doubt, never
 * failed: a time-out, a lost connection or an answer that can't be read say nothing about what happened.
 */
export interface Classified {
  readonly type: ErrorType;
  readonly turnedAway: boolean;
}

const away = (type: ErrorType): Classified => ({ type, turnedAway: true });
const open = (type: ErrorType): Classified => ({ type, turnedAway: false });

/**
 * Which type speaks for several failures at once, the gravest first: a repetition can't help where it would not help
 * one of them.
 */
export const gravest = [
  "in-doubt",
  "defect",
  "cancelled",
  "denied",
  "invalid-input",
  "over-budget",
  "partial",
  "conflict",
  "unavailable",
  "transient",
] as const satisfies readonly ErrorType[];

/** Names of errors that platforms and libraries throw on purpose. */
export const byName: Readonly<Record<string, Classified>> = {
  AbortError: open("cancelled"),
  TimeoutError: open("transient"),
  ZodError: open("invalid-input"),
  $ZodError: open("invalid-input"),
};

/** HTTP status codes that say more than their class. */
export const byStatus: Readonly<Record<number, Classified>> = {
  401: away("denied"),
  402: away("over-budget"),
  403: away("denied"),
  407: away("denied"),
  408: open("transient"),
  409: away("conflict"),
  412: away("conflict"),
  413: away("over-budget"),
  423: away("conflict"),
  425: away("transient"),
  428: away("conflict"),
  429: away("transient"),
  451: away("denied"),
  501: away("invalid-input"),
  503: open("unavailable"),
  529: away("transient"),
};

/** Every other status, by its first digit. */
export const byStatusClass: Readonly<Record<number, Classified>> = {
  4: away("invalid-input"),
  5: open("transient"),
};

/** Codes of Node's system errors, of its resolver and of its HTTP client. */
export const bySystemCode: Readonly<Record<string, Classified>> = {
  ABORT_ERR: open("cancelled"),
  EACCES: away("denied"),
  EADDRINUSE: away("conflict"),
  EADDRNOTAVAIL: away("unavailable"),
  EAGAIN: away("transient"),
  EAI_AGAIN: away("transient"),
  E2BIG: away("over-budget"),
  EBUSY: away("transient"),
  ECONNABORTED: open("transient"),
  ECONNREFUSED: away("unavailable"),
  ECONNRESET: open("transient"),
  EDQUOT: open("over-budget"),
  EEXIST: away("conflict"),
  EHOSTDOWN: away("unavailable"),
  EHOSTUNREACH: away("unavailable"),
  EINVAL: away("invalid-input"),
  EISDIR: away("invalid-input"),
  EMFILE: away("transient"),
  ENAMETOOLONG: away("invalid-input"),
  ENETDOWN: away("unavailable"),
  ENETUNREACH: away("unavailable"),
  ENFILE: away("transient"),
  ENOENT: away("invalid-input"),
  ENOMEM: open("over-budget"),
  ENOSPC: open("over-budget"),
  ENOTDIR: away("invalid-input"),
  ENOTEMPTY: away("conflict"),
  ENOTFOUND: away("unavailable"),
  EPERM: away("denied"),
  EPIPE: open("transient"),
  EPROTO: open("unavailable"),
  EROFS: away("denied"),
  ETIMEDOUT: open("transient"),
  // The peer's certificate is refused before anything is sent: a person has to mend the one or trust the other.
  CERT_HAS_EXPIRED: away("denied"),
  CERT_NOT_YET_VALID: away("denied"),
  DEPTH_ZERO_SELF_SIGNED_CERT: away("denied"),
  ERR_TLS_CERT_ALTNAME_INVALID: away("denied"),
  SELF_SIGNED_CERT_IN_CHAIN: away("denied"),
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: away("denied"),
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: away("denied"),
  ERR_INVALID_URL: away("invalid-input"),
  ERR_STREAM_PREMATURE_CLOSE: open("transient"),
  UND_ERR_ABORTED: open("cancelled"),
  UND_ERR_BODY_TIMEOUT: open("transient"),
  UND_ERR_CONNECT_TIMEOUT: away("unavailable"),
  UND_ERR_HEADERS_TIMEOUT: open("transient"),
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: open("transient"),
  UND_ERR_SOCKET: open("transient"),
};

/** Codes of our own errors that mean something else to the receiver than their action says. */
export const byCandorCode: Partial<Readonly<Record<ErrorCode, Classified>>> = {
  recalled: open("cancelled"),
  fenced: open("cancelled"),
  "task-over": open("cancelled"),
  // Its details say more where the SDK made it.
  "child-failed": open("defect"),
  "intent-key-in-doubt": open("in-doubt"),
  "intent-key-reuse": away("conflict"),
  "intent-key-unknown": away("denied"),
  "evidence-missing": away("invalid-input"),
  "publish-unconfirmed": away("transient"),
  "store-full": away("unavailable"),
  "permission-denied": away("denied"),
};

/** Every other code, by what its receiver does. */
export const byCandorAction = {
  "fix-input": away("invalid-input"),
  "fix-setup": away("denied"),
  retry: away("transient"),
  "look-up": away("conflict"),
  stop: away("denied"),
  "ask-operator": open("defect"),
} as const satisfies Record<ErrorAction, Classified>;
