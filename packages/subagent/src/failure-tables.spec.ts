import { describe, expect, it } from "vitest";
import { CandorError, errorCodes, errorTypes, type ErrorCode, type ErrorType } from "@candor/contract";
import { givenUp } from "./attempt-scope.js";
import { toFailure } from "./failure.js";
import {
  byCandorAction,
  byCandorCode,
  byName,
  byStatus,
  byStatusClass,
  bySystemCode,
  gravest,
  typeTable,
} from "./failure-tables.js";

/** What must come out, written down a second time: a slip in a table is a difference here. */
type Row = readonly [key: string, type: ErrorType, mayHaveHappened: boolean];

const names: readonly Row[] = [
  ["AbortError", "cancelled", true],
  ["TimeoutError", "transient", true],
  ["ZodError", "invalid-input", true],
  ["$ZodError", "invalid-input", true],
];

const statuses: readonly Row[] = [
  ["401", "denied", false],
  ["402", "over-budget", false],
  ["403", "denied", false],
  ["407", "denied", false],
  ["408", "transient", true],
  ["409", "conflict", false],
  ["412", "conflict", false],
  ["413", "over-budget", false],
  ["423", "conflict", false],
  ["425", "transient", false],
  ["428", "conflict", false],
  ["429", "transient", false],
  ["451", "denied", false],
  ["501", "invalid-input", false],
  ["503", "unavailable", true],
  ["529", "transient", false],
];

const classes: readonly Row[] = [
  ["404", "invalid-input", false],
  ["422", "invalid-input", false],
  ["500", "transient", true],
  ["504", "transient", true],
];

const codes: readonly Row[] = [
  ["ABORT_ERR", "cancelled", true],
  ["E2BIG", "over-budget", false],
  ["EACCES", "denied", false],
  ["EADDRINUSE", "conflict", false],
  ["EADDRNOTAVAIL", "unavailable", false],
  ["EAGAIN", "transient", false],
  ["EAI_AGAIN", "transient", false],
  ["EBUSY", "transient", false],
  ["ECONNABORTED", "transient", true],
  ["ECONNREFUSED", "unavailable", false],
  ["ECONNRESET", "transient", true],
  ["EDQUOT", "over-budget", true],
  ["EEXIST", "conflict", false],
  ["EHOSTDOWN", "unavailable", false],
  ["EHOSTUNREACH", "unavailable", false],
  ["EINVAL", "invalid-input", false],
  ["EISDIR", "invalid-input", false],
  ["EMFILE", "transient", false],
  ["ENAMETOOLONG", "invalid-input", false],
  ["ENETDOWN", "unavailable", false],
  ["ENETUNREACH", "unavailable", false],
  ["ENFILE", "transient", false],
  ["ENOENT", "invalid-input", false],
  ["ENOMEM", "over-budget", true],
  ["ENOSPC", "over-budget", true],
  ["ENOTDIR", "invalid-input", false],
  ["ENOTEMPTY", "conflict", false],
  ["ENOTFOUND", "unavailable", false],
  ["EPERM", "denied", false],
  ["EPIPE", "transient", true],
  ["EPROTO", "unavailable", true],
  ["EROFS", "denied", false],
  ["ETIMEDOUT", "transient", true],
  ["CERT_HAS_EXPIRED", "denied", false],
  ["CERT_NOT_YET_VALID", "denied", false],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "denied", false],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "denied", false],
  ["SELF_SIGNED_CERT_IN_CHAIN", "denied", false],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "denied", false],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "denied", false],
  ["ERR_INVALID_URL", "invalid-input", false],
  ["ERR_STREAM_PREMATURE_CLOSE", "transient", true],
  ["UND_ERR_ABORTED", "cancelled", true],
  ["UND_ERR_BODY_TIMEOUT", "transient", true],
  ["UND_ERR_CONNECT_TIMEOUT", "unavailable", false],
  ["UND_ERR_HEADERS_TIMEOUT", "transient", true],
  ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "transient", true],
  ["UND_ERR_SOCKET", "transient", true],
];

const ours: readonly Row[] = [
  ["recalled", "cancelled", true],
  ["fenced", "cancelled", true],
  ["task-over", "cancelled", true],
  ["child-failed", "defect", true],
  ["intent-key-in-doubt", "in-doubt", true],
  ["intent-key-reuse", "conflict", false],
  ["intent-key-unknown", "denied", false],
  ["evidence-missing", "invalid-input", false],
  ["publish-unconfirmed", "transient", false],
  ["store-full", "unavailable", false],
  ["permission-denied", "denied", false],
];

const ourActions: readonly Row[] = [
  ["fix-input", "invalid-input", false],
  ["fix-setup", "denied", false],
  ["retry", "transient", false],
  ["look-up", "conflict", false],
  ["stop", "denied", false],
  ["ask-operator", "defect", true],
];

const finalities: readonly (readonly [ErrorType, retryable: boolean, given: string])[] = [
  ["transient", true, "exhausted"],
  ["unavailable", true, "exhausted"],
  ["conflict", true, "exhausted"],
  ["invalid-input", false, "not-mine"],
  ["denied", false, "not-mine"],
  ["over-budget", false, "not-mine"],
  ["partial", false, "exhausted"],
  ["in-doubt", false, "not-mine"],
  ["defect", false, "exhausted"],
  ["cancelled", false, "not-mine"],
];

const keys = (rows: readonly (readonly [string, ...unknown[]])[]): string[] => rows.map(([key]) => key).sort();

describe("F1 every row of the mapping tables", () => {
  it("is written down here, and no other is", () => {
    expect(keys(names)).toEqual(Object.keys(byName).sort());
    expect(keys(statuses)).toEqual(Object.keys(byStatus).sort());
    expect([...new Set(classes.map(([status]) => status.charAt(0)))]).toEqual(Object.keys(byStatusClass));
    expect(keys(codes)).toEqual(Object.keys(bySystemCode).sort());
    expect(keys(ours)).toEqual(Object.keys(byCandorCode).sort());
    expect(keys(ourActions)).toEqual(Object.keys(byCandorAction).sort());
    expect(keys(finalities)).toEqual(Object.keys(typeTable).sort());
    expect([...gravest].sort()).toEqual([...errorTypes].sort());
  });

  it.each(names)("name %s is %s", (name, type, mayHaveHappened) => {
    expect(toFailure(Object.assign(new TypeError("m"), { name }))).toMatchObject({ type, mayHaveHappened });
  });

  it.each([...statuses, ...classes])("HTTP status %s is %s, wherever it stands", (text, type, mayHaveHappened) => {
    const status = Number(text);
    for (const error of [
      { status },
      { statusCode: status },
      { response: { status } },
      new Response(null, { status }),
      new TypeError("wrapped", { cause: { status } }),
    ]) {
      expect(toFailure(error)).toMatchObject({ type, mayHaveHappened });
    }
  });

  it.each(codes)("system code %s is %s, also as the cause of a failed fetch", (code, type, mayHaveHappened) => {
    const error = Object.assign(new TypeError("m"), { code });
    expect(toFailure(error)).toMatchObject({ type, mayHaveHappened });
    expect(toFailure(new TypeError("fetch failed", { cause: error }))).toMatchObject({ type, mayHaveHappened });
  });

  it.each(ours)("our code %s is %s", (code, type, mayHaveHappened) => {
    expect(toFailure(new CandorError(code as ErrorCode, "m"))).toMatchObject({ type, mayHaveHappened });
  });

  it.each(ourActions)("our other codes with action %s are %s", (action, type, mayHaveHappened) => {
    const codesOf = (Object.keys(errorCodes) as ErrorCode[]).filter(
      (code) => errorCodes[code].action === action && !(code in byCandorCode),
    );
    expect(codesOf.length).toBeGreaterThan(0);
    for (const code of codesOf) expect(toFailure(new CandorError(code, "m"))).toMatchObject({ type, mayHaveHappened });
  });

  it.each(finalities)("F5 %s: repeated %s, given up as %s", (type, retryable, given) => {
    const failure = toFailure(new TypeError("m"), () => type);
    expect([failure.retryable, givenUp(failure)]).toEqual([retryable, given]);
  });
});
