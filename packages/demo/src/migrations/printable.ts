const unprintable = /[\s\p{Cc}\p{Cf}]+/gu;

/**
 * One line of text that is safe on a terminal: runs of white space and control characters become one
 * space, and what is longer than `maxLength` code points is cut with an ellipsis.
 */
export function printable(text: string, maxLength = 120): string {
  // Cut coarsely first, so that a statement of megabytes is not copied character by character.
  const line = text
    .slice(0, maxLength * 20)
    .replace(unprintable, " ")
    .trim();
  const characters = Array.from(line);
  const complete = characters.length <= maxLength && text.length <= maxLength * 20;
  return complete ? line : `${characters.slice(0, maxLength - 1).join("")}…`;
}
