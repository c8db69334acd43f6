import type { Node, RangeVar } from "libpg-query";
import { nodeOf, nodesOf, textOf } from "./syntax.js";

/** What earlier statements of the same file mean for the next one. */
export interface Scope {
  /** Tables that the file itself created: new, empty, used by nobody yet. */
  readonly created: ReadonlySet<string>;
  readonly inTransaction: boolean;
}

export const initialScope: Scope = { created: new Set(), inTransaction: false };

const nameKey = (schema: string | undefined, name: string | undefined): string =>
  schema === undefined || schema === "public" ? (name ?? "") : `${schema}.${name ?? ""}`;

const tableKey = (table: RangeVar): string => nameKey(table.schemaname, table.relname);

/** True when an earlier statement of the file created the table. */
export function isCreatedHere(scope: Scope, table: RangeVar | undefined): boolean {
  return table !== undefined && scope.created.has(tableKey(table));
}

/** Dotted names of a `DROP`, as one key each. */
export function droppedTables(objects: readonly Node[] | undefined): readonly string[] {
  return nodesOf("List", objects).map(({ items }) => {
    const parts = (items ?? []).map((item) => textOf(item));
    return nameKey(parts.at(-2), parts.at(-1));
  });
}

const opening = new Set(["TRANS_STMT_BEGIN", "TRANS_STMT_START"]);
const closing = new Set(["TRANS_STMT_COMMIT", "TRANS_STMT_ROLLBACK", "TRANS_STMT_PREPARE"]);

/** Scope after a statement. */
export function foldScope(scope: Scope, node: Node): Scope {
  const table =
    nodeOf("CreateStmt", node)?.relation ??
    nodeOf("CreateTableAsStmt", node)?.into?.rel ??
    nodeOf("SelectStmt", node)?.intoClause?.rel;
  if (table !== undefined) return { ...scope, created: new Set([...scope.created, tableKey(table)]) };

  const schema = nodeOf("CreateSchemaStmt", node);
  if (schema !== undefined) return (schema.schemaElts ?? []).reduce(foldScope, scope);

  const renamed = nodeOf("RenameStmt", node);
  if (renamed?.renameType === "OBJECT_TABLE" && isCreatedHere(scope, renamed.relation)) {
    const name = nameKey(renamed.relation?.schemaname, renamed.newname);
    return { ...scope, created: new Set([...scope.created, name]) };
  }

  const dropped = nodeOf("DropStmt", node);
  if (dropped?.removeType === "OBJECT_TABLE") {
    const gone = new Set(droppedTables(dropped.objects));
    return { ...scope, created: new Set([...scope.created].filter((name) => !gone.has(name))) };
  }

  const transaction = nodeOf("TransactionStmt", node)?.kind;
  if (transaction === undefined) return scope;
  const opens = opening.has(transaction);
  return opens || closing.has(transaction) ? { ...scope, inTransaction: opens } : scope;
}
