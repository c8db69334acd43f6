/** Finds lines in a text by the two kinds of positions the parser reports. */
export interface SourceLines {
  /** 1-based line of a byte offset into the UTF-8 form of the text. */
  ofByte(offset: number): number;
  /** 1-based line of an offset counted in code points. */
  ofCodePoint(offset: number): number;
  /** The text between two byte offsets; to the end without the second. */
  slice(start: number, end?: number): string;
}

const newline = 0x0a;

/** Index of a text's lines. Lines end with LF, so CRLF counts once. */
export function sourceLines(text: string): SourceLines {
  const bytes = Buffer.from(text, "utf8");
  const starts = [0];
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) starts.push(at + 1);

  const ofByte = (offset: number): number => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };

  return {
    ofByte,
    ofCodePoint(offset) {
      let left = offset;
      let line = 1;
      for (const character of text) {
        if (left <= 0) break;
        if (character === "\n") line += 1;
        left -= 1;
      }
      return line;
    },
    slice: (start, end) => bytes.subarray(start, end).toString("utf8"),
  };
}
