const mostEntries = 16;
const longestName = 128;
const longestText = 256;

/** What goes onto the wire of the identifiers of an effect: it has happened, so telling it must not fail. */
export function fittingIdentifiers(identifiers: Readonly<Record<string, unknown>>): Record<string, string> {
  const fitting = Object.entries(identifiers)
    .map(([name, value]) => [name.replace(/\p{Cc}/gu, " ").slice(0, longestName), String(value)] as const)
    .filter(([name, text]) => name !== "" && text !== "")
    .slice(0, mostEntries)
    .map(([name, text]) => [name, text.length > longestText ? `${text.slice(0, longestText - 1)}…` : text] as const);
  return Object.fromEntries(fitting);
}
