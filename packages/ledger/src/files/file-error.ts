import { CandorError, type ErrorCode } from "@candor/contract";

interface Reason {
  readonly code: ErrorCode;
  readonly says: string;
}

const reasons: Readonly<Record<string, Reason>> = {
  ENOENT: { code: "not-found", says: "is not there: check the path" },
  ENOTDIR: { code: "not-found", says: "is not there: a part of the path is no folder" },
  EEXIST: { code: "bad-file", says: "is there already and was left as it is: choose another name, or remove it first" },
  ENOTEMPTY: {
    code: "bad-file",
    says: "is there already and was left as it is: choose another name, or remove it first",
  },
  EACCES: { code: "permission-denied", says: "may not be opened by this user: check owner and mode" },
  EPERM: { code: "permission-denied", says: "may not be opened by this user: check owner and mode" },
  EROFS: { code: "folder-not-writable", says: "is on a file system that is mounted read-only" },
  EISDIR: { code: "bad-file", says: "is a folder and not a file" },
  ENOSPC: { code: "store-full", says: "cannot be written: the file system is full" },
};

function reasonOf(cause: unknown): Reason | undefined {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" ? reasons[code] : undefined;
}

/** What the file system refused, as one of our errors. `use` says what the path was wanted for. */
export function fileError(cause: unknown, path: string, use: "read" | "write"): CandorError {
  const reason = reasonOf(cause) ?? { code: "bad-file", says: "could not be opened" };
  const code = use === "write" && reason.code === "permission-denied" ? "folder-not-writable" : reason.code;
  return new CandorError(code, `${path} ${reason.says}.`, { path, cause });
}
