import type { EffectRow } from "./effect-chaos.js";
import type { EffectResult } from "./effect-points.js";

const restartWords = { spool: "its spool", epoch: "a new epoch" } as const;

function resultText(result: EffectResult | string): string {
  if (typeof result === "string") return result;
  return `${result.end}, ${result.payments} ${result.payments === 1 ? "payment" : "payments"}`;
}

/** What had to come out of each case beside what did, for people. */
export function effectTable(rows: readonly EffectRow[]): string {
  const head = ["KILLED", "GOES ON WITH", "IN DOUBT", "EXPECTED", "HAPPENED", ""];
  const cells = rows.map(({ point, restart, inDoubt, expected, happened, good }) => [
    point.name,
    restartWords[restart],
    inDoubt,
    resultText(expected),
    resultText(happened),
    good ? "as expected" : "DIFFERS",
  ]);
  const widths = head.map((title, i) => Math.max(title.length, ...cells.map((row) => row[i]?.length ?? 0)));
  return [head, ...cells]
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
