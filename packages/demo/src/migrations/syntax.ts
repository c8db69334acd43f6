import type { DefElem, Node } from "libpg-query";

/** The parse tree's nodes by name: `{ DropStmt: DropStmt, … }`. */
type Bodies = { [N in Node as keyof N]: N[keyof N] };
/** Name of a node of the parse tree, like `DropStmt`. */
export type NodeKind = keyof Bodies;
export type NodeOf<K extends NodeKind> = Bodies[K];

/** The inside of a node of the given kind, or undefined when it is another kind or there is none. */
export function nodeOf<K extends NodeKind>(kind: K, node: Node | undefined): NodeOf<K> | undefined {
  // Each node is an object with exactly one of the names.
  return (node as Partial<Bodies> | undefined)?.[kind];
}

/** The insides of those nodes of a list that are of the given kind. */
export function nodesOf<K extends NodeKind>(kind: K, nodes: readonly Node[] | undefined): readonly NodeOf<K>[] {
  return (nodes ?? []).map((node) => nodeOf(kind, node)).filter((inside) => inside !== undefined);
}

export function kindOf(node: Node): NodeKind {
  return Object.keys(node)[0] as NodeKind;
}

export function textOf(node: Node | undefined): string | undefined {
  return nodeOf("String", node)?.sval ?? nodeOf("A_Const", node)?.sval?.sval;
}

/** Last part of a dotted name: `gen_random_uuid` of `pg_catalog.gen_random_uuid`. */
export function lastName(names: readonly Node[] | undefined): string {
  return textOf(names?.at(-1)) ?? "";
}

/** True for an option that is given and not given as off, like `FULL` or `(FULL on)`, not `(FULL false)`. */
export function optionOn(options: readonly Node[] | undefined, name: string): boolean {
  return nodesOf("DefElem", options).some((option: DefElem) => {
    if (option.defname !== name) return false;
    const value = nodeOf("Boolean", option.arg);
    // A false Boolean is written without its `boolval`.
    if (value !== undefined) return value.boolval === true;
    const number = nodeOf("Integer", option.arg);
    if (number !== undefined) return (number.ival ?? 0) !== 0;
    return !["false", "off"].includes(textOf(option.arg) ?? "on");
  });
}

/** True for a condition that holds for every row, like `true` or `1 = 1`, and for no condition at all. */
export function isAlwaysTrue(condition: Node | undefined): boolean {
  if (condition === undefined) return true;
  if (nodeOf("A_Const", condition)?.boolval?.boolval === true) return true;
  const comparison = nodeOf("A_Expr", condition);
  if (comparison?.kind !== "AEXPR_OP" || lastName(comparison.name) !== "=") return false;
  const [left, right] = [nodeOf("A_Const", comparison.lexpr), nodeOf("A_Const", comparison.rexpr)];
  if (left === undefined || right === undefined || left.isnull === true) return false;
  return JSON.stringify({ ...left, location: 0 }) === JSON.stringify({ ...right, location: 0 });
}
