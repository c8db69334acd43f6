import { none } from "./kept.js";
import type { Action, Finding, FindingCode, VerdictName } from "@candor/contract";

/** What a judge concludes; the lane adds place, cause and ordinal. */
export interface Judgement {
  readonly verdict: VerdictName;
  readonly action: Action;
  readonly final: boolean;
  readonly findings: readonly Finding[];
}

/** Findings in the order they were made, each code and subject once. */
export class FindingList {
  #findings: Finding[] | undefined;

  get items(): readonly Finding[] {
    return this.#findings ?? none;
  }

  get isEmpty(): boolean {
    return this.#findings === undefined;
  }

  has(code: FindingCode): boolean {
    return this.items.some((finding) => finding.code === code);
  }

  /** Adds a finding; `about` is cut to what a verdict holds. At most 1,000 are kept: the first ones. */
  add(code: FindingCode, about?: string, seq?: number): void {
    const cut = about?.slice(0, 256);
    if (this.items.length >= 1000) return;
    if (this.items.some((finding) => finding.code === code && finding.about === cut)) return;
    (this.#findings ??= []).push({
      code,
      ...(seq === undefined ? {} : { seq }),
      ...(cut === undefined ? {} : { about: cut }),
    });
  }
}
