import { type ReportReasonClass, reportRoot } from "@candor/contract";
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Pair, visit, type YAMLMap } from "yaml";
import { measureYaml, parseCoreYaml, type YamlBounds } from "../bounded-yaml.js";

/** The largest block that is read, in UTF-16 units: as much as one event of the wire holds. */
export const maxBlockLength = 256 * 1024;

/** Marks (lexemes and escapes) that are read of all blocks of one answer; they bound time and memory. */
export const maxMarks = 20_000;

/** Aliases of one block. They are looked up where a field needs one, and never written out. */
const maxAliases = 16;

const maxBrackets = 64;
const emptyBlockMarks = 10;

/** What a block has too much of, in words. */
const excesses: Readonly<Record<keyof YamlBounds, string>> = {
  length: `${maxBlockLength} characters`,
  marks: `${maxMarks} marks and escapes`,
  aliases: `${maxAliases} aliases`,
  brackets: `${maxBrackets} brackets inside each other`,
};

/** What is left to spend on the blocks of one answer. */
export interface ReadingBudget {
  marks: number;
}

/** What a block says, or why it can't be read. Offsets are in the block. */
export type BlockReading =
  | {
      readonly fields: unknown;
      readonly ignored: readonly string[];
      /** Where fields and items of lists stand, by their paths. */
      readonly places: ReadonlyMap<string, number>;
    }
  | { readonly reasonClass: ReportReasonClass; readonly sentence: string; readonly offset: number };

/** Classes of what the yaml package finds; anything else is a `yaml-error`. */
const classOf: Readonly<Partial<Record<string, ReportReasonClass>>> = {
  DUPLICATE_KEY: "duplicate-key",
  MULTIPLE_DOCS: "multiple-documents",
  TAG_RESOLVE_FAILED: "unsafe-yaml",
  RESOURCE_EXHAUSTION: "unsafe-yaml",
};

/**
 * Reads a block as YAML and takes the report's fields out of it.
 * Texts may be written as what YAML takes for a number or a flag (`notes: 1.10`): then their source counts.
 *
 * @param budget is spent; a block that would take more than is left is refused as `unsafe-yaml`
 */
export function readBlock(source: string, budget: ReadingBudget): BlockReading {
  const excess = excessOf(source, budget);
  if (excess !== undefined) return refusal("unsafe-yaml", `the block holds more than ${excess}`, 0);
  const document = parseCoreYaml(source);
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) {
    const reasonClass = classOf[fault.code] ?? "yaml-error";
    // Of these the class says all; the package's own words are for programmers.
    const isPlain = reasonClass === "multiple-documents" || reasonClass === "duplicate-key";
    return refusal(reasonClass, isPlain ? "" : fault.message, fault.pos[0]);
  }
  return aliasFault(document) ?? rootOf(document);
}

/** An alias that names no anchor before it; the package leaves that to whoever writes the aliases out. */
function aliasFault(document: Document.Parsed): BlockReading | undefined {
  let fault: BlockReading | undefined;
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document) !== undefined) return undefined;
      fault = refusal("yaml-error", `there is no anchor ${alias.source}`, startOf(alias));
      return visit.BREAK;
    },
  });
  return fault;
}

/** What a block has too much of. A block costs something even if it is empty. */
function excessOf(source: string, budget: ReadingBudget): string | undefined {
  budget.marks -= emptyBlockMarks;
  const bounds = { length: maxBlockLength, marks: budget.marks, aliases: maxAliases, brackets: maxBrackets };
  const { excess, marks } = measureYaml(source, bounds);
  budget.marks -= marks;
  return excess && excesses[excess];
}

function rootOf(document: Document.Parsed): BlockReading {
  const { contents } = document;
  const wrongRoot = refusal("wrong-root", `the root of the block is not the key ${reportRoot}`, 0);
  if (!isMap(contents)) return wrongRoot;
  const root = membersOf(contents);
  if (root === undefined) return strangeKey;
  const pair = root.get(reportRoot);
  if (pair === undefined) return wrongRoot;
  const ignored = [...root.keys()].filter((name) => name !== reportRoot);
  const places = new Map([[reportRoot, startOf(pair.key)]]);
  const report = resolved(document, pair.value);
  if (!isMap(report)) return { fields: isSeq(report) ? [] : scalarOf(report, false), ignored, places };
  const members = membersOf(report);
  if (members === undefined) return strangeKey;
  const entries = [...members].map(([name, { key, value }]) => {
    const path = `${reportRoot}.${name}`;
    places.set(path, startOf(key));
    return [name, valueOf(document, value, { path, isText: textFields.has(name), places })] as const;
  });
  // From entries, so that a key like __proto__ is a name among others.
  return { fields: Object.fromEntries(entries), ignored, places };
}

const strangeKey = refusal("unsafe-yaml", "a key of the block is not a plain text", 0);

/** Fields whose value is a text, where a number or a flag is taken by its source. Items of lists always are. */
const textFields: ReadonlySet<string> = new Set(["escalation-reason", "notes"]);

/** The members of a mapping by key; undefined if a key is a collection, an alias or null, and so could be any. */
function membersOf(map: YAMLMap): ReadonlyMap<string, Pair> | undefined {
  const members = new Map<string, Pair>();
  for (const pair of map.items) {
    if (!isScalar(pair.key) || pair.key.value === null) return undefined;
    const { value, source } = pair.key;
    members.set(typeof value === "string" ? value : (source ?? ""), pair);
  }
  return members;
}

interface Place {
  readonly path: string;
  readonly isText: boolean;
  readonly places: Map<string, number>;
}

/** A node as a plain value, lists one deep; what lies deeper stands as an empty mapping, since no field wants it. */
function valueOf(document: Document.Parsed, node: unknown, { path, isText, places }: Place): unknown {
  const target = resolved(document, node);
  if (!isSeq(target)) return isMap(target) ? {} : scalarOf(target, isText);
  return target.items.map((item, index) => {
    places.set(`${path}[${index}]`, startOf(item));
    const one = resolved(document, item);
    return isSeq(one) || isMap(one) ? {} : scalarOf(one, true);
  });
}

function scalarOf(node: unknown, isText: boolean): unknown {
  if (!isScalar(node)) return null;
  const isWritten = typeof node.value === "number" || typeof node.value === "boolean";
  return isText && isWritten ? (node.source ?? String(node.value)) : node.value;
}

function resolved(document: Document.Parsed, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

function startOf(node: unknown): number {
  return isNode(node) ? (node.range?.[0] ?? 0) : 0;
}

function refusal(reasonClass: ReportReasonClass, sentence: string, offset: number): BlockReading {
  return { reasonClass, sentence, offset };
}
