/** Text of a subagent that goes into a next brief: to be read, never obeyed. */
export interface QuotedData {
  readonly items: readonly string[];
  /** One JSON text a line, in ASCII, so that no item can end the quotation, hide in it or turn its direction. */
  readonly text: string;
}

/** Quotes what a subagent wrote. */
export function quotedData(items: readonly string[]): QuotedData {
  return { items, text: items.map(quoted).join("\n") };
}

function quoted(item: string): string {
  // Fence marks and angle brackets as well: whatever the quotation is put into, it can't close it.
  return JSON.stringify(item).replace(
    /[`~<>\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
