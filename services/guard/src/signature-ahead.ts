import {
  certificateMessage,
  equalBytes,
  taskKeyMessage,
  type AdmittedEvent,
  type AdmittedOf,
  type Certificate,
} from "@candor/contract";
import type { Verify } from "@candor/guards";
import { verifyAsync, verifySignature } from "@candor/ledger";
import { KeyHints } from "./key-hints.js";

interface Check {
  readonly key: string;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
  /** Undefined while another thread works on it. */
  valid: boolean | undefined;
}

/** Signature checks of one event, made on other threads before the fold asks for them. */
export class ChecksAhead {
  readonly #checks: Check[] = [];
  #open = 0;
  #onDone: (() => void) | undefined;

  get isDone(): boolean {
    return this.#open === 0;
  }

  /** Calls back once, when the last check under way is answered. */
  onDone(call: () => void): void {
    this.#onDone = call;
  }

  start(key: string, message: Uint8Array, signature: Uint8Array): void {
    const check: Check = { key, message, signature, valid: undefined };
    this.#checks.push(check);
    this.#open += 1;
    void verifyAsync(key, message, signature).then((valid) => {
      check.valid = valid;
      this.#open -= 1;
      if (this.#open === 0) this.#onDone?.();
    });
  }

  /** The answer, if exactly this was asked ahead. */
  answer(key: string, message: Uint8Array, signature: Uint8Array): boolean | undefined {
    for (const check of this.#checks) {
      const same = check.key === key && equalBytes(check.signature, signature) && equalBytes(check.message, message);
      if (same && check.valid !== undefined) return check.valid;
    }
    return undefined;
  }
}

/** Starts the checks that folding an event is likely to need. */
export class SignatureAhead {
  readonly #hints = new KeyHints();
  readonly #operator: string;
  /** The event being folded. */
  #current: ChecksAhead | undefined;
  /** Signatures checked on the fold's own thread, because nobody foresaw them. */
  missed = 0;

  /** @param operator the operator's public key, which certifies the keys of a run */
  constructor(operator: string) {
    this.#operator = operator;
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
    const checks = new ChecksAhead();
    for (const key of this.#keysOf(entry, checks)) checks.start(key, hash, signature);
    return checks.isDone ? undefined : checks;
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
