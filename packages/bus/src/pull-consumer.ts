import { nuid, type Msg } from "@nats-io/transport-node";
import type { StoredMessage } from "@candor/contract";
import { apiRequest, refusal } from "./jetstream-api.js";
import { deliveryPrefixLength, readDelivery } from "./delivery.js";
import type { Link } from "./link.js";
import { surfacing } from "./surfacing.js";
import { headerBytes, replyBytes } from "./raw-message.js";

export interface PullConsumerOptions {
  readonly stream: string;
  /** Subject filters, which must not overlap; the whole stream for none. */
  readonly filters: readonly string[];
  /** First stream sequence wanted. */
  readonly startSeq: number;
  readonly heartbeatMs: number;
}

export interface PullConsumerEvents {
  readonly message: (message: StoredMessage) => void;
  /** A request ended without all its messages: there is room for another. */
  readonly shortfall: () => void;
  /** The consumer is of no more use. Called once. */
  readonly fault: (reason: string) => void;
}

const createPatienceMs = 10_000;
const attemptMs = 3_000;
const requestExpiresMs = 30_000;
/** After this long without a request the server forgets the consumer. */
const inactiveMs = 60_000;
/** Bounds what one request can bring, however large the messages. */
const requestBytes = 4 * 1024 * 1024;
const nanosPerMs = 1e6;
const checksPerHeartbeat = 2;

/** Statuses that end a request and nothing else; any other that is no heartbeat ends the consumer's use. */
function endsRequestOnly(code: number, description: string): boolean {
  return code === 404 || code === 408 || (code === 409 && /max\s?bytes|batch completed/i.test(description));
}

/**
 * One pull consumer without acknowledgement, from its creation until its first fault, by the protocol itself: the
 * client's own consumers cost twice as much per message. It checks that consumer sequences leave nothing out.
 */
export class PullConsumer {
  readonly #link: Link;
  readonly #options: PullConsumerOptions;
  readonly #events: PullConsumerEvents;
  readonly #onMessage: (message: StoredMessage) => void;
  readonly #name = `candor-${nuid.next()}`;
  readonly #inbox: string;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #stopListening: () => void;
  #prefixLength = 0;
  #consumerSeq = 0;
  #seq: number;
  #outstanding = 0;
  #pending = 0;
  #isHeard = true;
  #silentChecks = 0;
  #over = false;

  private constructor(link: Link, options: PullConsumerOptions, events: PullConsumerEvents) {
    this.#link = link;
    this.#options = options;
    this.#events = events;
    this.#onMessage = events.message;
    this.#seq = options.startSeq - 1;
    this.#inbox = `${link.inboxPrefix}.${nuid.next()}`;
    const take = surfacing((message: Msg) => {
      this.#take(message);
    });
    const subscription = link.nc.subscribe(this.#inbox, {
      callback: (error, message) => {
        if (error === null) take(message);
        else this.#end(error.message);
      },
    });
    this.#stopListening = () => {
      if (!link.nc.isClosed()) subscription.unsubscribe();
    };
    this.#heartbeat = setInterval(() => {
      this.#checkSilence();
    }, options.heartbeatMs / checksPerHeartbeat).unref();
  }

  /** Makes the consumer on the server. @throws CandorError `server-unreachable`, `permission-denied`, `server-failed` */
  static async open(link: Link, options: PullConsumerOptions, events: PullConsumerEvents): Promise<PullConsumer> {
    const consumer = new PullConsumer(link, options, events);
    try {
      await consumer.#create();
      return consumer;
    } catch (error) {
      consumer.close();
      throw error;
    }
  }

  /** True once it is closed or had its fault. */
  get isOver(): boolean {
    return this.#over;
  }

  /** Messages asked for and not yet delivered. */
  get outstanding(): number {
    return this.#outstanding;
  }

  /** Stream sequence of the last message delivered, `startSeq - 1` at first. */
  get seq(): number {
    return this.#seq;
  }

  /** Messages in the stream, within the filter, that were not yet delivered. */
  get pending(): number {
    return this.#pending;
  }

  /** Asks for up to `count` more messages. */
  pull(count: number): void {
    if (this.#over || count < 1) return;
    if (this.#outstanding === 0) this.#isHeard = true;
    this.#outstanding += count;
    const request = {
      batch: count,
      expires: requestExpiresMs * nanosPerMs,
      idle_heartbeat: this.#options.heartbeatMs * nanosPerMs,
      max_bytes: requestBytes,
    };
    const subject = `${this.#link.apiPrefix}.CONSUMER.MSG.NEXT.${this.#options.stream}.${this.#name}`;
    try {
      this.#link.nc.publish(subject, JSON.stringify(request), { reply: this.#inbox });
    } catch (error) {
      this.#end(error instanceof Error ? error.message : String(error));
    }
  }

  close(): void {
    if (!this.#over) this.#stop();
    if (this.#link.nc.isClosed()) return;
    // The server would forget it by itself, only later.
    const subject = `${this.#link.apiPrefix}.CONSUMER.DELETE.${this.#options.stream}.${this.#name}`;
    this.#link.nc.request(subject, "", { timeout: attemptMs }).catch(() => undefined);
  }

  async #create(): Promise<void> {
    const { stream, filters, startSeq } = this.#options;
    const [first] = filters;
    const isSingle = first !== undefined && filters.length === 1;
    const config = {
      name: this.#name,
      deliver_policy: "by_start_sequence",
      opt_start_seq: startSeq,
      ack_policy: "none",
      replay_policy: "instant",
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: inactiveMs * nanosPerMs,
      ...(isSingle ? { filter_subject: first } : {}),
      ...(filters.length > 1 ? { filter_subjects: filters } : {}),
    };
    const subject = `${this.#link.apiPrefix}.CONSUMER.CREATE.${stream}.${this.#name}${isSingle ? `.${first}` : ""}`;
    const request = { stream_name: stream, config, action: "create" };
    const answer = await apiRequest(this.#link.nc, subject, request, createPatienceMs, attemptMs);
    if (!answer.ok) throw refusal(answer.failure, `read ${filters.join(", ") || stream}`);
    this.#pending = Number(answer.body["num_pending"]);
  }

  #take(message: Msg): void {
    if (this.#over) return;
    this.#isHeard = true;
    const reply = replyBytes(message);
    if (reply === undefined) {
      this.#takeStatus(message);
      return;
    }
    if (this.#prefixLength === 0) this.#prefixLength = deliveryPrefixLength(reply, this.#options.stream, this.#name);
    if (this.#prefixLength === 0) return;
    const { seq, consumerSeq, timeMs, pending } = readDelivery(reply, this.#prefixLength);
    if (consumerSeq !== this.#consumerSeq + 1 || seq <= this.#seq) {
      this.#end(`a gap: message ${this.#consumerSeq + 1} of the consumer was due, ${consumerSeq} came`);
      return;
    }
    this.#consumerSeq = consumerSeq;
    this.#seq = seq;
    this.#pending = pending;
    this.#outstanding -= 1;
    // Views into a plain array are made at half the cost of those into a Buffer, and an event is cut into many.
    const { buffer, byteOffset, length } = message.data;
    const data = new Uint8Array(buffer, byteOffset, length);
    this.#onMessage({ seq, timeMs, subject: message.subject, headers: headerBytes(message), data });
  }

  #takeStatus({ headers }: Msg): void {
    const code = headers?.code ?? 0;
    if (code === 100) return;
    const description = headers?.description ?? "";
    if (!endsRequestOnly(code, description)) {
      this.#end(`status ${code} ${description}`);
      return;
    }
    const undelivered = Number(headers?.get("Nats-Pending-Messages") ?? this.#outstanding);
    this.#outstanding = Math.max(0, this.#outstanding - undelivered);
    this.#events.shortfall();
  }

  #checkSilence(): void {
    // After a long synchronous step the timer runs before what arrived meanwhile is read.
    setImmediate(() => {
      if (this.#over) return;
      this.#silentChecks = this.#isHeard || this.#outstanding === 0 ? 0 : this.#silentChecks + 1;
      this.#isHeard = false;
      const { heartbeatMs } = this.#options;
      if (this.#silentChecks > checksPerHeartbeat * 2) this.#end(`nothing heard for ${heartbeatMs * 2} ms`);
    });
  }

  #end(reason: string): void {
    if (this.#over) return;
    this.#stop();
    this.#events.fault(reason);
  }

  #stop(): void {
    this.#over = true;
    clearInterval(this.#heartbeat);
    this.#stopListening();
  }
}
