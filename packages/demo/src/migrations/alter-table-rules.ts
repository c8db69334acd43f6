import type { AlterTableCmd, AlterTableStmt, AlterTableType, ColumnDef, Constraint, ConstrType } from "libpg-query";
import type { Hit } from "./hit.js";
import { isCreatedHere, type Scope } from "./scope.js";
import type { RuleId } from "./rules.js";
import { lastName, nodeOf, nodesOf } from "./syntax.js";

type Commands = Partial<Record<AlterTableType, (command: AlterTableCmd) => readonly Hit[]>>;

const always = (rule: RuleId) => (): readonly Hit[] => [{ rule }];

/** Commands that are dangerous whatever table they change. */
const onAnyTable: Commands = {
  AT_DisableRowSecurity: always("row-security-off"),
  AT_NoForceRowSecurity: always("row-security-off"),
  AT_DisableTrigAll: always("triggers-off"),
  AT_DisableTrigUser: always("triggers-off"),
  AT_DisableTrig: always("triggers-off"),
};

/** Commands that are dangerous on a table that others use; one that the same file created is spared. */
const onUsedTable: Commands = {
  AT_DropColumn: always("drop-column"),
  AT_DropConstraint: always("drop-constraint"),
  AT_AlterColumnType: ({ def }) => [hitAt("alter-column-type", nodeOf("ColumnDef", def))],
  AT_SetNotNull: always("set-not-null"),
  AT_SetUnLogged: always("set-unlogged"),
  AT_SetLogged: always("rewrite-table"),
  AT_SetTableSpace: always("rewrite-table"),
  AT_SetAccessMethod: always("rewrite-table"),
  AT_AddConstraint: ({ def }) => constraintHits(nodeOf("Constraint", def)),
  AT_AddColumn: ({ def }) => columnHits(nodeOf("ColumnDef", def)),
};

/** Findings of one `ALTER TABLE`. */
export function alterTableHits(statement: AlterTableStmt, scope: Scope): readonly Hit[] {
  const isTable = statement.objtype === "OBJECT_TABLE";
  return nodesOf("AlterTableCmd", statement.cmds).flatMap((command) => {
    const cascade: readonly Hit[] = command.behavior === "DROP_CASCADE" ? [{ rule: "cascade" }] : [];
    const subtype = command.subtype;
    if (!isTable || subtype === undefined) return cascade;
    const used = isCreatedHere(scope, statement.relation) ? undefined : onUsedTable[subtype];
    return [...(onAnyTable[subtype]?.(command) ?? []), ...(used?.(command) ?? []), ...cascade];
  });
}

const validatingRules: Partial<Record<ConstrType, RuleId>> = {
  CONSTR_FOREIGN: "add-foreign-key-validates",
  CONSTR_CHECK: "add-check-validates",
  CONSTR_NOTNULL: "set-not-null",
};
const indexedConstraints = new Set<ConstrType | undefined>(["CONSTR_UNIQUE", "CONSTR_PRIMARY", "CONSTR_EXCLUSION"]);

function constraintHits(constraint: Constraint | undefined): readonly Hit[] {
  if (constraint?.contype === undefined) return [];
  if (indexedConstraints.has(constraint.contype)) {
    return constraint.indexname === undefined ? [hitAt("add-unique-locks", constraint)] : [];
  }
  const canBeUnenforced = constraint.contype !== "CONSTR_NOTNULL";
  const unchecked = constraint.skip_validation === true || (canBeUnenforced && constraint.is_enforced !== true);
  const rule = validatingRules[constraint.contype];
  return rule === undefined || unchecked ? [] : [hitAt(rule, constraint)];
}

const serialTypes = new Set(["serial", "serial2", "serial4", "serial8", "bigserial", "smallserial"]);
/** Functions that give another value for each row. `now()` and its like are one value a statement and rewrite nothing. */
const volatileFunctions = new Set([
  "random",
  "gen_random_uuid",
  "uuidv4",
  "uuidv7",
  "uuid_generate_v1",
  "uuid_generate_v4",
  "clock_timestamp",
  "timeofday",
  "nextval",
]);

function columnHits(column: ColumnDef | undefined): readonly Hit[] {
  if (column === undefined) return [];
  const constraints = nodesOf("Constraint", column.constraints);
  const has = (type: ConstrType): boolean => constraints.some(({ contype }) => contype === type);
  const isSerial = serialTypes.has(lastName(column.typeName?.names));
  const isStored = constraints.some((c) => c.contype === "CONSTR_GENERATED" && c.generated_kind === "s");
  const isFilled = isSerial || has("CONSTR_DEFAULT") || has("CONSTR_IDENTITY") || has("CONSTR_GENERATED");
  const isRequired = has("CONSTR_NOTNULL") || has("CONSTR_PRIMARY");
  const rewrites = isSerial || isStored || has("CONSTR_IDENTITY") || constraints.some(hasVolatileDefault);
  return [
    ...(isRequired && !isFilled ? [hitAt("add-not-null-column", column)] : []),
    ...(rewrites ? [hitAt("add-column-rewrites", column)] : []),
    // A new column is empty, so only rules that look at or index every row anyway count here.
    ...constraints.flatMap((c) =>
      c.contype === "CONSTR_CHECK" || indexedConstraints.has(c.contype) ? constraintHits(c) : [],
    ),
  ];
}

function hasVolatileDefault(constraint: Constraint): boolean {
  if (constraint.contype !== "CONSTR_DEFAULT") return false;
  const calls = functionNames(constraint.raw_expr);
  return calls.some((name) => volatileFunctions.has(name));
}

/** Names of all functions an expression calls, however deep. */
function functionNames(expression: unknown): readonly string[] {
  if (Array.isArray(expression)) return expression.flatMap(functionNames);
  if (typeof expression !== "object" || expression === null) return [];
  const call = "FuncCall" in expression ? nodeOf("FuncCall", { FuncCall: expression.FuncCall as object }) : undefined;
  const nested = Object.values(expression).flatMap(functionNames);
  return call === undefined ? nested : [lastName(call.funcname), ...nested];
}

function hitAt(rule: RuleId, place: { readonly location?: number } | undefined): Hit {
  return place?.location === undefined ? { rule } : { rule, at: place.location };
}
