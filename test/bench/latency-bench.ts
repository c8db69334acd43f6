import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connect } from "@nats-io/transport-node";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { EventStream } from "@candor/bus";
import { launchServer } from "@candor/bus/server";
import { CandorError } from "@candor/contract";
import { serverProgram } from "../kit/start-server.js";
import { startWorld } from "../kit/world.js";
import { quantile, round } from "./figures.js";
import { castOf } from "./prefill.js";
import { openRun, taskMessages, type Message } from "./workload.js";

const rounds = 5;
const perRound = 300;
const everyMs = 1000 / 200;

export interface LatencyFigures {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly bareP50Ms: number;
  readonly bareP99Ms: number;
  readonly ratioP50: number;
  readonly samples: number;
}

/** Times from a publish to the arrival of what it brings forth, matched by a token. */
class Stopwatch {
  readonly times: number[] = [];
  readonly #started = new Map<string, number>();
  #allHere: (() => void) | undefined;

  start(token: string): void {
    this.#started.set(token, performance.now());
  }

  stop(token: string): void {
    const started = this.#started.get(token);
    if (started === undefined) return;
    this.#started.delete(token);
    this.times.push(performance.now() - started);
    if (this.#started.size === 0) this.#allHere?.();
  }

  /** @throws CandorError `undecided` if something does not arrive in ten seconds */
  async settled(): Promise<void> {
    if (this.#started.size === 0) return;
    const late = pause(10_000).then(() => {
      throw new CandorError("undecided", `${this.#started.size} answers did not arrive within 10 s.`);
    });
    await Promise.race([new Promise<void>((resolve) => (this.#allHere = resolve)), late]);
  }
}

/** Calls `send` at an even pace, whatever the machine does in between. */
async function atPace(count: number, send: (index: number) => void): Promise<void> {
  const started = performance.now();
  for (let i = 0; i < count; i += 1) {
    const waitMs = started + i * everyMs - performance.now();
    if (waitMs > 0) await pause(waitMs);
    send(i);
  }
}

async function startBare(
  dir: string,
): Promise<{ run: () => Promise<void>; watch: Stopwatch; close: () => Promise<void> }> {
  const server = await launchServer({ dataDir: dir, program: await serverProgram() });
  const nc = await connect({ servers: server.url });
  const jsm = await jetstreamManager(nc);
  await jsm.streams.add({ name: "IN", subjects: ["in.>"] });
  await jsm.streams.add({ name: "OUT", subjects: ["out.>"], republish: { src: "out.>", dest: "live.>" } });
  const relayMain = fileURLToPath(new URL("latency-relay.js", import.meta.url));
  const relay = spawn(process.execPath, [relayMain, server.url, "IN", "out"], { stdio: ["pipe", "pipe", "inherit"] });
  await once(relay.stdout, "data");
  const watch = new Stopwatch();
  nc.subscribe("live.>", {
    callback: (_, message) => {
      watch.stop(message.subject);
    },
  });
  await nc.flush();
  const js = jetstream(nc);
  const data = new Uint8Array(1_200);
  let next = 0;
  return {
    watch,
    run: async () => {
      await atPace(perRound, () => {
        next += 1;
        watch.start(`live.${next}`);
        void js.publish(`in.${next}`, data);
      });
      await watch.settled();
    },
    close: async () => {
      relay.stdin.end();
      await nc.close();
      await server.kill();
    },
  };
}

/** Report published to verdict received, at 200 a second, beside the same round trip with no logic, interleaved. */
export async function benchLatency(say: (line: string) => void): Promise<LatencyFigures> {
  const dir = await mkdtemp(join(tmpdir(), "candor-bare-"));
  const world = await startWorld();
  const bare = await startBare(dir);
  try {
    const cast = castOf(world, "latency");
    const fleetBus = await world.connect("orchestrator", "fleet");
    const fleet = new EventStream(fleetBus);
    const agent = new EventStream(await world.connect("agent", "payer"));
    const store = ({ subject, data }: Message): Promise<number> => fleet.store(subject, data);
    await store(openRun(cast));
    await world.startGuard();
    const reports: Message[] = [];
    for (let i = 0; i < (rounds + 1) * perRound; i += 1) {
      const { intent, events } = taskMessages(cast, `t${i}`, 8);
      await store(intent);
      for (const event of events.slice(0, -1)) await agent.send(event.subject, event.data);
      const report = events.at(-1);
      if (report !== undefined) reports.push(report);
    }
    await agent.flush();
    const watch = new Stopwatch();
    fleetBus.nc.subscribe("candor.live.vd.*.latency.*.disclosure", {
      callback: (_, message) => {
        watch.stop(message.subject.split(".")[5] ?? "");
      },
    });
    await fleetBus.nc.flush();
    const guarded = async (): Promise<void> => {
      await atPace(perRound, () => {
        const report = reports.shift();
        if (report === undefined) return;
        watch.start(report.subject.split(".")[5] ?? "");
        void agent.send(report.subject, report.data);
      });
      await watch.settled();
    };
    // The first round of each warms both up and is not counted.
    await guarded();
    await bare.run();
    watch.times.length = 0;
    bare.watch.times.length = 0;
    for (let i = 0; i < rounds; i += 1) {
      await guarded();
      await bare.run();
      say(`round ${i + 1} of ${rounds}`);
    }
    const p50Ms = quantile(watch.times, 0.5);
    const bareP50Ms = quantile(bare.watch.times, 0.5);
    return {
      p50Ms: round(p50Ms, 3),
      p99Ms: round(quantile(watch.times, 0.99), 3),
      bareP50Ms: round(bareP50Ms, 3),
      bareP99Ms: round(quantile(bare.watch.times, 0.99), 3),
      ratioP50: round(p50Ms / bareP50Ms, 3),
      samples: watch.times.length,
    };
  } finally {
    await bare.close();
    await world.close();
    await rm(dir, { recursive: true, force: true });
  }
}
