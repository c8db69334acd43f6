/** What a terminal would act on instead of showing it: control characters, and the marks that turn the direction of text. */
const unsafe = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Text of strangers as one line that is safe to print: line breaks become blanks, all else that a terminal acts on is
 * shown by its number.
 */
export function printable(text: string): string {
  return text.replace(/\r?\n|\t/g, " ").replace(unsafe, (mark) => {
    const number = mark.codePointAt(0) ?? 0;
    return `\\u{${number.toString(16)}}`;
  });
}
