import { reportRoot } from "@candor/contract";

/** A fenced block of an answer, by CommonMark's rules. Positions are in UTF-16 units. */
export interface FencedBlock {
  /** Its info word says yaml or yml. */
  readonly isYaml: boolean;
  /** The opening mark alone, without a word behind it. */
  readonly isBare: boolean;
  /** Line of the text on which the content begins, from 1. */
  readonly line: number;
  /** Where the content begins and ends. */
  readonly start: number;
  readonly end: number;
  /** Columns that the opening mark is indented by. */
  readonly indent: number;
  readonly isClosed: boolean;
  /** The last yaml block that begins inside and that the same closing mark would end. */
  readonly inner: FencedBlock | undefined;
}

export interface FenceScan {
  /** Blocks that may be the subagent's own report, first to last: yaml that names the root key. */
  readonly candidates: readonly FencedBlock[];
  /** The last block of the text. */
  readonly last: FencedBlock | undefined;
  /** What follows the last block. */
  readonly tail: string;
}

interface Mark {
  readonly mark: string;
  readonly length: number;
  readonly indent: number;
  readonly info: string;
}

interface Open extends Mark {
  readonly line: number;
  readonly start: number;
}

const yamlWord = /^ya?ml(?=\s|$)/i;

/** Finds the fenced blocks of an answer in one pass over its lines. */
export function scanFences(text: string): FenceScan {
  const candidates: FencedBlock[] = [];
  let last: FencedBlock | undefined;
  let tailStart = 0;
  let open: Open | undefined;
  let inner: Open | undefined;

  const finish = (end: number, isClosed: boolean): void => {
    if (open === undefined) return;
    const within = inner === undefined ? undefined : blockOf(inner, end, isClosed, undefined);
    last = blockOf(open, end, isClosed, within);
    // A closing mark has no word behind it, so a bare opening mark may be the end of a block whose beginning was missed.
    const own = last.isYaml ? last : last.isBare ? within : undefined;
    if (own !== undefined && text.slice(own.start, own.end).includes(reportRoot)) candidates.push(own);
    open = undefined;
    inner = undefined;
  };

  let line = 0;
  for (const { start, end, next } of linesOf(text)) {
    line += 1;
    const found = markAt(text, start, end);
    if (found === undefined) continue;
    if (open === undefined) {
      if (canOpen(found)) open = { ...found, line: line + 1, start: next };
    } else if (closes(found, open)) {
      if (inner !== undefined && !closes(found, inner)) inner = undefined;
      finish(start, true);
      tailStart = next;
    } else if (inner !== undefined && closes(found, inner)) {
      // It ends before the block around it does, so it is a quotation in there.
      inner = undefined;
    } else if (open.info === "" && found.mark === open.mark && canOpen(found) && yamlWord.test(found.info)) {
      inner = { ...found, line: line + 1, start: next };
    }
  }
  finish(text.length, false);
  return { candidates, last, tail: text.slice(tailStart) };
}

/** The content of a block, its own indent taken off each line and every line end made one kind. */
export function contentOf(text: string, { start, end, indent }: FencedBlock): string {
  const content = text.slice(start, end).replace(/\r\n?/g, "\n");
  return indent === 0 ? content : content.replace(new RegExp(`^ {1,${indent}}`, "gm"), "");
}

function blockOf(open: Open, end: number, isClosed: boolean, inner: FencedBlock | undefined): FencedBlock {
  const { info, line, start, indent } = open;
  return { isYaml: yamlWord.test(info), isBare: info === "", line, start, end, indent, isClosed, inner };
}

function closes({ mark, length, info }: Mark, open: Open): boolean {
  return mark === open.mark && length >= open.length && info === "";
}

/** The word behind an opening mark of backticks holds none itself: else it is code within a line. */
function canOpen({ mark, info }: Mark): boolean {
  return mark === "~" || !info.includes("`");
}

/** The mark that a line begins with, if it does. Most lines are told apart by their first characters. */
function markAt(text: string, start: number, end: number): Mark | undefined {
  let first = start;
  while (first < end && text[first] === " ") first += 1;
  const mark = text[first];
  if (first - start > 3 || (mark !== "`" && mark !== "~")) return undefined;
  let rest = first;
  while (rest < end && text[rest] === mark) rest += 1;
  const length = rest - first;
  return length < 3 ? undefined : { mark, length, indent: first - start, info: text.slice(rest, end).trim() };
}

function* linesOf(text: string): Generator<{ start: number; end: number; next: number }> {
  const lineEnd = /\r\n?|\n/g;
  // A byte order mark is not part of the first line.
  let start = text.startsWith("\ufeff") ? 1 : 0;
  lineEnd.lastIndex = start;
  while (start < text.length) {
    const found = lineEnd.exec(text);
    const end = found?.index ?? text.length;
    const next = found === null ? end : lineEnd.lastIndex;
    yield { start, end, next };
    start = next;
  }
}
