import type { Context } from "../context.js";
import { printable } from "../output/printable.js";
import { listing, table } from "../output/table.js";
import { chainTable, failureLines } from "./failure-chain.js";
import type { EpochStory, StoryLine, TaskStory } from "./task-story.js";
import type { PublishedVerdict } from "./run-log.js";

/** Clock time with milliseconds; the day stands once at the top. */
export function timeOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(11, 23);
}

const actionColors = {
  proceed: "green",
  wait: "yellow",
  verify: "yellow",
  probe: "yellow",
  approve: "yellow",
} as const;

/** An action or verdict in the colour of its seriousness. */
export function painted({ terminal: { colors } }: Context, action: string, text = action): string {
  const name = Object.hasOwn(actionColors, action) ? actionColors[action as keyof typeof actionColors] : "red";
  return colors[name](text);
}

function section({ terminal }: Context, title: string, body: string): string {
  return `${terminal.colors.bold(title)}\n${body}`;
}

function epochTable({ terminal }: Context, epochs: readonly EpochStory[]): string {
  return table(
    terminal,
    ["EPOCH", "AGENT", "EVENTS", "ERRORS", "RETRIES", "EFFECTS", "CLAIM", "ENDED", "BRIEF"],
    epochs.map(
      ({
        epoch,
        agent,
        events,
        errors,
        retries,
        effects,
        claim = "–",
        finishReason = "–",
        title = "",
        instructions = "",
      }) => [
        `${epoch}`,
        agent,
        `${events}`,
        `${errors}`,
        `${retries}`,
        `${effects}`,
        claim,
        finishReason,
        printable([title, instructions].filter((text) => text !== "").join(": ")),
      ],
    ),
  );
}

function logTable({ terminal }: Context, lines: readonly StoryLine[]): string {
  const { colors } = terminal;
  const paint: Partial<Record<StoryLine["kind"], (text: string) => string>> = {
    error: colors.red,
    refused: colors.red,
    retry: colors.yellow,
    effect: colors.cyan,
    report: colors.bold,
  };
  return table(
    terminal,
    ["LOG", "TIME", "EPOCH", "BY", "NO.", "KIND", "WHAT"],
    lines.map(({ seq, atMs, epoch, actor, number, kind, what }) => [
      `${seq}`,
      timeOf(atMs),
      epoch === 0 ? "–" : `${epoch}`,
      printable(actor),
      number === 0 ? "–" : `${number}`,
      paint[kind]?.(kind) ?? kind,
      printable(what),
    ]),
  );
}

function verdictTable(context: Context, verdicts: readonly PublishedVerdict[]): string {
  return table(
    context.terminal,
    ["JUDGE", "NO.", "EPOCH", "VERDICT", "ACTION", "FINAL", "CAUSE", "GUARD", "SENTENCE"],
    verdicts.map(({ judge, ordinal, epoch, verdict, action, final, cause, guard, sentence }) => [
      judge,
      `${ordinal}`,
      `${epoch}`,
      verdict,
      painted(context, action),
      final ? "yes" : "no",
      `${cause.first}–${cause.last}`,
      guard,
      printable(sentence),
    ]),
  );
}

function findingTable({ terminal }: Context, verdicts: readonly PublishedVerdict[]): string | undefined {
  const rows = verdicts.flatMap(({ judge, ordinal, findings }) =>
    findings.map(({ code, seq, about = "" }) => [
      terminal.colors.red(code),
      judge,
      `${ordinal}`,
      seq === undefined ? "–" : `${seq}`,
      printable(about),
    ]),
  );
  return rows.length === 0 ? undefined : table(terminal, ["FINDING", "JUDGE", "NO.", "LOG", "ABOUT"], rows);
}

const proseNotes = {
  there: undefined,
  erased: "The run's data key is erased: prose can't be read any more.",
  withheld: "Prose is sealed: the operator can read it (--credentials of the operator).",
} as const;

/** A task's story as text. */
export function taskText(context: Context, story: TaskStory): string {
  const {
    run,
    task,
    lane,
    fleet = "unknown",
    standing = "unknown",
    action,
    final,
    epochs,
    failure,
    log,
    verdicts,
  } = story;
  const findings = findingTable(context, verdicts);
  const note = proseNotes[story.prose];
  const first = log[0];
  return [
    listing(context.terminal, [
      ["task", `${task} of run ${run}, lane ${lane}`],
      ["fleet", fleet],
      ["standing", standing],
      ["action", action === undefined ? "none yet" : `${painted(context, action)}${final ? "" : " (not final)"}`],
      ["from", first === undefined ? "–" : new Date(first.atMs).toISOString()],
    ]),
    section(context, "Epochs", epochTable(context, epochs)),
    ...(failure === undefined
      ? []
      : [
          section(context, "Failure", listing(context.terminal, failureLines(failure))),
          section(context, "How it came up", chainTable(context, failure)),
        ]),
    section(context, "Log", logTable(context, log)),
    ...(verdicts.length === 0
      ? ["No guard has judged it yet."]
      : [section(context, "Verdicts", verdictTable(context, verdicts))]),
    ...(findings === undefined ? [] : [section(context, "Findings (candor explain <finding>)", findings)]),
    ...(note === undefined ? [] : [note]),
  ].join("\n\n");
}

/** One row a task. */
export function taskRows(context: Context, stories: readonly TaskStory[]): string {
  return table(
    context.terminal,
    ["TASK", "EPOCH", "AGENT", "STANDING", "EVENTS", "ERRORS", "RETRIES", "EFFECTS", "ACTION", "FINAL", "VERDICT"],
    stories.map(({ task, standing = "–", epochs, action, final, decidedBy }) => {
      const epoch = epochs.at(-1);
      return [
        task,
        `${epoch?.epoch ?? "–"}`,
        epoch?.agent ?? "–",
        standing,
        `${epoch?.events ?? 0}`,
        `${epoch?.errors ?? 0}`,
        `${epoch?.retries ?? 0}`,
        `${epoch?.effects ?? 0}`,
        action === undefined ? "–" : painted(context, action),
        final ? "yes" : "no",
        decidedBy?.verdict ?? "–",
      ];
    }),
  );
}
