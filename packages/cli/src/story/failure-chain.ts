import { hex, type PropagatedFailure, type Stated } from "@candor/contract";
import type { Context } from "../context.js";
import { formatDuration } from "../duration.js";
import { printable } from "../output/printable.js";
import { table } from "../output/table.js";

const words = ({ type, finality }: Stated): string => `${type}, ${finality}`;

/** The way of a failure up: where it began, and what each layer saw, did and said. */
export function chainTable({ terminal }: Context, { origin, layers }: PropagatedFailure): string {
  const { colors } = terminal;
  return table(
    terminal,
    ["TASK", "EPOCH", "AGENT", "SAW", "DID", "SAYS", "DOWNGRADED", "WHEN (AGENT'S CLOCK)"],
    [
      [origin.task, `${origin.epoch}`, origin.actor, "–", "failed", words(origin), "–", "–"],
      ...layers.map(({ task, epoch, actor, saw, did, says, downgraded, at }) => [
        task,
        `${epoch}`,
        actor,
        words(saw),
        did,
        words(says),
        downgraded ? colors.red("yes") : "no",
        new Date(at).toISOString(),
      ]),
    ],
  );
}

/** What a failure came to, in a few lines. */
export function failureLines(failure: PropagatedFailure): (readonly [name: string, value: string])[] {
  const { severity, operation, upstream, attempt, attempts, effects, effectsOmitted, retryAfterMs } = failure;
  const { evidence = [], evidenceOmitted = 0 } = failure;
  const found = evidence.map(({ actor, hash, size }) => `${hex(hash)} of ${actor}, ${size} bytes`);
  const more = evidenceOmitted === 0 ? [] : [`and ${evidenceOmitted} more`];
  const tried = attempts.map((prior) => `attempt ${prior.attempt} ${prior.type}`);
  const happened = effects.map(({ intent, key, identifiers }) =>
    [intent, `key ${key}`, ...Object.entries(identifiers).map(([name, value]) => `${name} ${value}`)].join(" "),
  );
  return [
    ["failed with", `${words(failure)}; severity ${severity}`],
    ["in", printable(upstream === undefined ? operation : `${operation} at ${upstream}`)],
    ["tried", [...tried, `attempt ${attempt} ${failure.type}`].join(", ")],
    ...(retryAfterMs === undefined ? [] : [["asked to wait", formatDuration(retryAfterMs)] as const]),
    [
      "had happened",
      happened.length === 0
        ? "no effect"
        : printable([...happened, ...(effectsOmitted === 0 ? [] : [`and ${effectsOmitted} before`])].join("; ")),
    ],
    ...(evidence.length === 0 ? [] : [["had found", [...found, ...more].join("; ")] as const]),
  ];
}
