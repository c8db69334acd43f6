import type { Node } from "libpg-query";
import type { ParseError } from "./failure.js";
import { parseBlock, parseSql, type Parsed, type Statement } from "./parser.js";
import { printable } from "./printable.js";
import { rules, type RuleId, type Severity } from "./rules.js";
import { foldScope, initialScope, type Scope } from "./scope.js";
import type { SourceLines } from "./source-lines.js";
import { statementHits } from "./statement-rules.js";
import { nodeOf, nodesOf, textOf } from "./syntax.js";

export interface Finding {
  readonly rule: RuleId;
  readonly severity: Severity;
  /** 1-based. */
  readonly line: number;
  /** The statement in one line, cut after 120 characters. */
  readonly statement: string;
}

export interface SqlReview {
  /** Number of statements in the text; 0 when it does not parse. */
  readonly statements: number;
  readonly findings: readonly Finding[];
  /** Statements that have a finding; none if it is left out. */
  readonly dangerous?: number;
  /** Lines of `COPY` data, which are no statements and were not reviewed; none if it is left out. */
  readonly dataLines?: number;
  /** Why the text could not be reviewed. Then there are no findings, and that means nothing. */
  readonly parseError?: ParseError;
}

/**
 * Reviews the text of one migration: parses it with PostgreSQL's own parser and applies `rules` to
 * every statement, those inside `DO` blocks, common table expressions and `CREATE SCHEMA` included.
 * The result depends on the text alone. A text that does not parse is a result with `parseError`.
 */
export async function reviewSql(text: string): Promise<SqlReview> {
  const parsed = await parseSql(text);
  if (!parsed.ok) return { statements: 0, findings: [], parseError: parsed.error };
  const findings: Finding[] = [];
  let scope = initialScope;
  let dangerous = 0;
  for (const statement of parsed.statements) {
    const own = [
      ...statementFindings(statement, parsed.lines, scope),
      ...(await blockFindings(statement, parsed.lines, scope)),
    ];
    if (own.length > 0) dangerous += 1;
    findings.push(...own);
    scope = foldScope(scope, statement.node);
  }
  const { dataLines } = parsed;
  return {
    statements: parsed.statements.length,
    findings,
    ...(dangerous === 0 ? {} : { dangerous }),
    ...(dataLines === 0 ? {} : { dataLines }),
  };
}

function statementFindings({ end, node, start }: Statement, lines: SourceLines, scope: Scope): readonly Finding[] {
  const hits = statementHits(node, scope);
  if (hits.length === 0) return [];
  const excerpt = printable(lines.slice(start, end));
  return hits.map(({ at, rule }) => finding(rule, lines.ofByte(at ?? start), excerpt));
}

async function blockFindings(
  { end, node, start }: Statement,
  lines: SourceLines,
  scope: Scope,
): Promise<readonly Finding[]> {
  const block = blockOf(node);
  if (block === undefined) return [];
  const text = lines.slice(start, end);
  const inside = block.language === "plpgsql" ? await parseBlock(text) : undefined;
  if (inside === undefined) return [finding("opaque-block", lines.ofByte(start), printable(text))];
  const opensOn = lines.ofByte(block.at ?? start);
  const findings: Finding[] = [];
  for (const { kind, line, text: query } of inside) {
    const fileLine = opensOn + line - 1;
    if (kind === "dynamic") {
      findings.push(finding("dynamic-sql", fileLine, printable(query)));
      continue;
    }
    for (const found of await queryFindings(query, scope)) {
      findings.push({ ...found, line: fileLine + found.line - 1 });
    }
  }
  return findings;
}

/** Findings of a query inside a block, with lines counted from the query's own first line. */
async function queryFindings(query: string, scope: Scope): Promise<readonly Finding[]> {
  const parsed: Parsed = await parseSql(query);
  if (!parsed.ok) return [finding("opaque-block", 1, printable(query))];
  return parsed.statements.flatMap((statement) => statementFindings(statement, parsed.lines, scope));
}

interface Block {
  readonly language: string;
  /** Byte offset at which the block's text opens. */
  readonly at: number | undefined;
}

function blockOf(node: Node): Block | undefined {
  const block = nodeOf("DoStmt", node);
  if (block === undefined) return undefined;
  const options = nodesOf("DefElem", block.args);
  const language = textOf(options.find(({ defname }) => defname === "language")?.arg) ?? "plpgsql";
  return { language, at: options.find(({ defname }) => defname === "as")?.location };
}

function finding(rule: RuleId, line: number, statement: string): Finding {
  return { rule, severity: rules[rule].severity, line, statement };
}
