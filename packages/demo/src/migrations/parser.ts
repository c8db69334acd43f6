import type { Node, SqlError } from "libpg-query";
import { parseError, type ParseError } from "./failure.js";
import { withoutCopyData } from "./copy-data.js";
import { discardParser, parser } from "./parser-instance.js";
import { printable } from "./printable.js";
import { sourceLines, type SourceLines } from "./source-lines.js";

export interface Statement {
  readonly node: Node;
  /** Byte offset of the first word of the statement; comments before it do not count. */
  readonly start: number;
  readonly end: number | undefined;
}

export type Parsed =
  | {
      readonly ok: true;
      readonly statements: readonly Statement[];
      readonly lines: SourceLines;
      /** Lines of `COPY` data that were left out: they are no SQL. */
      readonly dataLines: number;
    }
  | { readonly ok: false; readonly error: ParseError };

const blank = /^\s*$/;
const psqlCommand = /^\s*\\/;

/** Parses SQL with PostgreSQL's own parser (libpg_query, version 18). Never throws for what the text holds. */
export async function parseSql(text: string): Promise<Parsed> {
  let [rest, dataLines] = [text, 0];
  for (;;) {
    const parsed = await parseText(rest);
    if (parsed.ok) return { ...parsed, dataLines };
    const { failure, line } = parsed.error;
    const found = failure === "syntax-error" && line !== undefined ? withoutCopyData(rest, line) : undefined;
    // A block without rows is refused again at the same place.
    if (found === undefined || found.text === rest) return parsed;
    rest = found.text;
    dataLines += found.lines;
  }
}

async function parseText(text: string): Promise<Parsed> {
  const { hasSqlDetails, parseSync } = await parser();
  const lines = sourceLines(text);
  if (blank.test(text)) return { ok: true, statements: [], lines, dataLines: 0 };
  const nul = text.indexOf("\0");
  if (nul !== -1) {
    // The parser takes C strings: it would silently stop here and call the rest reviewed.
    const line = lines.ofByte(Buffer.byteLength(text.slice(0, nul)));
    return { ok: false, error: parseError("nul-byte", "a NUL byte; PostgreSQL takes text only", line) };
  }
  try {
    const statements = (parseSync(text).stmts ?? []).flatMap(({ stmt, stmt_location: start = 0, stmt_len: length }) =>
      stmt === undefined ? [] : [{ node: stmt, start, end: length === undefined ? undefined : start + length }],
    );
    return { ok: true, statements, lines, dataLines: 0 };
  } catch (error) {
    if (hasSqlDetails(error)) return { ok: false, error: refusal(error, text, lines) };
    discardParser();
    return { ok: false, error: crash(error) };
  }
}

function refusal({ message, sqlDetails }: SqlError, text: string, lines: SourceLines): ParseError {
  // The grammar's own stack limit names no place in the text that would help.
  if (message.startsWith("memory exhausted")) return parseError("too-deep", "nested too deeply for the parser");
  const line = lines.ofCodePoint(sqlDetails?.cursorPosition ?? 0);
  const source = text.split("\n")[line - 1] ?? "";
  const hint = psqlCommand.test(source) ? "; lines that start with a backslash are psql commands, not SQL" : "";
  return parseError("syntax-error", printable(message) + hint, line);
}

function crash(error: unknown): ParseError {
  if (error instanceof RangeError) return parseError("too-deep", "nested too deeply for the parser");
  return parseError("parser-failed", `the parser failed: ${printable(String(error))}`);
}

/** A statement found inside a PL/pgSQL block; `line` counts from 1 at the line on which the block's text opens. */
export interface BlockStatement {
  readonly kind: "sql" | "dynamic";
  readonly text: string;
  readonly line: number;
}

/** Statements that a `DO` block runs, or undefined when PL/pgSQL's own parser does not take the block. */
export async function parseBlock(doStatement: string): Promise<readonly BlockStatement[] | undefined> {
  const { hasSqlDetails, parsePlPgSQLSync } = await parser();
  try {
    return blockStatements(parsePlPgSQLSync(doStatement));
  } catch (error) {
    if (!hasSqlDetails(error)) discardParser();
    return undefined;
  }
}

/** Nodes of the PL/pgSQL tree that run SQL, and the field that holds its text. The tree has no published types. */
const runners = {
  PLpgSQL_stmt_execsql: { kind: "sql", field: "sqlstmt" },
  PLpgSQL_stmt_perform: { kind: "sql", field: "expr" },
  PLpgSQL_stmt_fors: { kind: "sql", field: "query" },
  PLpgSQL_stmt_dynexecute: { kind: "dynamic", field: "query" },
  PLpgSQL_stmt_dynfors: { kind: "dynamic", field: "query" },
} as const;

function blockStatements(tree: unknown): BlockStatement[] {
  if (Array.isArray(tree)) return tree.flatMap(blockStatements);
  if (!isRecord(tree)) return [];
  return Object.entries(tree).flatMap(([key, value]) => {
    const runner = Object.hasOwn(runners, key) ? runners[key as keyof typeof runners] : undefined;
    if (runner === undefined || !isRecord(value)) return blockStatements(value);
    const line = typeof value["lineno"] === "number" ? value["lineno"] : 1;
    return [{ kind: runner.kind, text: queryOf(value[runner.field]), line }, ...blockStatements(value["body"])];
  });
}

function queryOf(expression: unknown): string {
  const inner = isRecord(expression) ? expression["PLpgSQL_expr"] : undefined;
  const query = isRecord(inner) ? inner["query"] : undefined;
  return typeof query === "string" ? query : "";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
