import { intentWord, kindTable, runTask, wireVersion, type EventBody, type StoredAddress } from "@candor/contract";

const members = 11;
const hashLength = 32;
const none = -1;

/** Where the text at `at` ends if it is the given ASCII text, else -1. */
function endOfText(bytes: Uint8Array, at: number, text: string): number {
  const { length } = text;
  const short = length < 32;
  if (at === none || bytes[at] !== (short ? 0xa0 + length : 0xd9)) return none;
  if (!short && bytes[at + 1] !== length) return none;
  const start = at + (short ? 1 : 2);
  for (let i = 0; i < length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return none;
  return start + length;
}

/** How many bytes an unsigned integer with this tag has, its tag included; 0 for anything else. */
function widthOf(tag: number | undefined): number {
  if (tag === undefined) return 0;
  if (tag < 0x80) return 1;
  return tag >= 0xcc && tag <= 0xcf ? 1 + (1 << (tag - 0xcc)) : 0;
}

function readUnsigned(bytes: Uint8Array, at: number, width: number): number {
  if (width === 1) return bytes[at] ?? 0;
  let value = 0;
  for (let i = 1; i < width; i++) value = value * 256 + (bytes[at + i] ?? 0);
  return value;
}

/** Length of the head of a byte string with this tag, or 0. */
function binHead(tag: number | undefined): number {
  return tag !== undefined && tag >= 0xc4 && tag <= 0xc6 ? 1 + (1 << (tag - 0xc4)) : 0;
}

/**
 * Reads the header of a body that says what its subject says, eight times as fast as decoding it: the texts are known already and
 * only have to be compared. It is a short cut for the common case and decides nothing: where it answers undefined (intents among
 * them), `decodeBody` says what the body is or what is wrong with it.
 *
 * @param bytes a body that passed the strict scan
 * @param address what its subject says
 */
export function readKnownHeader(bytes: Uint8Array, address: StoredAddress): EventBody | undefined {
  const { kind, role, run, task, actor } = address;
  if (kind === intentWord || kindTable[kind].role !== role || kindTable[kind].ofRun || task === runTask)
    return undefined;
  if (bytes[0] !== 0x90 + members || bytes[1] !== wireVersion) return undefined;
  const epochAt = endOfText(bytes, endOfText(bytes, endOfText(bytes, 2, kind), run), task);
  if (epochAt === none) return undefined;
  const epochWidth = widthOf(bytes[epochAt]);
  const seqAt = endOfText(bytes, endOfText(bytes, epochAt + epochWidth, role), actor);
  if (seqAt === none) return undefined;
  const seqWidth = widthOf(bytes[seqAt]);
  const prevAt = seqAt + seqWidth;
  const timeAt = prevAt + 2 + hashLength;
  const timeWidth = widthOf(bytes[timeAt]);
  const payloadAt = timeAt + timeWidth;
  const payloadHead = binHead(bytes[payloadAt]);
  const epoch = readUnsigned(bytes, epochAt, epochWidth);
  const seq = readUnsigned(bytes, seqAt, seqWidth);
  const hasPrev = bytes[prevAt] === 0xc4 && bytes[prevAt + 1] === hashLength;
  if (epochWidth * seqWidth * timeWidth * payloadHead === 0 || epoch < 1 || seq < 1 || !hasPrev) return undefined;
  return {
    kind,
    run,
    task,
    epoch,
    role,
    actor,
    seq,
    prev: bytes.subarray(prevAt + 2, timeAt),
    at: readUnsigned(bytes, timeAt, timeWidth),
    payload: bytes.subarray(payloadAt + payloadHead),
  };
}
