import { CandorError } from "@candor/contract";

/** A JSON object from a file or a variable; `where` names it in errors. */
export interface Document {
  readonly where: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const version = 1;

function bad(where: string, field: string, needs: string): CandorError {
  return new CandorError("bad-file", `${where}: ${field} ${needs}. Make the credentials anew with "candor auth add".`, {
    path: `${where}#${field}`,
  });
}

/** Takes a JSON object of version 1. @throws CandorError `bad-file`, `unknown-version` */
export function documentOf(where: string, value: unknown): Document {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw bad(where, "the whole", "must be a JSON object");
  const fields = value as Readonly<Record<string, unknown>>;
  if (fields["version"] !== version) {
    throw new CandorError(
      "unknown-version",
      `${where} has version ${typeof fields["version"] === "number" ? fields["version"] : "none"}; this program knows version ${version} only. Update it.`,
      { path: `${where}#version` },
    );
  }
  return { where, fields };
}

/** Reads a JSON object of version 1. @throws CandorError `bad-file`, `unknown-version` */
export function parseDocument(where: string, text: string): Document {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new CandorError("bad-file", `${where} is not JSON. Make the credentials anew with "candor auth add".`, {
      path: where,
      cause,
    });
  }
  return documentOf(where, value);
}

/** A text field that passes the check. @throws CandorError `bad-file` */
export function textField<Text extends string>(
  document: Document,
  field: string,
  isGood: (text: string) => text is Text,
  needs: string,
): Text;
export function textField(document: Document, field: string, isGood: (text: string) => boolean, needs: string): string;
export function textField(
  { where, fields }: Document,
  field: string,
  isGood: (text: string) => boolean,
  needs: string,
): string {
  const value = fields[field];
  if (typeof value === "string" && isGood(value)) return value;
  throw bad(where, field, needs);
}

/** A field that may be left out and else is a list of texts. @throws CandorError `bad-file` */
export function textsField({ where, fields }: Document, field: string): readonly string[] | undefined {
  const value = fields[field];
  if (value === undefined) return undefined;
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw bad(where, field, "must be a list of texts");
}

/** The text of a JSON file of version 1. */
export function formatDocument(fields: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify({ version, ...fields }, undefined, 2)}\n`;
}
