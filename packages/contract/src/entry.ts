import type { EventBody } from "./event.js";
import type { Payload } from "./payloads/index.js";
import type { EventKind, QuarantineCode } from "./vocabulary.js";

/** A message as the log holds it. */
export interface StoredMessage {
  /** Stream sequence. */
  readonly seq: number;
  /** Log timestamp in ms. */
  readonly timeMs: number;
  readonly subject: string;
  /** Header block as stored, if there is one. */
  readonly headers?: Uint8Array | undefined;
  readonly data: Uint8Array;
}

interface EntryPlace {
  readonly seq: number;
  readonly timeMs: number;
  readonly subject: string;
  /** The publisher's token in the subject: where a quarantine notice goes. */
  readonly actorToken: string;
}

interface AdmittedOf<K extends EventKind> extends EntryPlace {
  readonly type: "event";
  readonly kind: K;
  readonly event: EventBody;
  readonly payload: Payload<K>;
  /** `eventHash` of the body. */
  readonly hash: Uint8Array;
  readonly signature: Uint8Array | undefined;
  /** The message's bytes as stored. */
  readonly data: Uint8Array;
}

/** A well-formed message whose body agrees with its subject. Whether it is authentic only the fold can say. */
export type AdmittedEvent = { [K in EventKind]: AdmittedOf<K> }[EventKind];

/** A message that is no event of this version. It is quarantined, never folded, never dropped. */
export interface RefusedMessage extends EntryPlace {
  readonly type: "refused";
  readonly code: QuarantineCode;
  readonly path?: string | undefined;
  readonly sentence: string;
  readonly data: Uint8Array;
}

export type LogEntry = AdmittedEvent | RefusedMessage;
export type { AdmittedOf };
