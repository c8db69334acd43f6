import { randomBytes } from "node:crypto";
import { CandorError, evidenceLimits, evidenceSubject, type EvidenceHandle } from "@candor/contract";
import type { Bus } from "@candor/bus";
import { connectOrchestrator } from "@candor/orchestrator";
import { connectSubagent } from "@candor/subagent";
import { startWorld } from "../kit/world.js";
import { median, round } from "./figures.js";

const rounds = 5;
const mib = 1024 * 1024;
/** Chunks under way at a time, for the bare client as for the store. */
const window = 8;

export interface EvidenceFigures {
  readonly sizeMiB: number;
  /** Medians of the rounds, MB (10^6 bytes) a second. */
  readonly putMBs: number;
  readonly getMBs: number;
  /** The same chunks published and looked up by the bare client: no hash, no copy on disk, no check. */
  readonly rawPutMBs: number;
  readonly rawGetMBs: number;
  /** The most that this process grew over what it held before, in any round. */
  readonly putRssGrowthMiB: number;
  readonly getRssGrowthMiB: number;
}

interface Measured {
  readonly mbs: number;
  readonly growthMiB: number;
}

/** Speed of a piece of work over all bytes, and how far resident memory rose above where it was. */
async function measured(work: () => Promise<unknown>): Promise<Measured> {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let peak = before;
  const look = (): void => {
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  const timer = setInterval(look, 5);
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  look();
  clearInterval(timer);
  return { mbs: evidenceLimits.maxBytes / 1e6 / seconds, growthMiB: (peak - before) / mib };
}

/** 64 MiB that differ each time, made as they are asked for. */
function* blocks(): Generator<Uint8Array, void, undefined> {
  const block = randomBytes(mib);
  for (let i = 0; i < evidenceLimits.maxBytes / mib; i += 1) {
    block.writeUInt32LE(i, 0);
    yield new Uint8Array(block);
  }
}

async function* stream(): AsyncGenerator<Uint8Array, void, undefined> {
  for (const block of blocks()) {
    await Promise.resolve();
    yield block;
  }
}

/** Runs `count` requests, `window` at a time. */
async function windowed(count: number, request: (n: number) => Promise<unknown>): Promise<void> {
  let next = 1;
  const lane = async (): Promise<void> => {
    while (next <= count) {
      next += 1;
      await request(next - 1);
    }
  };
  await Promise.all(Array.from({ length: window }, lane));
}

async function bareRound({ nc, apiPrefix }: Bus, name: string, run: string): Promise<{ put: number; get: number }> {
  const at = { actor: name, run, hash: randomBytes(32) };
  const chunk = new Uint8Array(randomBytes(evidenceLimits.chunkBytes));
  const chunks = evidenceLimits.maxBytes / evidenceLimits.chunkBytes;
  const put = await measured(() => windowed(chunks, (n) => nc.request(evidenceSubject(at, n), chunk)));
  const prefix = `${apiPrefix}.DIRECT.GET.CANDOR_EVIDENCE`;
  const get = await measured(() => windowed(chunks, (n) => nc.request(`${prefix}.${evidenceSubject(at, n)}`)));
  return { put: put.mbs, get: get.mbs };
}

/** Speed and memory of 64 MiB of evidence, put as a stream and read as one, beside the bare client on the same server. */
export async function benchEvidence(say: (line: string) => void): Promise<EvidenceFigures> {
  const world = await startWorld({ lanes: 4 });
  try {
    const [servers, name] = [world.urls, "payer"];
    const fleet = await connectOrchestrator({ servers, credentials: world.folder("orchestrator", "fleet") });
    const agent = await connectSubagent({ servers, credentials: world.folder("agent", name) });
    const run = await fleet.openRun();
    const { token } = await run.delegate({ task: "bench", agent: world.certificate("agent", name) });
    const task = await agent.accept(token);
    const puts: Measured[] = [];
    const gets: Measured[] = [];
    await task.run(async (ctx) => {
      // What is loaded and compiled on the first use counts as no growth.
      const first = await ctx.evidence.put("first", randomBytes(4 * mib));
      await run.evidence.get(first).verify();
      for (let i = 1; i <= rounds; i += 1) {
        let handle: EvidenceHandle | undefined;
        puts.push(await measured(async () => (handle = await ctx.evidence.put(`round ${i}`, stream()))));
        let read = 0;
        const body = run.evidence.get(handle as EvidenceHandle);
        gets.push(await measured(async () => { for await (const part of body) read += part.length; })); // prettier-ignore
        if (read !== evidenceLimits.maxBytes) throw new CandorError("defect", `${read} bytes were read.`);
        say(
          `evidence: round ${i} of ${rounds}: put ${puts.at(-1)?.mbs.toFixed(0)}, get ${gets.at(-1)?.mbs.toFixed(0)} MB/s`,
        );
      }
      return { claim: "pass" };
    });
    const bus = await world.connect("agent", name);
    const bare: { put: number; get: number }[] = [];
    for (let i = 0; i < rounds; i += 1) bare.push(await bareRound(bus, name, run.id));
    await agent.close();
    await fleet.close();
    return {
      sizeMiB: evidenceLimits.maxBytes / mib,
      putMBs: round(median(puts.map(({ mbs }) => mbs)), 0),
      getMBs: round(median(gets.map(({ mbs }) => mbs)), 0),
      rawPutMBs: round(median(bare.map(({ put }) => put)), 0),
      rawGetMBs: round(median(bare.map(({ get }) => get)), 0),
      putRssGrowthMiB: round(Math.max(...puts.map(({ growthMiB }) => growthMiB)), 1),
      getRssGrowthMiB: round(Math.max(...gets.map(({ growthMiB }) => growthMiB)), 1),
    };
  } finally {
    await world.close();
  }
}
