import { none } from "./kept.js";
import { cutText, type Action, type Finding, type FindingCode, type VerdictName } from "@candor/contract";

/** What a judge concludes; the lane adds place, cause and ordinal. */
export interface Judgement {
  readonly verdict: VerdictName;
  readonly action: Action;
  readonly final: boolean;
  readonly findings: readonly Finding[];
  /** How many more there were than are kept. */
  readonly dropped?: number;
}

/** Findings that are kept one by one; beyond them only the first of each code is, and the rest are counted. */
const mostKept = 1_000;
/** From so many on, what is known is looked up instead of searched for. */
const mostSearched = 16;

/** Findings in the order they were made, each code and subject once. */
export class FindingList {
  #findings: Finding[] | undefined;
  #known: Set<string> | undefined;
  #dropped = 0;

  get items(): readonly Finding[] {
    return this.#findings ?? none;
  }

  /** Findings that were made when as many as are kept were there. One that is made again counts again. */
  get dropped(): number {
    return this.#dropped;
  }

  get isEmpty(): boolean {
    return this.#findings === undefined;
  }

  has(code: FindingCode): boolean {
    return this.#known?.has(code) ?? this.items.some((finding) => finding.code === code);
  }

  /** Adds a finding; `about` is cut to what a verdict holds. The first of a code is always kept. */
  add(code: FindingCode, about?: string, seq?: number): void {
    const cut = about === undefined ? undefined : cutText(about, 256);
    if (this.#knows(code, cut)) return;
    if (this.items.length >= mostKept && this.has(code)) {
      this.#dropped += 1;
      return;
    }
    (this.#findings ??= []).push({
      code,
      ...(seq === undefined ? {} : { seq }),
      ...(cut === undefined ? {} : { about: cut }),
    });
    if (this.#known !== undefined) remember(this.#known, code, cut);
  }

  addAll(other: FindingList): void {
    for (const { code, about, seq } of other.items) this.add(code, about, seq);
    this.#dropped += other.dropped;
  }

  /** A list of its own with the same findings. */
  copy(): FindingList {
    const copy = new FindingList();
    if (this.#findings !== undefined) copy.#findings = [...this.#findings];
    copy.#dropped = this.#dropped;
    return copy;
  }

  #knows(code: FindingCode, about: string | undefined): boolean {
    if (this.items.length < mostSearched)
      return this.items.some((finding) => finding.code === code && finding.about === about);
    if (this.#known === undefined) {
      this.#known = new Set();
      for (const finding of this.items) remember(this.#known, finding.code, finding.about);
    }
    return this.#known.has(nameOf(code, about));
  }
}

function nameOf(code: FindingCode, about: string | undefined): string {
  return `${code}${about === undefined ? "" : `\n${about}`}\n`;
}

/** A code has no line break, so that it can't be taken for a name. */
function remember(known: Set<string>, code: FindingCode, about: string | undefined): void {
  known.add(code);
  known.add(nameOf(code, about));
}
