import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeBody, decodeFrame, decodePayload, silentLogger, type AgentKind, type Payload } from "@candor/contract";
import { issueCertificate, type Signer } from "@candor/ledger";
import type { TaskLimits } from "../task-limits.js";
import { openTask, type AcceptOptions } from "../task-opening.js";
import type { SubagentTask } from "../task.js";
import { HandOrchestrator, type DelegateFacts } from "./hand-orchestrator.js";
import { MemoryBus } from "./memory-bus.js";

export interface LoggedEvent {
  readonly seq: number;
  readonly kind: AgentKind;
  readonly payload: unknown;
}

interface BenchOptions {
  readonly spoolDir?: string;
  readonly as?: Signer;
  readonly operator?: Signer;
}

const limits: TaskLimits = { verdictMs: 200, dispatchMs: 500, settleMs: 300, flushMs: 2_000, openCallsMs: 300 };

/** The minted intent of most tests. */
export const charge = { intent: "charge", key: "key-1", target: "payments" } as const;
export const pass = { claim: "pass", summary: "done" } as const;

/** An error as an HTTP client throws it. */
export function httpError(status: number): Error {
  return Object.assign(new TypeError(`status ${status}`), { status });
}

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** A log in memory, an orchestrator that writes by hand, and a folder for spools. */
export class TestBench {
  readonly bus = new MemoryBus();
  readonly orchestrator: HandOrchestrator;
  readonly spoolDir = mkdtempSync(join(tmpdir(), "candor-subagent-"));
  readonly #tasks: SubagentTask[] = [];

  constructor() {
    this.orchestrator = new HandOrchestrator((subject, data) => this.bus.add(subject, data));
  }

  async accept(token: string, options: AcceptOptions & BenchOptions = {}): Promise<SubagentTask> {
    const { as = this.orchestrator.agent, operator = this.orchestrator.operator } = options;
    const context = {
      identity: {
        name: "agent",
        signer: as,
        certificate: issueCertificate(operator, { role: "agent", name: "agent", key: as.publicKey }),
        operator: operator.publicKey,
      },
      bus: this.bus,
      spoolDir: options.spoolDir ?? this.spoolDir,
      limits,
      logger: silentLogger,
    };
    const task = await openTask(context, token, options);
    this.#tasks.push(task);
    return task;
  }

  /** Delegates the task `t`, with the intent `charge` unless told otherwise, and accepts it. */
  async accepted(facts: DelegateFacts = { intents: [charge] }): Promise<SubagentTask> {
    const intent = await this.orchestrator.delegate("t", facts);
    return this.accept(intent.token);
  }

  /** The agent's events of a task, each once, in `seq` order. */
  events(task: string, epoch = 1): LoggedEvent[] {
    const bySeq = new Map<number, LoggedEvent>();
    for (const data of this.bus.stored(`candor.log.*.*.${task}.agent.agent.*`)) {
      const event = decodeBody(decodeFrame(data).body);
      if (event.epoch !== epoch) continue;
      const kind = event.kind as AgentKind;
      bySeq.set(event.seq, { seq: event.seq, kind, payload: decodePayload(event.kind, event.payload) });
    }
    return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
  }

  payloads<K extends AgentKind>(task: string, kind: K, epoch = 1): Payload<K>[] {
    return this.events(task, epoch)
      .filter((event) => event.kind === kind)
      .map(({ payload }) => payload as Payload<K>);
  }

  async end(): Promise<void> {
    this.bus.reconnect();
    await Promise.allSettled(this.#tasks.map((task) => task.close()));
    rmSync(this.spoolDir, { recursive: true, force: true });
  }
}
