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
  readonly #findings: Finding[] = [];

  get items(): readonly Finding[] {
    return this.#findings;
  }

  get isEmpty(): boolean {
    return this.#findings.length === 0;
  }

  has(code: FindingCode): boolean {
    return this.#findings.some((finding) => finding.code === code);
  }

  /** Adds a finding; `about` is cut to what a verdict holds. At most 1,000 are kept: the first ones. */
  add(code: FindingCode, about?: string, seq?: number): void {
    const cut = about?.slice(0, 256);
    if (this.#findings.length >= 1000) return;
    if (this.#findings.some((finding) => finding.code === code && finding.about === cut)) return;
    this.#findings.push({
      code,
      ...(seq === undefined ? {} : { seq }),
      ...(cut === undefined ? {} : { about: cut }),
    });
  }
}
