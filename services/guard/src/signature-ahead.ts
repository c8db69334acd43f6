import {
  certificateMessage,
  taskKeyMessage,
  type AdmittedEvent,
  type AdmittedOf,
  type Certificate,
} from "@candor/contract";
import type { Verify } from "@candor/guards";
import { verifySignature } from "@candor/ledger";
import { KeyHints } from "./key-hints.js";
import type { SignatureCheck } from "./signature-check.js";
import type { SignatureThreads } from "./signature-threads.js";

/** Signature checks of one event, made before the fold asks for them. */
export class ChecksAhead {
  readonly #threads: SignatureThreads;
  readonly #checks: SignatureCheck[] = [];

  constructor(threads: SignatureThreads) {
    this.#threads = threads;
  }

  get isEmpty(): boolean {
    return this.#checks.length === 0;
  }

  get isDone(): boolean {
    for (const check of this.#checks) if (check.valid === undefined) return false;
    return true;
  }

  start(key: string, message: Uint8Array, signature: Uint8Array): void {
    this.#checks.push(this.#threads.verify(key, message, signature));
  }

  /** The answer, if exactly this was asked ahead. */
  answer(key: string, message: Uint8Array, signature: Uint8Array): boolean | undefined {
    for (const check of this.#checks) if (check.isOf(key, message, signature)) return check.valid;
    return undefined;
  }
}

/** Starts the checks that folding an event is likely to need. */
export class SignatureAhead {
  readonly #hints = new KeyHints();
  readonly #operator: string;
  readonly #threads: SignatureThreads;
  /** The event being folded. */
  #current: ChecksAhead | undefined;
  /** Signatures checked on the fold's own thread, because nobody foresaw them. */
  missed = 0;

  /** @param operator the operator's public key, which certifies the keys of a run */
  constructor(operator: string, threads: SignatureThreads) {
    this.#operator = operator;
    this.#threads = threads;
  }

  /** What the fold calls: the answer found ahead, or a check on the spot. */
  readonly verify: Verify = (key, message, signature) => {
    const known = this.#current?.answer(key, message, signature);
    if (known !== undefined) return known;
    this.missed += 1;
    return verifySignature(key, message, signature);
  };

  /** Names the event about to be folded, whose checks `verify` answers from. */
  use(checks: ChecksAhead | undefined): void {
    this.#current = checks;
  }

  /** Takes in the keys an event brings, in log order. */
  learn(entry: AdmittedEvent): void {
    this.#hints.learn(entry);
  }

  /** Starts what is worth checking about an event; undefined if nothing is. Call `learn` first. */
  start(entry: AdmittedEvent): ChecksAhead | undefined {
    const { signature, hash } = entry;
    if (signature === undefined) return undefined;
    const checks = new ChecksAhead(this.#threads);
    for (const key of this.#keysOf(entry, checks)) checks.start(key, hash, signature);
    return checks.isEmpty ? undefined : checks;
  }

  /** Sends on what was started. */
  flush(): void {
    this.#threads.flush();
  }

  /** Makes a check that nobody has begun, instead of waiting; false if there is none. */
  help(): boolean {
    return this.#threads.helpOne();
  }

  /** Calls back once, when another thread has come further. */
  onAnswers(call: () => void): void {
    this.#threads.onAnswers(call);
  }

  #keysOf(entry: AdmittedEvent, checks: ChecksAhead): Iterable<string> {
    switch (entry.event.role) {
      case "orch":
        if (entry.kind === "run-open") {
          for (const certificate of [entry.payload.fleet, ...entry.payload.probers.slice(0, 4)]) {
            this.#startCertificate(certificate, checks);
          }
        }
        return this.#hints.fleetKeys(entry);
      case "agent": {
        const keys = this.#hints.agentKeys(entry);
        if (keys?.taskKey === undefined) return [];
        if (entry.kind === "accept") startAccept(entry, keys.deployment, checks);
        return [keys.taskKey];
      }
      case "probe":
        return this.#hints.proberKeys(entry);
      case "guard":
        return [];
    }
  }

  #startCertificate(certificate: Certificate, checks: ChecksAhead): void {
    const { role, name, key, signature } = certificate;
    checks.start(this.#operator, certificateMessage({ role, name, key }), signature);
  }
}

function startAccept({ event, payload }: AdmittedOf<"accept">, deployment: string, checks: ChecksAhead): void {
  const { run, task, epoch, actor } = event;
  const message = taskKeyMessage({ run, task, epoch, actor, taskKey: payload.taskKey });
  checks.start(deployment, message, payload.certificate);
}
