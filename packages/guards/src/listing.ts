import { utf8, verdictLimits, type Finding, type VerdictBody } from "@candor/contract";

/** What of a list stands in a verdict, and how much of it does not. */
export interface Listing<Item> {
  readonly items: Item[];
  readonly omitted: number;
}

export type InFlight = NonNullable<VerdictBody["inFlight"]>[number];

/** Bytes of an entry beside its texts, at most: names of fields, numbers, codes. */
const entryBytes = 64;

/** Lists findings as far as a verdict has room, in their order, and the first of each code in any case. */
export function listFindings(findings: readonly Finding[], dropped = 0): Listing<Finding> {
  const codes = new Set<string>();
  const isFirst = ({ code }: Finding): boolean => codes.size < codes.add(code).size;
  const { items, omitted } = list(findings, ({ about = "" }) => entryBytes + utf8(about).length, isFirst);
  return { items, omitted: omitted + dropped };
}

/** Lists effects in flight as far as a verdict has room. @param total how many there are in all */
export function listInFlight(effects: readonly InFlight[], total: number): Listing<InFlight> {
  const bytesOf = ({ intent, target }: InFlight): number => 2 * entryBytes + utf8(intent).length + utf8(target).length;
  const { items } = list(
    effects.map(({ key, intent, target }) => ({ key, intent, target })),
    bytesOf,
    () => false,
  );
  return { items, omitted: total - items.length };
}

function list<Item>(
  all: readonly Item[],
  bytesOf: (item: Item) => number,
  isNeeded: (item: Item) => boolean,
): Listing<Item> {
  const needed = new Set(all.filter(isNeeded));
  let bytes = 0;
  for (const item of needed) bytes += bytesOf(item);
  let room = verdictLimits.listed - needed.size;
  const items = all.filter((item) => {
    if (needed.has(item)) return true;
    const more = bytesOf(item);
    if (room <= 0 || bytes + more > verdictLimits.listedBytes) {
      room = 0;
      return false;
    }
    room -= 1;
    bytes += more;
    return true;
  });
  return { items, omitted: all.length - items.length };
}

/** Up to so many entries each change of a list is told; a longer one is told anew when it has doubled or halved. */
const toldOneByOne = 100;

/** What of a list makes a verdict a new one. */
export function changeOf<Item>(
  items: readonly Item[],
  total: number,
  tell: (item: Item) => unknown,
  kindOf: (item: Item) => string,
): unknown {
  if (total <= toldOneByOne) return items.map(tell);
  return [Math.floor(Math.log2(total)), [...new Set(items.map(kindOf))].sort()];
}
