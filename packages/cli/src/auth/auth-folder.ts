import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
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
export async function addIdentity(dir: string, { role, name }: IdentityName): Promise<AddedIdentity> {
  requireId(name, "name");
  requireOperator(dir);
  if (hasRecord(dir, { role, name })) {
    throw new CandorError(
      "bad-argument",
      `${role} ${name} exists already, and its keys are not made twice. Choose another name; if its keys are lost or known to others, --renew makes new ones.`,
      { path: "name", details: { role, name } },
    );
  }
  return await issue(dir, { role, name });
}

/**
 * Makes new keys for an identity whose keys are lost or known to others. From then on the server's file does not name the old
 * connection key. What the old signing key signed stays valid, and the operator's word for it can't be taken back: runs that it
 * opened go on trusting it, though it can't connect any more.
 *
 * @returns also where the old folder was put, if there was one
 * @throws CandorError `not-found` if there is no such identity, or `dir` is no operator's folder
 */
export async function renewIdentity(
  dir: string,
  { role, name }: IdentityName,
): Promise<AddedIdentity & { readonly replaced: string | undefined }> {
  requireId(name, "name");
  requireOperator(dir);
  if (!hasRecord(dir, { role, name })) {
    throw new CandorError("not-found", `There is no ${role} ${name} to renew: leave --renew out to add it.`, {
      path: "name",
    });
  }
  const folder = credentialsFolder(dir, { role, name });
  const replaced = existsSync(folder) ? `${folder}.replaced-${Date.now()}` : undefined;
  if (replaced !== undefined) renameSync(folder, replaced);
  return { ...(await issue(dir, { role, name })), replaced };
}

/** Checks that the credentials of an identity lie here. @throws CandorError `not-found` */
export function requireFolder(dir: string, { role, name }: IdentityName): void {
  const folder = credentialsFolder(dir, { role, name });
  if (existsSync(folder)) return;
  throw new CandorError(
    "not-found",
    `The credentials of ${role} ${name} are gone: restore ${folder}, or make new ones with "candor auth add ${role} ${name} --renew --dir ${dir}".`,
    { path: folder },
  );
}

export interface AddedIdentity {
  readonly folder: string;
  readonly credentials: Credentials;
}

/** Makes the keys, or takes those whose making was interrupted, and tells the server of them. */
async function issue(dir: string, { role, name }: IdentityName): Promise<AddedIdentity> {
  const operator = requireOperator(dir);
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
