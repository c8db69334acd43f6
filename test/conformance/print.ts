import type { CheckedFile, FolderResult, SkippedFile } from "./folder.js";

/** The result for people: a line a file, under it each difference with its line number and id. */
export function printed(result: FolderResult): string {
  const lines = result.files.flatMap((file) => (file.status === "skipped" ? [skippedLine(file)] : checkedLines(file)));
  const anyChecked = result.files.some((file) => file.status === "checked");
  return [...lines, ...(anyChecked ? [] : ["no vector file of a known name found, so nothing was checked"])].join("\n");
}

function skippedLine(file: SkippedFile): string {
  return `${file.name} skipped: ${file.reason}`;
}

function openPart({ agreed, total, open }: CheckedFile): string {
  if (open === undefined) return "";
  const expected = `${agreed - open.answered}/${total - open.total} expectations matched`;
  return ` (${expected}; ${open.answered}/${open.total} open cases answered by one of their options, ${open.recommended} as recommended)`;
}

function checkedLines(file: CheckedFile): readonly string[] {
  const head = `${file.name} ${file.agreed}/${file.total}${openPart(file)}`;
  const rest = file.total - file.agreed - file.differences.length;
  return [
    file.total === 0 ? `${head} (no cases in the file)` : head,
    ...file.differences.flatMap(({ line, id, what }) =>
      what.map((text) => `  line ${line}, ${id ?? "no id"}: ${text}`),
    ),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ];
}
