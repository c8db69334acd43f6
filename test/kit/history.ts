import { CandorError, encodeQuarantineBody, encodeVerdictBody, type StoredMessage } from "@candor/contract";
import { isNeeded, LaneFold, type Output } from "@candor/guards";
import { admit, verifySignature } from "@candor/ledger";

/** A frozen log of one lane and what its fold brought forth then. One JSON object a line, in this order of types. */
type Line =
  | { readonly type: "history"; readonly operator: string; readonly lane: number }
  | {
      readonly type: "message";
      readonly seq: number;
      readonly timeMs: number;
      readonly subject: string;
      readonly data: string;
    }
  | { readonly type: "record"; readonly subject: string; readonly body: string };

export interface History {
  readonly operator: string;
  readonly lane: number;
  readonly messages: readonly StoredMessage[];
  /** Subject and body in hex of every verdict and quarantine record, in order. */
  readonly records: readonly { readonly subject: string; readonly body: string }[];
}

/** Folds a log from its first message, as a guard that starts from nothing. */
export function foldHistory({ operator, lane, messages }: Omit<History, "records">): History["records"] {
  const fold = new LaneFold(lane, { operator });
  const records: { subject: string; body: string }[] = [];
  const past: ReturnType<typeof admit>[] = [];
  for (const message of messages) {
    const entry = admit(message);
    for (let need = fold.needsHistory(entry); need !== undefined;) {
      const asked = need;
      const history = past.filter((one) => one.type === "event" && isNeeded(asked, one.event));
      need = fold.revive(asked, history, verifySignature);
    }
    for (const output of fold.fold(entry, verifySignature)) {
      const record = recordOf(output);
      if (record !== undefined) records.push(record);
    }
    past.push(entry);
  }
  return records;
}

function recordOf(output: Output): History["records"][number] | undefined {
  if (output.type === "verdict")
    return { subject: output.subject, body: Buffer.from(encodeVerdictBody(output.body)).toString("hex") };
  if (output.type === "quarantine")
    return { subject: output.subject, body: Buffer.from(encodeQuarantineBody(output.body)).toString("hex") };
  return undefined;
}

export function formatHistory({ operator, lane, messages, records }: History): string {
  const lines: Line[] = [
    { type: "history", operator, lane },
    ...messages.map(({ seq, timeMs, subject, data }) => ({
      type: "message" as const,
      seq,
      timeMs,
      subject,
      data: Buffer.from(data).toString("base64"),
    })),
    ...records.map((record) => ({ type: "record" as const, ...record })),
  ];
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

/** @throws CandorError `bad-file` if the text is no history */
export function parseHistory(text: string): History {
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  const [head] = lines;
  if (head?.type !== "history") throw new CandorError("bad-file", "A history begins with a line of type history.");
  const messages: StoredMessage[] = [];
  const records: { subject: string; body: string }[] = [];
  for (const line of lines) {
    if (line.type === "message") messages.push({ ...line, data: new Uint8Array(Buffer.from(line.data, "base64")) });
    if (line.type === "record") records.push({ subject: line.subject, body: line.body });
  }
  return { operator: head.operator, lane: head.lane, messages, records };
}
