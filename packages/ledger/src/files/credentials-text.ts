import { CandorError, decodeBase64Url, encodeBase64Url } from "@candor/contract";
import { readParts } from "./credentials-folder.js";
import { credentialsOf, type Credentials } from "./credentials.js";
import { documentOf, formatDocument, parseDocument, textField } from "./document.js";

const isFilled = (text: string): boolean => text.length > 0;

/**
 * A credentials folder as one text for an environment variable: base64url of JSON. It holds the keys, so it is as secret as they are.
 *
 * @throws CandorError as `readCredentials` does: what is not in order is not passed on
 */
export function exportCredentials(folder: string): string {
  const parts = readParts(folder);
  credentialsOf(parts);
  const { connectionSeed, signingSeed } = parts;
  const text = formatDocument({
    identity: parts.identity.fields,
    trust: parts.trust.fields,
    certificate: parts.certificate?.fields,
    connectionSeed,
    signingSeed,
  });
  return encodeBase64Url(new TextEncoder().encode(text));
}

/**
 * Reads credentials from the text that `exportCredentials` wrote.
 *
 * @param text value of the variable
 * @param where name of the variable, for errors
 * @throws CandorError `bad-file`, `bad-key`, `unknown-version`, `not-found`, `untrusted-key`; the message never repeats the text
 */
export function parseCredentials(text: string, where = "the credentials text"): Credentials {
  const bytes = decodeBase64Url(text.trim());
  if (bytes === undefined || bytes.length === 0) {
    throw new CandorError("bad-file", `${where} is not base64url text made by "candor auth export". Copy it whole.`, {
      path: where,
    });
  }
  const document = parseDocument(where, new TextDecoder().decode(bytes));
  const certificate = document.fields["certificate"];
  return credentialsOf({
    identity: documentOf(`${where}: identity`, document.fields["identity"]),
    trust: documentOf(`${where}: trust`, document.fields["trust"]),
    certificate: certificate === undefined ? undefined : documentOf(`${where}: certificate`, certificate),
    connectionSeed: textField(document, "connectionSeed", isFilled, "must be a seed (SU…)"),
    signingSeed: textField(document, "signingSeed", isFilled, "must be a seed (SU…)"),
  });
}
