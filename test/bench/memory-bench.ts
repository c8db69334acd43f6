import { CandorError, sha256 } from "@candor/contract";
import { LaneFold } from "@candor/guards";
import { admit, createSeed, createSigner, issueCertificate, type Signer } from "@candor/ledger";
import { round } from "./figures.js";
import { openRun, taskMessages, type Cast, type Message } from "./workload.js";

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

/** Signatures are not what is measured here, and two million of them would take minutes. */
function cheapSigner(name: string): Signer {
  const { publicKey } = createSigner(createSeed());
  return {
    publicKey,
    sign: (message) => new Uint8Array([...sha256(message), ...sha256(message)]).fill(name.length, 0, 1),
  };
}

/** Heap growth of the fold over many open tasks of 20 events each, and what is left of it once they are closed. */
export function benchMemory(say: (line: string) => void, tasks = 100_000): MemoryFigures {
  const operator = createSigner(createSeed());
  const fleet = cheapSigner("fleet");
  const certificate = issueCertificate(operator, { role: "orch", name: "fleet", key: fleet.publicKey });
  const taskKey = cheapSigner("task");
  const cast: Cast = {
    run: "memory",
    operatorKey: operator.publicKey,
    fleet: { certificate, signer: fleet },
    agent: { name: "agent", signer: cheapSigner("agent") },
    taskKey: () => taskKey,
  };
  const fold = new LaneFold(0, { operator: operator.publicKey });
  let seq = 0;
  const foldMessage = ({ subject, data }: Message): void => {
    const [, , role, actor, run, task, kind] = subject.split(".");
    seq += 1;
    const stored = `candor.log.0.${run ?? ""}.${task ?? ""}.${role ?? ""}.${actor ?? ""}.${kind ?? ""}`;
    // Copied, as a message that arrives from the network is an array of its own.
    fold.fold(admit({ seq, timeMs: seq, subject: stored, data: Uint8Array.from(data) }), () => true);
  };
  foldMessage(openRun(cast));
  const before = collected();
  const closings: Message[] = [];
  for (let i = 0; i < tasks; i += 1) {
    const { intent, events, close } = taskMessages(cast, `t${i}`, eventsPerTask, false);
    foldMessage(intent);
    for (const event of events) foldMessage(event);
    if (i % 10 === 0) closings.push(close);
    if ((i + 1) % (tasks / 5) === 0) say(`memory: ${i + 1} of ${tasks} tasks open`);
  }
  if (fold.openTasks !== tasks) throw new CandorError("defect", `${fold.openTasks} of ${tasks} tasks are open.`);
  const held = closings.reduce((sum, { data }) => sum + data.length + 200, 0);
  const open = collected() - held;
  for (const closing of closings) foldMessage(closing);
  const closed = collected() - held;
  const released = (open - closed) / closings.length;
  const perOpen = (open - before) / tasks;
  return {
    openTasks: tasks,
    eventsPerTask,
    bytesPerOpenTask: Math.round(perOpen),
    bytesPerClosedTask: round(perOpen - released, 0),
  };
}
