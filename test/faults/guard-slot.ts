import { setTimeout as pause } from "node:timers/promises";
import { isCandorError } from "@candor/contract";
import type { GuardProcess, World } from "../kit/world.js";
import { openGuardWire, type Fate, type GuardWire } from "./guard-wire.js";

export interface GuardSlotOptions {
  readonly world: World;
  readonly name: string;
  readonly lane: number;
  readonly ports: readonly number[];
  /** What is to become of the next verdict that this guard sends; asked only while it is ready. */
  readonly fate: (slot: GuardSlot) => Fate;
  readonly say: (line: string) => void;
}

/** A lane that stopped, or a verdict that another guard stored differently: never to be seen. */
const alarm = /"level":[56]0/;

/** One of the guards: the process as shipped, started again whenever it ends, behind a wire that sees what it sends. */
export class GuardSlot {
  readonly name: string;
  kills = 0;
  /** Verdicts whose answers were kept back, the guard being dead. */
  keptBack = 0;
  /** Lines of its logs that say that something is wrong with log or verdicts. */
  readonly alarms: string[] = [];
  readonly #options: GuardSlotOptions;
  #wire: GuardWire | undefined;
  #process: GuardProcess | undefined;
  #starting: Promise<void> | undefined;
  #isOver = false;

  constructor(options: GuardSlotOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get isReady(): boolean {
    return this.#process !== undefined;
  }

  /** Resolves once it runs and reads its lane. */
  async ready(): Promise<void> {
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    await this.#starting;
  }

  /** Ends it with SIGKILL, at once, and starts it again. */
  kill(): void {
    const killed = this.#process;
    if (killed === undefined) return;
    this.#process = undefined;
    this.kills += 1;
    killed.child.kill("SIGKILL");
    this.#note(killed);
    this.#startAgain();
  }

  /** Stops it where it stands, as a machine that hangs does. */
  freeze(): void {
    this.#process?.child.kill("SIGSTOP");
  }

  /** Lets it go on, with what it was just sending. */
  thaw(): void {
    this.#process?.child.kill("SIGCONT");
    this.#wire?.release();
  }

  /** From now on it is not started again. */
  abandon(): void {
    this.#isOver = true;
  }

  /** Ends it in order, for good. */
  async close(): Promise<void> {
    this.abandon();
    await this.#starting;
    const last = this.#process;
    this.#process = undefined;
    await last?.kill("SIGTERM");
    if (last !== undefined) this.#note(last);
    await this.#wire?.close();
  }

  async #start(): Promise<void> {
    const { world, name, lane, ports, fate } = this.#options;
    this.#wire ??= await openGuardWire({
      ports,
      onVerdict: () => (this.isReady ? fate(this) : "pass"),
      onKeptBack: () => {
        this.keptBack += 1;
      },
    });
    while (this.#process === undefined && !this.#isOver) {
      try {
        const started = await world.startGuard(name, { servers: [this.#wire.url], lanes: String(lane) });
        this.#process = started;
        void started.ended.then((end) => {
          this.#ended(started, end);
        });
      } catch (error) {
        // Without a server, or with one that elects its leader, it ends again: whoever runs guards starts them anew.
        const why = isCandorError(error) ? error.message : String(error);
        this.#options.say(`${name} did not start, and is started again: ${why}`);
        await pause(100);
      }
    }
  }

  #startAgain(): void {
    if (!this.#isOver) void this.ready();
  }

  /** An end that nobody brought about is an alarm in itself. */
  #ended(ended: GuardProcess, end: number | string): void {
    if (this.#process !== ended || this.#isOver) return;
    this.#process = undefined;
    this.#note(ended);
    this.alarms.push(`${this.name} ended by itself: ${end}: ${ended.log().slice(-500)}`);
    this.#startAgain();
  }

  #note(ended: GuardProcess): void {
    this.alarms.push(
      ...ended
        .log()
        .split("\n")
        .filter((line) => alarm.test(line)),
    );
  }
}
