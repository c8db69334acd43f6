import { CandorError } from "@candor/contract";

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const whole = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const part = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

function isUnit(text: string | undefined): text is keyof typeof unitMs {
  return text !== undefined && text in unitMs;
}

/**
 * Reads a length of time such as `30s`, `500ms`, `1.5h` or `1m30s`. The unit is never guessed.
 *
 * @returns whole milliseconds
 * @throws CandorError `bad-argument`
 */
export function parseDuration(text: string): number {
  const trimmed = text.trim().toLowerCase();
  if (!whole.test(trimmed)) {
    throw new CandorError(
      "bad-argument",
      `${JSON.stringify(text.slice(0, 40))} is no length of time: write a number and a unit, like 30s, 500ms, 2m or 1m30s.`,
    );
  }
  let sum = 0;
  for (const [, amount, unit] of trimmed.matchAll(part)) {
    if (isUnit(unit)) sum += Number(amount) * unitMs[unit];
  }
  const milliseconds = Math.round(sum);
  if (Number.isSafeInteger(milliseconds)) return milliseconds;
  throw new CandorError("bad-argument", `${JSON.stringify(text.slice(0, 40))} is too long a time.`);
}

/** A length of time for people: `850 ms`, `12.3 s`, `4 m 5 s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < unitMs.s) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < unitMs.m) return `${(milliseconds / unitMs.s).toFixed(1)} s`;
  const units = [
    ["d", unitMs.d],
    ["h", unitMs.h],
    ["m", unitMs.m],
    ["s", unitMs.s],
  ] as const;
  let rest = Math.round(milliseconds / unitMs.s) * unitMs.s;
  const parts: string[] = [];
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count} ${unit}`);
    rest -= count * size;
  }
  return parts.slice(0, 2).join(" ");
}
