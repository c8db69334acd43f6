import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identityRoles, type IdentityRole } from "@candor/bus";
import { CandorError, isId } from "@candor/contract";
import { readRegularFile, type Credentials } from "@candor/ledger/files";

/** What the operator keeps of an identity when its folder has gone to another machine: public parts alone. */
export interface IdentityRecord {
  readonly role: IdentityRole;
  readonly name: string;
  /** Logs in at the server, `U…`. */
  readonly connectionKey: string;
  /** Signs events and records, `U…`. */
  readonly signingKey: string;
}

const folder = "identities";

export function recordOf({ role, name, connectionKey, signer }: Credentials): IdentityRecord {
  return { role, name, connectionKey, signingKey: signer.publicKey };
}

/** What an identity's files are called. */
export function fileName({ role, name }: Pick<IdentityRecord, "role" | "name">): string {
  return role === "operator" ? role : `${role}-${name}`;
}

function pathOf(dir: string, record: Pick<IdentityRecord, "role" | "name">): string {
  return join(dir, folder, `${fileName(record)}.json`);
}

function isKey(value: unknown): value is string {
  return typeof value === "string" && /^U[A-Z2-7]{55}$/.test(value);
}

function read(path: string): IdentityRecord {
  let fields: Readonly<Record<string, unknown>> = {};
  try {
    fields = JSON.parse(readRegularFile(path)) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw new CandorError("bad-file", `${path} can't be read: restore it, or add the identity anew.`, { cause });
  }
  const { version, name, connectionKey, signingKey } = fields;
  const role = identityRoles.find((known) => known === fields["role"]);
  if (
    version === 1 &&
    role !== undefined &&
    typeof name === "string" &&
    isId(name) &&
    isKey(connectionKey) &&
    isKey(signingKey)
  )
    return { role, name, connectionKey, signingKey };
  throw new CandorError("bad-file", `${path} describes no identity: restore it, or add the identity anew.`);
}

/** Everyone that the operator has made. @throws CandorError `bad-file` for a record that can't be read */
export function readRecords(dir: string): readonly IdentityRecord[] {
  const records = join(dir, folder);
  if (!existsSync(records)) return [];
  return readdirSync(records)
    .filter((file) => file.endsWith(".json"))
    .sort()
    .map((file) => read(join(records, file)));
}

export function hasRecord(dir: string, identity: Pick<IdentityRecord, "role" | "name">): boolean {
  return existsSync(pathOf(dir, identity));
}

/** Writes a record in one step, so that no reader sees a part of it. */
export function writeRecord(dir: string, record: IdentityRecord): void {
  const path = pathOf(dir, record);
  const draft = `${path}.${process.pid}.draft`;
  mkdirSync(join(dir, folder), { recursive: true, mode: 0o700 });
  writeFileSync(draft, `${JSON.stringify({ version: 1, ...record }, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}
