import { CandorError } from "@candor/contract";

/**
 * Reads which lanes a guard runs.
 * @param text `all`, or numbers and ranges like `0,3,8-11`
 * @param count how many lanes there are
 * @throws CandorError `bad-argument`
 */
export function readLanes(text: string, count: number): number[] {
  if (text === "all") return Array.from({ length: count }, (_, lane) => lane);
  const lanes = text.split(",").flatMap((part) => readRange(part.trim(), count));
  return [...new Set(lanes)].sort((a, b) => a - b);
}

function readRange(part: string, count: number): number[] {
  const { from, to = from } = /^(?<from>\d{1,4})(?:-(?<to>\d{1,4}))?$/.exec(part)?.groups ?? {};
  const [first, last] = [Number(from), Number(to)];
  if (from === undefined || first > last || last >= count) {
    throw new CandorError(
      "bad-argument",
      `${JSON.stringify(part)} names no lanes: there are ${count}, so use "all", or numbers and ranges from 0 to ${count - 1} like "0,2-3".`,
      { path: "lanes" },
    );
  }
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}
