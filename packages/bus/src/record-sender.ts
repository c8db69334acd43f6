import { CandorError, encodeSigned, type Certificate, type GuardRecord } from "@candor/contract";
import { MsgHdrsImpl } from "@nats-io/transport-node";
import { isConnected, watchConnection } from "./connection-watch.js";
import type { Link } from "./link.js";
import { readAnswer, type PublishAnswer } from "./publish-answer.js";
import { first, type RecordLine } from "./record-line.js";
import { openReplyInbox, type ReplyInbox } from "./reply-inbox.js";

export interface RecordSenderOptions {
  readonly certificate: Certificate;
  readonly sign: (kind: GuardRecord, body: Uint8Array) => Uint8Array | Promise<Uint8Array>;
  /** How long an answer may take, in ms. */
  readonly answerMs: number;
  /** Called once for each `send`, sooner or later. */
  readonly onAnswer: (line: RecordLine, answer: PublishAnswer) => void;
  readonly onFault: (error: CandorError) => void;
}

const expectedSequence = "Nats-Expected-Last-Subject-Sequence";

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Signs and sends the first records of lines, many at a time, on one reply subscription. */
export class RecordSender {
  readonly #link: Link;
  readonly #options: RecordSenderOptions;
  readonly #inbox: ReplyInbox;
  readonly #stopWatching: () => void;
  /** In order of sending, hence of running out of time. */
  readonly #sent = new Map<number, RecordLine>();
  /** Lines that wait for the connection. */
  readonly #parked = new Set<RecordLine>();
  #lastToken = 0;
  #check: NodeJS.Timeout | undefined;
  #over = false;

  constructor(link: Link, options: RecordSenderOptions) {
    this.#link = link;
    this.#options = options;
    this.#inbox = openReplyInbox(link, (token, reply) => {
      this.#answer(token, readAnswer(reply));
    });
    this.#stopWatching = watchConnection(link.nc, {
      disconnected: () => {
        for (const token of [...this.#sent.keys()])
          this.#answer(token, { type: "silence", reason: "the connection was interrupted" });
      },
      reconnected: () => {
        const parked = [...this.#parked];
        this.#parked.clear();
        for (const line of parked) this.#publish(line);
      },
      refused: (subject) => {
        for (const [token, line] of this.#sent) {
          if (line.subject !== subject) continue;
          this.#answer(token, { type: "refused", code: "permission-denied", reason: "no permission to publish it" });
          return;
        }
      },
      closed: () => {
        options.onFault(
          new CandorError("connection-closed", "The connection was closed with verdicts still to be stored."),
        );
      },
    });
  }

  /** Sends the first record of a line, to be stored only if `expected` is last on the subject. */
  send(line: RecordLine, expected: number): void {
    line.expected = expected;
    if (line.frame !== undefined) {
      this.#publish(line);
      return;
    }
    const { kind, body } = first(line);
    const { sign, certificate, onFault } = this.#options;
    const use = (signature: Uint8Array): void => {
      line.frame = encodeSigned({ body, certificate, signature });
      this.#publish(line);
    };
    const signature = sign(kind, body);
    if (signature instanceof Uint8Array) use(signature);
    else {
      signature.then(use).catch((error: unknown) => {
        onFault(new CandorError("defect", `A verdict could not be signed: ${reasonOf(error)}.`, { cause: error }));
      });
    }
  }

  close(): void {
    this.#over = true;
    this.#stopWatching();
    clearTimeout(this.#check);
    if (!this.#link.nc.isClosed()) this.#inbox.close();
  }

  #publish(line: RecordLine): void {
    if (this.#over || line.frame === undefined) return;
    if (!isConnected(this.#link.nc)) {
      this.#parked.add(line);
      return;
    }
    const token = (this.#lastToken += 1);
    this.#sent.set(token, line);
    line.sentAt = performance.now();
    try {
      this.#link.nc.publish(line.subject, line.frame, {
        reply: this.#inbox.subject(token),
        headers: MsgHdrsImpl.fromRecord({ [expectedSequence]: [String(line.expected)] }),
      });
    } catch (error) {
      this.#answer(token, { type: "refused", code: "server-failed", reason: reasonOf(error) });
      return;
    }
    this.#check ??= this.#checkIn(this.#options.answerMs);
  }

  #answer(token: number, answer: PublishAnswer): void {
    const line = this.#sent.get(token);
    if (line === undefined || this.#over) return;
    this.#sent.delete(token);
    this.#options.onAnswer(line, answer);
  }

  #checkIn(waitMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#check = undefined;
      const { answerMs } = this.#options;
      const now = performance.now();
      for (const [token, line] of this.#sent) {
        const restMs = line.sentAt + answerMs - now;
        if (restMs > 0) {
          this.#check = this.#checkIn(restMs);
          return;
        }
        this.#answer(token, { type: "silence", reason: `no answer within ${answerMs} ms` });
      }
    }, waitMs).unref();
  }
}
