import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readLast, type Bus } from "@candor/bus";
import { decodeBody, decodeFrame, decodePayload, intentKeySubject, storedSubject, streams } from "@candor/contract";
import { startPaymentService, type PaymentService } from "@candor/demo";
import { connectOrchestrator, type Delegation, type Run } from "@candor/orchestrator";
import type { World } from "../kit/world.js";
import { expectedOf, type EffectCase, type EffectEnd, type EffectPoint, type EffectResult } from "./effect-points.js";
import { openEffectWire } from "./effect-wire.js";
import { startPayer, type PayerProcess } from "./payer-process.js";
import { until } from "./waiting.js";

/** One case with what must come out and what did. */
export interface EffectRow extends EffectCase {
  readonly expected: EffectResult;
  readonly happened: EffectResult | string;
  readonly good: boolean;
}

export interface EffectChaosOptions {
  readonly cases: readonly EffectCase[];
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

const agentName = "payer";
const decisionMs = 30_000;
/** Cases at once. */
const width = 3;

const ends: Readonly<Record<string, EffectEnd>> = { proceed: "settled", reconcile: "in doubt", escalate: "escalated" };

/** The local payment service, with which a case waits for what the service writes down of its payment. */
class Till {
  readonly #entries = new Map<string, (entry: "accepted" | "settled") => void>();
  readonly #transfers = new Map<string, Promise<void>>();
  #service: PaymentService | undefined;

  async open(): Promise<void> {
    this.#service = await startPaymentService({
      onEntry: (entry) => this.#entries.get(entry.entry === "accepted" ? entry.payment.key : entry.key)?.(entry.entry),
      transfer: ({ key }) => this.#transfers.get(key) ?? Promise.resolve(),
    });
  }

  get url(): string {
    return this.#service?.url ?? "";
  }

  /** Calls back at the very moment when the payment of a key gets there. It is settled only once `until` says so. */
  watch(key: string, place: "accepted" | "settled", until: Promise<void>, there: () => void): void {
    if (place === "accepted") this.#transfers.set(key, until);
    this.#entries.set(key, (entry) => {
      if (entry === place) there();
    });
  }

  booked(key: string): number {
    const payments = this.#service?.book().payments ?? [];
    return payments.filter((payment) => payment.key === key && payment.state === "booked").length;
  }

  async close(): Promise<void> {
    await this.#service?.close();
  }
}

class EffectChaos {
  readonly #world: World;
  readonly #run: Run;
  readonly #auditor: Bus;
  readonly #till: Till;
  readonly #signal: AbortSignal;
  readonly #payers = new Set<PayerProcess>();
  #tasks = 0;

  constructor(world: World, parts: { run: Run; auditor: Bus; till: Till; signal: AbortSignal }) {
    this.#world = world;
    this.#run = parts.run;
    this.#auditor = parts.auditor;
    this.#till = parts.till;
    this.#signal = parts.signal;
  }

  async row(one: EffectCase): Promise<EffectRow> {
    const expected = expectedOf(one);
    const happened = await this.#perform(one);
    const good = typeof happened !== "string" && happened.end === expected.end && happened.payments === expected.payments; // prettier-ignore
    return { ...one, expected, happened, good };
  }

  killAll(): void {
    for (const payer of this.#payers) payer.kill();
  }

  async #perform({ point, restart, inDoubt }: EffectCase): Promise<EffectResult | string> {
    this.#tasks += 1;
    const task = `pay-${this.#tasks}`;
    const intents = [{ name: "charge", target: "payments", inDoubt }];
    const options = { agent: this.#world.certificate("agent", agentName), brief: { keyTasks: ["pay"] }, intents };
    const delegation = await this.#run.delegate({ task, ...options });
    const key = delegation.intentKeys["charge"] ?? "";
    const spoolDir = this.#folder();
    await this.#killAt(point, delegation, key, spoolDir);
    const again = restart === "spool" ? delegation : await this.#run.redelegate(task, options);
    const second = this.#start(again, restart === "spool" ? spoolDir : this.#folder(), this.#world.urls, undefined);
    await until(this.#signal, `the end of ${task}`, () => Promise.race([second.ended.then(() => true), tick()]));
    const decision = await this.#run.decision(task, { timeoutMs: decisionMs });
    if (decision.kind === "undecided") return `undecided: ${decision.why} (${second.words.join(" ")})`;
    const end = ends[decision.action];
    return end === undefined ? decision.action : { end, payments: this.#till.booked(key) };
  }

  async #killAt(
    point: EffectPoint,
    { token, task, epoch, ...rest }: Delegation,
    key: string,
    spoolDir: string,
  ): Promise<void> {
    const isClaim = (subject: string): boolean => subject.includes(`.${key}.claim-`);
    const isEffect = (subject: string): boolean => subject.endsWith(`.${task}.effect`);
    const dropped = {
      claim: isClaim,
      dispatch: isEffect,
      result: (subject: string) => subject.endsWith(`.${key}.done`),
    };
    const wire = await openEffectWire({
      port: this.#world.nodes[0]?.port ?? 0,
      drops: point.drops === undefined ? () => false : dropped[point.drops],
      deafFrom: (subject) => point.deaf === true && (isClaim(subject) || isEffect(subject)),
    });
    try {
      const payer = this.#start({ token, task, epoch, ...rest }, spoolDir, [wire.url], point.hold);
      const died = payer.ended;
      if (point.booked !== undefined) {
        const there = new Promise<void>((resolve) => {
          this.#till.watch(key, point.booked ?? "settled", died, () => {
            payer.kill();
            resolve();
          });
        });
        await Promise.race([there, died]);
      } else if (point.hold !== undefined) await payer.holds;
      for (const what of point.stored ?? []) {
        await until(this.#signal, `${what} of ${task}`, () => this.#isStored(what, task, key), 5);
      }
      payer.kill();
      await died;
    } finally {
      await wire.close();
    }
  }

  async #isStored(what: "claim" | "dispatch" | "outcome", task: string, key: string): Promise<boolean> {
    const { id: run, lane } = this.#run;
    if (what === "claim") {
      const subject = intentKeySubject({ actor: agentName, run, key, step: "claim-1" });
      return (await readLast(this.#auditor, streams.keys, subject)) !== undefined;
    }
    const subject = storedSubject({ lane, role: "agent", actor: agentName, run, task, kind: "effect" });
    const last = await readLast(this.#auditor, streams.log, subject);
    if (last === undefined) return false;
    const { phase } = decodePayload("effect", decodeBody(decodeFrame(last.data).body).payload);
    return phase === (what === "dispatch" ? "dispatched" : "committed");
  }

  #start(
    { token, task, epoch }: Pick<Delegation, "token" | "task" | "epoch">,
    spoolDir: string,
    servers: readonly string[],
    hold: EffectPoint["hold"],
  ): PayerProcess {
    const tokenFile = join(this.#world.dir, `${task}-${epoch}.token`);
    writeFileSync(tokenFile, token, { mode: 0o600 });
    const credentials = this.#world.folder("agent", agentName);
    const job = { servers, credentials, spoolDir, tokenFile, service: this.#till.url };
    const payer = startPayer(hold === undefined ? job : { ...job, hold });
    this.#payers.add(payer);
    void payer.ended.then(() => this.#payers.delete(payer));
    return payer;
  }

  #folder(): string {
    return mkdtempSync(join(this.#world.dir, "spool-"));
  }
}

async function tick(): Promise<false> {
  await new Promise((resolve) => setTimeout(resolve, 20));
  return false;
}

/**
 * Kills a payer at each point around its effect, lets a fresh process go on, and looks at what the payment service booked and
 * what the guard says in the end (F7).
 */
export async function runEffectChaos(world: World, { cases, signal, say }: EffectChaosOptions): Promise<EffectRow[]> {
  await world.startGuard();
  const fleet = await connectOrchestrator({ servers: world.urls, credentials: world.folder("orchestrator", "fleet") });
  const till = new Till();
  try {
    await till.open();
    const run = await fleet.openRun();
    const chaos = new EffectChaos(world, { run, auditor: await world.connect("auditor", "auditor"), till, signal });
    const rows: EffectRow[] = [];
    const left = [...cases.entries()];
    let done = 0;
    const work = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [at, one] = next;
        rows[at] = await chaos.row(one);
        done += 1;
        say(`${done} of ${cases.length}: ${one.point.name}, ${one.restart}, ${one.inDoubt}`);
      }
    };
    try {
      await Promise.all(Array.from({ length: width }, work));
    } finally {
      chaos.killAll();
    }
    return rows;
  } finally {
    await fleet.close();
    await till.close();
  }
}
