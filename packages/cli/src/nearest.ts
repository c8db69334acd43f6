/** Number of letters to insert, delete or replace to turn one text into the other (Levenshtein 1966). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of Array.from(a).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(b).entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** Up to three of the known words that someone who wrote `word` may have meant, the likeliest first. */
export function nearest(word: string, known: readonly string[]): readonly string[] {
  const wanted = word.toLowerCase().slice(0, 60);
  if (wanted === "") return [];
  const most = Math.max(2, Math.floor(wanted.length / 3));
  return known
    .map((name) => {
      const lower = name.toLowerCase();
      return { name, away: lower.includes(wanted) ? 1 : distance(wanted, lower) };
    })
    .filter(({ away }) => away <= most)
    .sort((a, b) => a.away - b.away)
    .slice(0, 3)
    .map(({ name }) => name);
}
