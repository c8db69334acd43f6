interface RefusalRow {
  /** What a report must be like; the sentence of a refusal adds what was found instead. */
  readonly must: string;
  /** What whoever writes the subagent does about it. */
  readonly todo: string;
}

/** Why a report is refused: closed, with what to do about each. */
export const reportReasonClasses = {
  "no-block": {
    must: "the answer must end with one fenced yaml block whose root key is upward-report",
    todo: "End the answer with a line ```yaml, the report, and a line ```; not quoted, and not inside another fence.",
  },
  "block-not-last": {
    must: "the report must be the last thing in the answer",
    todo: "Move whatever follows the report's closing fence above it.",
  },
  "multiple-blocks": {
    must: "the answer must hold one report only",
    todo: "Leave out all reports but the last; quote earlier ones with > marks.",
  },
  "unclosed-fence": {
    must: "the report's fence must be closed",
    todo: "Close it with a line of its own with the same marks; if the answer was cut off, raise its length limit.",
  },
  "yaml-error": {
    must: "the block must be valid YAML 1.2",
    todo: "Correct the line; put quotes around texts that hold ': ' or ' #', or begin with one of * & ! @ ` { [ \" ' % |.",
  },
  "duplicate-key": { must: "each key must stand there once", todo: "Leave out one of the two." },
  "unsafe-yaml": {
    must: "the block must be small and plain: no tags of its own, few aliases, little nesting",
    todo: "Write plain texts, numbers, true or false, and lists; move the bulk into evidence.",
  },
  "multiple-documents": { must: "the block must hold one YAML document", todo: "Leave out the --- lines between." },
  "wrong-root": {
    must: "the root must be the key upward-report with the fields below it",
    todo: "Begin with the line upward-report: and indent the fields by two.",
  },
  "missing-field": {
    must: "the field must be there (only notes and escalation-reason may be left out)",
    todo: "Add it, under exactly this name.",
  },
  "invalid-status": {
    must: "the status must be completed, failed, blocked or denied-by-authority",
    todo: "Choose the one that fits; say the rest in notes.",
  },
  "confidence-not-number": {
    must: "the confidence must be a number",
    todo: "Write a number without quotes, like 0.8.",
  },
  "confidence-out-of-range": { must: "the confidence must be from 0 to 1", todo: "Write 0.8, not 8 or 80." },
  "not-boolean": { must: "the flag must be true or false", todo: "Write true or false without quotes, not yes or no." },
  "not-a-list": { must: "the field must be a list", todo: "Write [] for none, else a line with - for each item." },
  "item-not-string": {
    must: "the item must be a text",
    todo: 'Put quotes around it: "src/a.ts:42: unexpected token".',
  },
  "empty-item": { must: "the item must not be empty", todo: "Say it concretely, or leave the item out." },
  "missing-blockers": {
    must: "a blocked report must name what blocks it",
    todo: "Name at least one: a file and line, an error, a missing dependency.",
  },
  "missing-escalation-reason": {
    must: "the reason must be a text",
    todo: "Say in one text why a person is needed, or leave the field out.",
  },
  "notes-not-one-line": { must: "the notes must be one line", todo: "Shorten them; the rest belongs above the block." },
  "notes-not-string": { must: "the notes must be a text", todo: "Write one line of text." },
} as const satisfies Record<string, RefusalRow>;

export type ReportReasonClass = keyof typeof reportReasonClasses;
