import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeAuthorization } from "@candor/bus/server";
import type { IdentityRole } from "@candor/bus";
import { CandorError, requireId } from "@candor/contract";
import {
  createCredentials,
  createOperator,
  formatCertificate,
  readCredentials,
  type Credentials,
} from "@candor/ledger/files";
import { makeFolder } from "../folder.js";
import { fileName, hasRecord, readRecords, recordOf, writeRecord, type IdentityRecord } from "./identity-record.js";

/** Roles that the operator adds; the operator itself is made with the folder. */
export const addedRoles = [
  "agent",
  "orchestrator",
  "prober",
  "guard",
  "auditor",
] as const satisfies readonly IdentityRole[];
export type AddedRole = (typeof addedRoles)[number];

export interface IdentityName {
  readonly role: AddedRole;
  readonly name: string;
}

/** Where an identity's credentials lie within the operator's folder. */
export function credentialsFolder(dir: string, identity: Pick<IdentityRecord, "role" | "name">): string {
  return join(dir, fileName(identity));
}

/** An identity's certificate within the operator's folder: public. */
export function certificateFile(dir: string, identity: Pick<IdentityRecord, "role" | "name">): string {
  return join(dir, "certificates", `${fileName(identity)}.json`);
}

/** The server's authorization file of an operator's folder. */
export function authorizationFile(dir: string): string {
  return join(dir, "server", "auth.conf");
}

/** Writes the server's file until it says what the records say: another process may have added somebody meanwhile. */
async function updateAuthorization(dir: string): Promise<boolean> {
  let changed = false;
  for (;;) {
    const written = await writeAuthorization(join(dir, "server"), readRecords(dir));
    if (!written.changed) return changed;
    changed = true;
  }
}

/**
 * Makes an operator's folder: the operator's credentials and the server's authorization file. What is there is kept.
 *
 * @param dir made if it is not there
 * @param servers addresses that every identity's folder will name
 * @returns whether anything was made
 * @throws CandorError `folder-not-writable`, `key-exposed`, `bad-file`
 */
export async function initAuth(
  dir: string,
  { servers }: { readonly servers?: readonly string[] } = {},
): Promise<{ readonly operator: Credentials; readonly made: boolean }> {
  const folder = join(dir, "operator");
  makeFolder(dir);
  const isThere = existsSync(folder);
  const operator = isThere ? readCredentials(folder) : createOperator(folder, servers === undefined ? {} : { servers });
  if (!hasRecord(dir, operator)) writeRecord(dir, recordOf(operator));
  const changed = await updateAuthorization(dir);
  return { operator, made: !isThere || changed };
}

/** The operator of a folder. @throws CandorError `not-found` if it is none */
export function requireOperator(dir: string): Credentials {
  if (existsSync(join(dir, "operator"))) return readCredentials(join(dir, "operator"));
  throw new CandorError(
    "not-found",
    `${dir} is no operator's folder: make one with "candor auth init ${dir}", or name another with --dir.`,
    { path: dir },
  );
}

function writeCertificate(dir: string, { certificate, role, name }: Credentials): void {
  if (certificate === undefined) return;
  mkdirSync(join(dir, "certificates"), { recursive: true });
  // Public: whoever opens a run or audits one may have it.
  writeFileSync(certificateFile(dir, { role, name }), formatCertificate(certificate));
}

/**
 * Makes an identity with keys of its own, or finishes one whose making was interrupted.
 *
 * @returns its credentials folder and what is in it
 * @throws CandorError `bad-argument` if there is one of this role and name, `not-found` if `dir` is no operator's folder
 */
export async function addIdentity(
  dir: string,
  { role, name }: IdentityName,
): Promise<{ readonly folder: string; readonly credentials: Credentials }> {
  requireId(name, "name");
  const operator = requireOperator(dir);
  if (hasRecord(dir, { role, name })) {
    throw new CandorError(
      "bad-argument",
      `${role} ${name} exists already, and its keys are not made twice. Choose another name.`,
      { path: "name", details: { role, name } },
    );
  }
  const folder = credentialsFolder(dir, { role, name });
  const { signer, servers } = operator;
  const credentials = existsSync(folder)
    ? readCredentials(folder)
    : createCredentials(folder, { role, name, operator: signer, servers });
  writeCertificate(dir, credentials);
  writeRecord(dir, recordOf(credentials));
  await updateAuthorization(dir);
  return { folder, credentials };
}

/** Adds those of the identities that are not there. @returns those that were added */
export async function ensureIdentities(
  dir: string,
  identities: readonly IdentityName[],
): Promise<readonly IdentityName[]> {
  const added: IdentityName[] = [];
  for (const identity of identities) {
    if (hasRecord(dir, identity)) continue;
    await addIdentity(dir, identity);
    added.push(identity);
  }
  return added;
}

export interface ListedIdentity extends IdentityRecord {
  /** Its folder, if it is still here and not on another machine. */
  readonly folder: string | undefined;
}

/** Everyone of an operator's folder. @throws CandorError `not-found` if it is none */
export function listIdentities(dir: string): readonly ListedIdentity[] {
  requireOperator(dir);
  return readRecords(dir).map((record) => {
    const folder = credentialsFolder(dir, record);
    return { ...record, folder: existsSync(folder) ? folder : undefined };
  });
}
