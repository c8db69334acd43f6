import { CandorError, publishedSubject } from "@candor/contract";
import { LaneFold } from "@candor/guards";
import { admit } from "@candor/ledger";
import { cheapCast } from "./cheap-cast.js";
import { openRun, taskMessages, type Cast, type Message } from "./workload.js";

/** More than an intent that closes a task weighs. */
const closingBytes = 512;

const eventsPerTask = 20;

export interface MemoryFigures {
  readonly openTasks: number;
  readonly eventsPerTask: number;
  readonly bytesPerOpenTask: number;
  readonly bytesPerClosedTask: number;
}

function collected(): number {
  if (globalThis.gc === undefined) throw new CandorError("bad-argument", "Run it with node --expose-gc.");
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Plain tasks: names that end in 0 have neither terms nor anything that they say they examine. */
const taskName = (i: number): string => `t${i}0`;

/** A lane of one run, and the intents that close its tasks: in one piece, made before anything is measured. */
class MeasuredLane {
  readonly #cast: Cast;
  readonly #fold: LaneFold;
  readonly #closings: Uint8Array;
  readonly #lengths: Uint16Array;
  #seq = 0;

  constructor(cast: Cast, tasks: number) {
    this.#cast = cast;
    this.#fold = new LaneFold(0, { operator: cast.operatorKey });
    this.#closings = new Uint8Array(tasks * closingBytes);
    this.#lengths = new Uint16Array(tasks);
    this.#take(openRun(cast));
  }

  get openTasks(): number {
    return this.#fold.openTasks;
  }

  open(i: number): void {
    const { intent, events, close } = taskMessages(this.#cast, taskName(i), eventsPerTask, false);
    this.#take(intent);
    for (const event of events) this.#take(event);
    this.#closings.set(close.data, i * closingBytes);
    this.#lengths[i] = close.data.length;
  }

  close(i: number): void {
    const { run } = this.#cast;
    const subject = publishedSubject({ role: "orch", actor: "fleet", run, task: taskName(i), kind: "intent" });
    const start = i * closingBytes;
    this.#take({ subject, data: this.#closings.subarray(start, start + (this.#lengths[i] ?? 0)) });
  }

  #take({ subject, data }: Message): void {
    const [, , role, actor, run, task, kind] = subject.split(".");
    this.#seq += 1;
    const stored = `candor.log.0.${run ?? ""}.${task ?? ""}.${role ?? ""}.${actor ?? ""}.${kind ?? ""}`;
    // Copied, as a message that arrives from the network is an array of its own.
    const message = { seq: this.#seq, timeMs: this.#seq, subject: stored, data: Uint8Array.from(data) };
    this.#fold.fold(admit(message), () => true);
  }
}

/** Tasks after which the code has taken all the room that it takes. */
const warmUp = 2_000;

/** Heap growth of the fold over many open tasks of 20 events each, and what is left of it once all of them are closed. */
export function benchMemory(say: (line: string) => void, tasks = 100_000): MemoryFigures {
  const cast = cheapCast("memory");
  const before = new MeasuredLane(cast, warmUp);
  for (let i = 0; i < warmUp; i += 1) before.open(i);
  for (let i = 0; i < warmUp; i += 1) before.close(i);

  const lane = new MeasuredLane(cast, tasks);
  const empty = collected();
  for (let i = 0; i < tasks; i += 1) {
    lane.open(i);
    if ((i + 1) % (tasks / 5) === 0) say(`memory: ${i + 1} of ${tasks} tasks open`);
  }
  if (lane.openTasks !== tasks) throw new CandorError("defect", `${lane.openTasks} of ${tasks} tasks are open.`);
  const open = collected();
  for (let i = 0; i < tasks; i += 1) lane.close(i);
  const closed = collected();
  // Asked last: until here the lanes are not collected.
  const left = lane.openTasks + before.openTasks;
  if (left !== 0) throw new CandorError("defect", `${left} tasks are still open.`);
  return {
    openTasks: tasks,
    eventsPerTask,
    bytesPerOpenTask: Math.round((open - empty) / tasks),
    bytesPerClosedTask: Math.round((closed - empty) / tasks),
  };
}
