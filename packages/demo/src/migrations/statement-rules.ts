import type { DropStmt, GrantStmt, Node, ObjectType, WithClause } from "libpg-query";
import { alterTableHits } from "./alter-table-rules.js";
import type { Hit } from "./hit.js";
import type { RuleId } from "./rules.js";
import { droppedTables, foldScope, isCreatedHere, type Scope } from "./scope.js";
import { isAlwaysTrue, kindOf, nodeOf, nodesOf, optionOn, textOf, type NodeKind, type NodeOf } from "./syntax.js";

type Finders = { readonly [K in NodeKind]?: (statement: NodeOf<K>, scope: Scope) => readonly Hit[] };

const when = (condition: boolean, rule: RuleId): readonly Hit[] => (condition ? [{ rule }] : []);

/** Lock modes are numbered as in PostgreSQL's `lockdefs.h`; from SHARE (5) on a lock keeps writers out. */
const shareLock = 5;

const replicaRole = (name: string | undefined, args: readonly Node[] | undefined): boolean =>
  name === "session_replication_role" && textOf(args?.[0]) === "replica";

const finders: Finders = {
  AlterTableStmt: alterTableHits,
  AlterDefaultPrivilegesStmt: ({ action }) => (action === undefined ? [] : grantHits(action)),
  AlterObjectSchemaStmt: ({ objectType, relation }, scope) =>
    when(objectType === "OBJECT_TABLE" && !isCreatedHere(scope, relation), "rename-table"),
  AlterRoleStmt: ({ options }) => when(isAboveRules(options), "role-above-rules"),
  ClusterStmt: () => [{ rule: "rewrite-table" }],
  CreateRoleStmt: ({ options }) => when(isAboveRules(options), "role-above-rules"),
  DeleteStmt: ({ relation, whereClause }, scope) =>
    when(isAlwaysTrue(whereClause) && !isCreatedHere(scope, relation), "delete-without-where"),
  DropdbStmt: (_statement, { inTransaction }) => [
    { rule: "drop-database" },
    ...when(inTransaction, "not-in-transaction"),
  ],
  DropOwnedStmt: ({ behavior }) => [{ rule: "drop-owned" }, ...when(behavior === "DROP_CASCADE", "cascade")],
  DropStmt: dropHits,
  GrantStmt: grantHits,
  IndexStmt: ({ concurrent, relation }, { inTransaction, ...scope }) => [
    ...when(concurrent !== true && !isCreatedHere({ inTransaction, ...scope }, relation), "create-index-locks"),
    ...when(concurrent === true && inTransaction, "not-in-transaction"),
  ],
  LockStmt: ({ mode, relations }, scope) =>
    when(
      (mode ?? 0) >= shareLock && nodesOf("RangeVar", relations).some((table) => !isCreatedHere(scope, table)),
      "lock-table",
    ),
  ReindexStmt: ({ params }, { inTransaction }) => {
    const concurrent = optionOn(params, "concurrently");
    return [...when(!concurrent, "reindex-locks"), ...when(concurrent && inTransaction, "not-in-transaction")];
  },
  RenameStmt: ({ relation, relationType, renameType }, scope) => {
    if (isCreatedHere(scope, relation)) return [];
    if (renameType === "OBJECT_TABLE") return [{ rule: "rename-table" }];
    return when(renameType === "OBJECT_COLUMN" && relationType === "OBJECT_TABLE", "rename-column");
  },
  TruncateStmt: ({ behavior, relations }, scope) => [
    ...when(
      nodesOf("RangeVar", relations).some((table) => !isCreatedHere(scope, table)),
      "truncate",
    ),
    ...when(behavior === "DROP_CASCADE", "cascade"),
  ],
  UpdateStmt: ({ relation, whereClause }, scope) =>
    when(isAlwaysTrue(whereClause) && !isCreatedHere(scope, relation), "update-without-where"),
  VacuumStmt: ({ is_vacuumcmd: isVacuum, options }, { inTransaction }) => [
    ...when(isVacuum === true && optionOn(options, "full"), "vacuum-full"),
    ...when(isVacuum === true && inTransaction, "not-in-transaction"),
  ],
  VariableSetStmt: ({ args, name }) => when(replicaRole(name, args), "triggers-off"),
};

/** Findings of one statement and of the statements inside it (common table expressions, schema elements). */
export function statementHits(node: Node, scope: Scope): readonly Hit[] {
  const kind = kindOf(node);
  // The table is typed by kind; looking the kind up gives back the finder for exactly this node.
  const find = finders[kind] as ((statement: unknown, scope: Scope) => readonly Hit[]) | undefined;
  return [...(find?.(nodeOf(kind, node), scope) ?? []), ...innerHits(node, scope)];
}

function innerHits(node: Node, scope: Scope): readonly Hit[] {
  let inner = scope;
  return innerStatements(node).flatMap((statement) => {
    const hits = statementHits(statement, inner);
    inner = foldScope(inner, statement);
    return hits;
  });
}

function innerStatements(node: Node): readonly Node[] {
  const schema = nodeOf("CreateSchemaStmt", node);
  if (schema !== undefined) return schema.schemaElts ?? [];
  const query =
    nodeOf("SelectStmt", node) ??
    nodeOf("InsertStmt", node) ??
    nodeOf("UpdateStmt", node) ??
    nodeOf("DeleteStmt", node) ??
    nodeOf("MergeStmt", node);
  return withQueries(query?.withClause);
}

function withQueries(clause: WithClause | undefined): readonly Node[] {
  return nodesOf("CommonTableExpr", clause?.ctes).flatMap(({ ctequery }) => (ctequery === undefined ? [] : [ctequery]));
}

const dropRules: Partial<Record<ObjectType, RuleId>> = {
  OBJECT_SCHEMA: "drop-schema",
  OBJECT_TABLE: "drop-table",
};

function dropHits({ behavior, concurrent, objects, removeType }: DropStmt, scope: Scope): readonly Hit[] {
  const cascade = when(behavior === "DROP_CASCADE", "cascade");
  if (removeType === "OBJECT_INDEX") {
    const blocked = concurrent === true && scope.inTransaction;
    return [...when(concurrent !== true, "drop-index-locks"), ...when(blocked, "not-in-transaction"), ...cascade];
  }
  const rule = removeType === undefined ? undefined : dropRules[removeType];
  const onlyOwn = removeType === "OBJECT_TABLE" && droppedTables(objects).every((name) => scope.created.has(name));
  return [...(rule === undefined || onlyOwn ? [] : [{ rule }]), ...cascade];
}

function grantHits({ grantees, is_grant: isGrant, privileges }: GrantStmt): readonly Hit[] {
  if (isGrant !== true) return [];
  const toPublic = nodesOf("RoleSpec", grantees).some(({ roletype }) => roletype === "ROLESPEC_PUBLIC");
  // ALL is written as no list of privileges.
  return [...when(privileges === undefined, "grant-all"), ...when(toPublic, "grant-public")];
}

function isAboveRules(options: readonly Node[] | undefined): boolean {
  return optionOn(options, "superuser") || optionOn(options, "bypassrls");
}
