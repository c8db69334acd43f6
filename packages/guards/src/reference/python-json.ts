/**
 * Writes a text as Python's `json.dumps` does with its defaults. `JSON.stringify` already agrees up to `~`, lone
 * surrogates included; DEL and all UTF-16 units after it become `\u` and four lower-case hex digits.
 */
export function pythonJsonText(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Writes a flat object of texts as Python's `json.dumps(fields, sort_keys=True)` does. Keys sort by UTF-16 unit, which
 * is Python's code point order for the ASCII keys used here.
 */
export function pythonJsonObject(fields: Readonly<Record<string, string>>): string {
  const members = Object.entries(fields)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${pythonJsonText(key)}: ${pythonJsonText(value)}`);
  return `{${members.join(", ")}}`;
}

/** Writes a boolean or nothing as Python's `str` does. */
export function pythonWord(value: boolean | null): "True" | "False" | "None" {
  if (value === null) return "None";
  return value ? "True" : "False";
}
