import { Publisher, type Bus } from "@candor/bus";
import {
  decodeBody,
  decodeDelegationToken,
  decodeFrame,
  decodePayload,
  encodeBody,
  encodeFrame,
  encodePayload,
  eventHash,
  kindTable,
  publishedSubject,
  storedSubject,
  zeroHash,
  type AgentKind,
  type Payload,
  type Scope,
} from "@candor/contract";
import { certifyTaskKey, createSeed, createSigner, type Signer } from "@candor/ledger";
import type { Credentials } from "@candor/ledger/files";

/** One event of the chain. */
export interface WrittenEvent {
  readonly seq: number;
  readonly kind: AgentKind;
  readonly payload: unknown;
  readonly hash: Uint8Array;
}

interface Place {
  readonly lane: number;
  readonly run: string;
  readonly task: string;
  readonly epoch: number;
  readonly actor: string;
}

/**
 * A task's chain written without the SDK, as somebody would who means to cheat: every event is well-formed, numbered,
 * linked and signed with the agent's own keys. So nothing is wrong with it but what the report says.
 */
export class HandMadeChain {
  readonly brief: Payload<"delegate">["brief"];
  readonly dataKey: Uint8Array;
  readonly events: WrittenEvent[] = [];
  readonly #place: Place;
  readonly #signer: Signer;
  readonly #publisher: Publisher;

  private constructor(
    parts: { readonly place: Place; readonly signer: Signer; readonly publisher: Publisher },
    delegate: Payload<"delegate">,
    dataKey: Uint8Array,
  ) {
    this.#place = parts.place;
    this.#signer = parts.signer;
    this.#publisher = parts.publisher;
    this.brief = delegate.brief;
    this.dataKey = dataKey;
  }

  /** Accepts the delegation, with the same promises as the SDK's about what the runtime sees. */
  static async accept(bus: Bus, { name, signer }: Credentials, token: string, scope: Scope): Promise<HandMadeChain> {
    const { dataKey, intent, lane } = decodeDelegationToken(token);
    const { body } = decodeFrame(intent);
    const { epoch, payload, run, task } = decodeBody(body);
    const place = { lane, run, task, epoch, actor: name };
    const taskSigner = createSigner(createSeed());
    const taskKey = taskSigner.publicKey;
    const chain = new HandMadeChain(
      { place, signer: taskSigner, publisher: new Publisher(bus) },
      decodePayload("delegate", payload),
      dataKey,
    );
    const certificate = certifyTaskKey(signer, { run, task, epoch, actor: name, taskKey });
    await chain.write("accept", { taskKey, certificate, delegation: eventHash(body), scope, mode: "enforce" });
    return chain;
  }

  /** Adds an event and waits until the log has it. @returns its number */
  async write<K extends AgentKind>(kind: K, payload: Payload<K>): Promise<number> {
    const { lane, ...place } = this.#place;
    const seq = this.events.length + 1;
    const prev = this.events.at(-1)?.hash ?? zeroHash;
    const header = { ...place, kind, role: "agent", seq, prev, at: Date.now() } as const;
    const body = encodeBody({ ...header, payload: encodePayload(kind, payload) });
    const hash = eventHash(body);
    const address = { role: "agent", actor: place.actor, run: place.run, task: place.task, kind } as const;
    await this.#publisher.publish({
      subject: publishedSubject(address),
      storedSubject: storedSubject({ ...address, lane }),
      bytes: encodeFrame(body, kindTable[kind].signed ? this.#signer.sign(hash) : undefined),
    });
    this.events.push({ seq, kind, payload, hash });
    return seq;
  }

  close(): void {
    this.#publisher.close();
  }
}
