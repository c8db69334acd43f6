const header = /^\s*copy\b[^;]*\bfrom\s+stdin\b[^;]*;\s*$/i;
const end = /^\\\.\r?$/;

/**
 * Takes the rows of one `COPY … FROM stdin` block out of a text, as psql and pg_dump write them: they are data and no SQL. The
 * block is the last that opens above a line that the parser refused, so that no text in a comment can pass for one and hide
 * statements. Lines keep their numbers.
 *
 * @param refused 1-based line
 * @returns undefined if that line is in no such block
 */
export function withoutCopyData(
  text: string,
  refused: number,
): { readonly text: string; readonly lines: number } | undefined {
  const lines = text.split("\n");
  const opens = lines.slice(0, refused - 1).findLastIndex((line) => header.test(line));
  if (opens === -1) return undefined;
  const closes = lines.findIndex((line, index) => index > opens && end.test(line));
  if (closes === -1 || closes < refused - 1) return undefined;
  const rest = lines.map((line, index) => (index > opens && index <= closes ? "" : line));
  return { text: rest.join("\n"), lines: closes - opens - 1 };
}
