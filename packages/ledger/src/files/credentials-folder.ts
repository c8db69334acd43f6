import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { CandorError, requireId } from "@candor/contract";
import { issueCertificate } from "../certificate.js";
import { createSeed, createSigner, type Signer } from "../signature/signer.js";
import { formatCertificate } from "./certificate-file.js";
import { credentialsOf, type CredentialParts, type Credentials } from "./credentials.js";
import { formatDocument, parseDocument } from "./document.js";
import { fileError } from "./file-error.js";
import { rowOf, type IdentityRole } from "./identity-role.js";
import { createKeyFile, readKeyFile } from "./key-file.js";
import { makePrivateFolder, readOwnFile, requireOwnFolder, writePrivateFile } from "./private-file.js";

/** The files of a credentials folder. */
const files = {
  connection: "connection.seed",
  signing: "signing.seed",
  identity: "identity.json",
  certificate: "certificate.json",
  trust: "trust.json",
} as const;

export interface NewIdentity {
  readonly role: Exclude<IdentityRole, "operator">;
  readonly name: string;
  /** Signer of the operator's key. */
  readonly operator: Signer;
  /** Addresses to write into the folder, so that a client needs the folder alone. */
  readonly servers?: readonly string[] | undefined;
}

/** Reads the parts of a folder; the certificate's signature and the rest of the agreement are not checked yet. */
export function readParts(folder: string): CredentialParts {
  requireOwnFolder(folder);
  const document = (file: string): CredentialParts["identity"] => {
    const path = join(folder, file);
    return parseDocument(path, readOwnFile(path));
  };
  return {
    identity: document(files.identity),
    trust: document(files.trust),
    certificate: existsSync(join(folder, files.certificate)) ? document(files.certificate) : undefined,
    connectionSeed: readKeyFile(join(folder, files.connection)),
    signingSeed: readKeyFile(join(folder, files.signing)),
  };
}

/**
 * Reads a credentials folder: that its files are there and well formed, that nobody else can read the keys or change the rest,
 * and that certificate, keys and operator belong together.
 *
 * @param folder made by `createCredentials` or `createOperator`
 * @throws CandorError `not-found`, `key-exposed`, `permission-denied`, `bad-file`, `bad-key`, `unknown-version`, `untrusted-key`
 */
export function readCredentials(folder: string): Credentials {
  return credentialsOf(readParts(folder));
}

interface FolderContents {
  readonly role: IdentityRole;
  readonly name: string;
  readonly operator: string;
  readonly signingSeed: string;
  readonly certificate: string | undefined;
  readonly servers: readonly string[] | undefined;
}

function writeContents(folder: string, contents: FolderContents): void {
  const { role, name, operator, signingSeed, certificate, servers } = contents;
  const { word, apiPrefix } = rowOf(role);
  makePrivateFolder(folder);
  createKeyFile(join(folder, files.connection));
  createKeyFile(join(folder, files.signing), signingSeed);
  writePrivateFile(join(folder, files.trust), formatDocument({ operator }));
  if (certificate !== undefined) writePrivateFile(join(folder, files.certificate), certificate);
  const identity = { role, name, inboxPrefix: `_IN.${word}.${name}`, apiPrefix, servers };
  writePrivateFile(join(folder, files.identity), formatDocument(identity));
}

/** Makes the folder beside its place and moves it there whole, so that a crash leaves no half of it. */
function createFolder(folder: string, contents: FolderContents): Credentials {
  if (existsSync(folder)) {
    throw new CandorError(
      "bad-file",
      `${folder} is there already and was left as it is. Choose another name, or remove it first.`,
      {
        path: folder,
      },
    );
  }
  const unfinished = `${folder}.unfinished-${process.pid}`;
  try {
    mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw fileError(cause, dirname(folder), "write");
  }
  try {
    writeContents(unfinished, contents);
    renameSync(unfinished, folder);
  } catch (cause) {
    rmSync(unfinished, { recursive: true, force: true });
    throw cause instanceof CandorError ? cause : fileError(cause, folder, "write");
  }
  return readCredentials(folder);
}

/**
 * Makes the credentials folder of a new operator, whose signing key everything else is trusted through.
 *
 * @param folder where to; its parents are made if need be
 * @param options name (`operator` by default) and addresses of the server
 * @throws CandorError `bad-file` if the folder is there already, `bad-argument` for a wrong name, `folder-not-writable`
 */
export function createOperator(
  folder: string,
  options: { readonly name?: string; readonly servers?: readonly string[] } = {},
): Credentials {
  const { name = "operator", servers } = options;
  const signingSeed = createSeed();
  const operator = createSigner(signingSeed).publicKey;
  return createFolder(folder, {
    role: "operator",
    name: requireId(name, "name"),
    operator,
    signingSeed,
    certificate: undefined,
    servers,
  });
}

/**
 * Makes the credentials folder of a new identity, with keys of its own and a certificate signed by the operator.
 *
 * @param folder where to; its parents are made if need be
 * @throws CandorError `bad-file` if the folder is there already, `bad-argument` for a wrong name, `folder-not-writable`
 */
export function createCredentials(folder: string, { role, name, operator, servers }: NewIdentity): Credentials {
  requireId(name, "name");
  const signingSeed = createSeed();
  const { certified } = rowOf(role);
  const key = createSigner(signingSeed).publicKey;
  const certificate =
    certified === undefined ? undefined : formatCertificate(issueCertificate(operator, { role: certified, name, key }));
  return createFolder(folder, { role, name, operator: operator.publicKey, signingSeed, certificate, servers });
}
