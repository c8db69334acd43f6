import { apiRequest, streamNotFound, type Bus } from "@candor/bus";
import { CandorError } from "@candor/contract";

/** What is in a stream. */
export interface StreamFacts {
  readonly name: string;
  readonly messages: number;
  readonly bytes: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly subjects: number;
  /** Sequences between first and last that hold no message. */
  readonly missing: number;
  /** What the server dropped when it recovered the stream from a damaged store, in bytes. */
  readonly lostBytes: number;
}

/** What the server says is in a stream; undefined if there is no such stream. @throws CandorError `server-failed` */
export async function readStreamFacts(
  bus: Pick<Bus, "nc" | "apiPrefix">,
  name: string,
): Promise<StreamFacts | undefined> {
  const answer = await apiRequest(bus.nc, `${bus.apiPrefix}.STREAM.INFO.${name}`);
  if (!answer.ok) {
    if (answer.failure.errCode === streamNotFound) return undefined;
    throw new CandorError("server-failed", `The server can't describe ${name}: ${answer.failure.description}.`);
  }
  const state = answer.body["state"] as Readonly<Record<string, unknown>>;
  const number = (field: string): number => (typeof state[field] === "number" ? state[field] : 0);
  return {
    name,
    messages: number("messages"),
    bytes: number("bytes"),
    firstSeq: number("first_seq"),
    lastSeq: number("last_seq"),
    subjects: number("num_subjects"),
    missing: number("num_deleted"),
    lostBytes: lostIn(state["lost"]),
  };
}

function lostIn(lost: unknown): number {
  const bytes = typeof lost === "object" && lost !== null ? (lost as Readonly<Record<string, unknown>>)["bytes"] : 0;
  return typeof bytes === "number" ? bytes : 0;
}
