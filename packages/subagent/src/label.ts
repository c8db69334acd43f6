import { CandorError, isLabel } from "@candor/contract";

/** @throws CandorError `bad-argument` for a name that can't go onto the wire. */
export function requireLabel(text: string, what: string): void {
  if (isLabel(text)) return;
  throw new CandorError(
    "bad-argument",
    `${what} must have 1–128 characters, none of them a control character or half a character (a lone surrogate); put longer text into a caveat or the summary.`,
    { path: what },
  );
}
