import { CandorError } from "@candor/contract";
import { isAlias, isMap, isScalar, isSeq } from "yaml";
import { measureYaml, parseCoreYaml, type YamlBounds } from "../bounded-yaml.js";

/** The largest file that is read, in UTF-16 units; a policy has about 4,000. */
const maxLength = 64 * 1024;
/** Marks of the language in a file; a policy has about 1,500. */
const maxMarks = 20_000;
/** Mappings and lists inside each other; a policy has five. */
const maxDepth = 16;
const longestPath = 256;

function refuse(path: string, what: string): never {
  throw new CandorError("bad-file", `The policy can't be read${path === "" ? "" : ` at ${path}`}: ${what}.`, { path });
}

const bounds: YamlBounds = { length: maxLength, marks: maxMarks, aliases: 0, brackets: maxDepth };
const anAlias = "it has an alias, and a policy says everything where it stands";

function requireSmall(text: string): void {
  switch (measureYaml(text, bounds).excess) {
    case undefined:
      return;
    case "length":
      throw new CandorError("too-large", `The policy has ${text.length} characters, and ${maxLength} are read.`);
    case "aliases":
      return refuse("", anAlias);
    case "brackets":
      return refuse("", `it has more than ${maxDepth} brackets inside each other`);
    case "marks":
      return refuse("", `it has more than ${maxMarks} marks`);
  }
}

/** A node as a plain value, by hand: nothing is written out twice, and no name is anything but a name. */
function plain(node: unknown, path: string, depth: number): unknown {
  if (depth > maxDepth) refuse(path, `it has more than ${maxDepth} levels`);
  if (isAlias(node)) refuse(path, anAlias);
  if (isScalar(node)) return node.value;
  if (isSeq(node)) return node.items.map((item, index) => plain(item, join(path, String(index)), depth + 1));
  if (!isMap(node)) return null;
  const entries = node.items.map(({ key, value }) => {
    if (!isScalar(key) || typeof key.value !== "string") refuse(path, "a key is not a text");
    return [key.value, plain(value, join(path, key.value), depth + 1)] as const;
  });
  return Object.fromEntries(entries);
}

function join(path: string, name: string): string {
  const safe = name.replace(/\p{Cc}/gu, "?");
  return (path === "" ? safe : `${path}.${safe}`).slice(0, longestPath);
}

/** Number of the line that an offset is on, from 1. */
function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/**
 * Reads YAML 1.2 (and JSON, which is a part of it) as plain values: no aliases, no tags, each key once, bounded in length
 * and depth.
 *
 * @throws CandorError `bad-file` with the path of the place, `too-large`
 */
export function readPlainYaml(text: string): unknown {
  requireSmall(text);
  const document = parseCoreYaml(text);
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) refuse(`line ${lineOf(text, fault.pos[0])}`, fault.message.replace(/[.:]?\s*$/, ""));
  return plain(document.contents, "", 0);
}
