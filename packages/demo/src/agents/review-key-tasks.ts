import { printable } from "../migrations/printable.js";
import type { SqlPath } from "../migrations/sql-folder.js";

/** Name of the call, and of the key task, that finds the files. */
export const listing = "migrations.list";

/** A brief has room for a thousand key tasks; larger folders are told of in groups of files. */
const most = 500;
/** In code points; the wire counts up to 128 units of UTF-16. */
const longestName = 60;

/** The key task that each file belongs to: its own name, or that of its group in a large folder. */
export function keyTasksOf(files: readonly Pick<SqlPath, "file">[]): readonly string[] {
  const size = Math.ceil(files.length / most);
  if (size <= 1) return files.map(({ file }) => printable(file, longestName));
  return files.map((_, index) => {
    const first = index - (index % size);
    return `files ${first + 1} to ${Math.min(first + size, files.length)}`;
  });
}
