/** Stands for "not mine": the caller decodes these bytes in the general way. */
export const notQuick: unique symbol = Symbol("not quick");

const deepest = 32;
const longestKept = 32;
/**
 * The engine makes longer texts that are put together letter by letter into a tree with a node of 32 bytes for each letter.
 * Of a text that nobody reads that tree stays, so that 250 letters weigh 8 KB.
 */
const longestJoined = 12;
const ascii = new TextDecoder();
/** Power of two. */
const keptTexts = 4096;

/** Short texts seen before, by their hash: kinds, enumerations and operations come again and again. */
const kept = new Array<string | undefined>(keptTexts).fill(undefined);

let bytes: Uint8Array = new Uint8Array();
let at = 0;

function byte(): number {
  const value = bytes[at];
  at += 1;
  // Reading past the end must not look like a zero.
  return value ?? Number.NaN;
}

function unsigned(width: number): number {
  let value = 0;
  for (let i = 0; i < width; i += 1) value = value * 256 + byte();
  return value;
}

function isSame(text: string, start: number): boolean {
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}

/** ASCII only: other texts are rare here, and their decoding is subtle. */
function text(length: number): string | typeof notQuick {
  const start = at;
  at += length;
  if (!(at <= bytes.length)) return notQuick;
  let hash = length;
  let all = 0;
  for (let i = start; i < at; i += 1) {
    const code = bytes[i] as number;
    all |= code;
    hash = Math.imul(hash ^ code, 0x01000193);
  }
  if (all > 0x7f) return notQuick;
  const slot = (hash ^ (hash >>> 13)) & (keptTexts - 1);
  const known = kept[slot];
  if (known?.length === length && isSame(known, start)) return known;
  const made = length <= longestJoined ? joined(start) : ascii.decode(bytes.subarray(start, at));
  if (length <= longestKept) kept[slot] = made;
  return made;
}

function joined(start: number): string {
  let made = "";
  for (let i = start; i < at; i += 1) made += String.fromCharCode(bytes[i] as number);
  return made;
}

function blob(length: number): Uint8Array | typeof notQuick {
  const start = at;
  at += length;
  return at <= bytes.length ? bytes.subarray(start, at) : notQuick;
}

function array(length: number, depth: number): unknown {
  if (!(length <= bytes.length - at)) return notQuick;
  const items: unknown[] = [];
  for (let i = 0; i < length; i += 1) {
    const item = value(depth);
    if (item === notQuick) return notQuick;
    items.push(item);
  }
  return items;
}

function map(length: number, depth: number): unknown {
  if (!(length * 2 <= bytes.length - at)) return notQuick;
  const fields: Record<string, unknown> = {};
  for (let i = 0; i < length; i += 1) {
    const name = value(depth);
    if (typeof name !== "string" || name === "__proto__") return notQuick;
    const field = value(depth);
    if (field === notQuick) return notQuick;
    fields[name] = field;
  }
  return fields;
}

/** What is missing (floats of 32 bits, signed integers of more than a byte, very long values, extensions) is not quick. */
function tagged(tag: number, depth: number): unknown {
  switch (tag) {
    case 0xc0:
      return null;
    case 0xc2:
      return false;
    case 0xc3:
      return true;
    case 0xc4:
      return blob(byte());
    case 0xc5:
      return blob(unsigned(2));
    case 0xcc:
      return checked(byte());
    case 0xcd:
      return checked(unsigned(2));
    case 0xcb:
      return double();
    case 0xce:
      return checked(unsigned(4));
    case 0xcf:
      return safe(unsigned(8));
    case 0xd9:
      return text(byte());
    case 0xda:
      return text(unsigned(2));
    case 0xdc:
      return array(unsigned(2), depth + 1);
    case 0xde:
      return map(unsigned(2), depth + 1);
    default:
      return notQuick;
  }
}

const doubleBytes = new Uint8Array(8);
const doubleView = new DataView(doubleBytes.buffer);

function double(): number | typeof notQuick {
  if (at + 8 > bytes.length) return notQuick;
  for (let i = 0; i < 8; i += 1) doubleBytes[i] = bytes[at + i] as number;
  at += 8;
  return doubleView.getFloat64(0);
}

/** Beyond 2^53 − 1 a sum of bytes is not exact. */
function safe(number: number): number | typeof notQuick {
  return number <= Number.MAX_SAFE_INTEGER ? number : notQuick;
}

function checked(number: number): number | typeof notQuick {
  return Number.isNaN(number) ? notQuick : number;
}

function value(depth: number): unknown {
  const tag = byte();
  if (tag < 0x80) return tag;
  if (tag >= 0xe0) return tag - 0x100;
  if (depth >= deepest) return notQuick;
  if (tag < 0x90) return map(tag & 0x0f, depth + 1);
  if (tag < 0xa0) return array(tag & 0x0f, depth + 1);
  if (tag < 0xc0) return text(tag & 0x1f);
  return tagged(tag, depth);
}

/**
 * Decodes the msgpack that our own encoder writes, at half the cost of the general decoder: a short text that was seen
 * before is not made again. It knows only what is common, and decides nothing.
 *
 * @returns `notQuick` for anything else, well-formed or not
 */
export function decodeQuickly(input: Uint8Array): unknown {
  bytes = input;
  at = 0;
  const decoded = value(0);
  const complete = at === input.length;
  bytes = none;
  return complete ? decoded : notQuick;
}

const none: Uint8Array = new Uint8Array();
