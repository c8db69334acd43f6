import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { evidencePort, listEvidence, Publisher, putEvidence, openEvidenceSource, type Bus } from "@candor/bus";
import {
  defaultPolicy,
  encodeEvidenceManifest,
  evidenceLimits,
  evidenceSubject,
  hex,
  type EvidenceHandle,
  type PropagatedFailure,
} from "@candor/contract";
import { startGuard, type Guard } from "@candor/guard";
import { connectOrchestrator, failureOf, type Fleet, type Run } from "@candor/orchestrator";
import { connectSubagent, type Subagent, type TaskContext } from "@candor/subagent";
import { candor, candorHere } from "../kit/candor.js";
import { HandAgent } from "../kit/hand-agent.js";
import { startWorld, type World } from "../kit/world.js";

let world: World;
let guard: Guard;
let fleet: Fleet;
let agent: Subagent;
let other: Subagent;
let auditor: Bus;
let operator: Bus;
let payer: Bus;
let run: Run;
let tasks = 0;

const chunk = evidenceLimits.chunkBytes;
const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

beforeAll(async () => {
  world = await startWorld({ lanes: 4 });
  const { name, signer, certificate, trust } = world.credentials("guard", "g1");
  if (certificate === undefined) throw new TypeError("no certificate");
  guard = await startGuard({
    connection: await world.connect("guard", "g1"),
    identity: { name, signer, certificate, operator: trust.operator },
    settings: { collectMs: 50 },
  });
  const servers = world.urls;
  fleet = await connectOrchestrator({ servers, credentials: world.folder("orchestrator", "fleet") });
  agent = await connectSubagent({ servers, credentials: world.folder("agent", "payer") });
  other = await connectSubagent({ servers, credentials: world.folder("agent", "reviewer") });
  [auditor, operator, payer] = await Promise.all([
    world.connect("auditor", "auditor"),
    world.connect("operator", "operator"),
    world.connect("agent", "payer"),
  ]);
  run = await fleet.openRun({ run: "kept" });
}, 60_000);
afterAll(async () => {
  await agent.close();
  await other.close();
  await fleet.close();
  await guard.stop();
  await world.close();
});

/** Delegates a task that its orchestrator can check itself, and does it. */
async function work(
  callback: (ctx: TaskContext) => unknown,
  { as = agent, of = run }: { readonly as?: Subagent; readonly of?: Run } = {},
): Promise<{ readonly task: string; readonly error: unknown }> {
  const task = `t${(tasks += 1)}`;
  const { token } = await of.delegate({
    task,
    agent: world.certificate("agent", as.name),
    brief: { directlyVerifiable: true },
  });
  const { error } = await (await as.accept(token)).run(callback);
  return { task, error };
}

interface DecidedHere {
  readonly action: string;
  readonly findings: readonly string[];
  readonly failure: PropagatedFailure | undefined;
}

async function decided(task: string): Promise<DecidedHere> {
  const decision = await run.decision(task, { timeoutMs: 10_000 });
  if (decision.kind === "undecided") throw new TypeError(decision.sentence);
  return {
    action: decision.action,
    findings: decision.verdicts.flatMap(({ findings }) => findings.map((f) => f.code)),
    failure: failureOf(decision.verdicts),
  };
}

async function refusal(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "nothing was refused",
    (error: unknown) => error,
  );
}

describe("T2 evidence", () => {
  it("is stored once under its hash, goes into the report, and is read by its handle", async () => {
    const log = "line\n".repeat(50_000);
    const handles: EvidenceHandle[] = [];
    const { task } = await work(async (ctx) => {
      handles.push(
        await ctx.evidence.put("the log", log),
        await ctx.evidence.put("the same again", Readable.from([log.slice(0, 7), log.slice(7)])),
        await ctx.evidence.put("nothing", new Uint8Array()),
        await ctx.evidence.put("just a chunk", new Uint8Array(chunk).fill(7)),
      );
      const [first] = handles;
      expect(await ctx.evidence.get(first as EvidenceHandle).text()).toBe(log);
      return { claim: "pass", summary: "kept" };
    });
    expect(await decided(task)).toEqual({ action: "proceed", findings: [] });
    const result = await run.result(task);
    expect(result).toMatchObject({ task, epoch: 1, actor: "payer", claim: "pass", summary: "kept", caveats: [] });
    expect(result?.evidence.map(({ label, size }) => [label, size])).toEqual([
      ["the log", log.length],
      ["nothing", 0],
      ["just a chunk", chunk],
    ]);
    expect(handles.map((handle) => handle.sha256)).toEqual([
      sha256(log),
      sha256(log),
      sha256(""),
      sha256(new Uint8Array(chunk).fill(7)),
    ]);
    for (const handle of result?.evidence ?? []) {
      expect(sha256(await run.evidence.get(handle).bytes())).toBe(handle.sha256);
    }
    expect((await listEvidence(auditor, run.id)).map(({ hash }) => hex(hash)).sort()).toEqual(
      [...new Set(handles.map((handle) => handle.sha256))].sort(),
    );
  });

  it("64 MiB fit, streamed on both sides, and a byte more does not", async () => {
    const block = randomBytes(1024 * 1024);
    const blocks = (count: number, more = 0) =>
      Readable.from((function* () {
        for (let i = 0; i < count; i += 1) yield block;
        if (more > 0) yield new Uint8Array(more);
      })()); // prettier-ignore
    let kept: EvidenceHandle | undefined;
    const { error } = await work(async (ctx) => {
      kept = await ctx.evidence.put("all that fits", blocks(64));
      await expect(ctx.evidence.put("too much", blocks(64, 1))).rejects.toMatchObject({
        code: "too-large",
        path: "source",
      });
      return { claim: "pass" };
    });
    expect(error).toBeUndefined();
    const hash = createHash("sha256");
    let size = 0;
    for await (const part of run.evidence.get(kept as EvidenceHandle)) {
      hash.update(part);
      size += part.length;
    }
    expect([size, hash.digest("hex")]).toEqual([evidenceLimits.maxBytes, kept?.sha256]);
  });

  it("S22 a child that fails keeps its findings: they are in its report, and in the failure that goes up", async () => {
    const { task } = await work(async (ctx) => {
      await ctx.evidence.put("found so far", "row 17 is broken");
      throw Object.assign(new TypeError("no such table"), { status: 422 });
    });
    const { action, failure } = await decided(task);
    expect(action).toBe("redispatch");
    const result = await run.result(task);
    expect(result).toMatchObject({ claim: "fail", finishReason: "error" });
    const [handle] = result?.evidence ?? [];
    expect(await run.evidence.get(handle as EvidenceHandle).text()).toBe("row 17 is broken");
    const [found] = run.evidence.of(failure ?? expect.unreachable("no guard says that the task failed"));
    expect(found).toEqual({ ...handle, label: "(sealed)" });
    expect(await run.evidence.get(found as EvidenceHandle).text()).toBe("row 17 is broken");
    const shown = await candorHere(["task", "show", run.id, task, ...operatorPlace()]);
    expect(shown.stdout).toMatch(new RegExp(`^had found +${handle?.sha256 ?? ""} of payer, 16 bytes$`, "m"));
  });

  it("S23 a pointer to nothing: the SDK refuses it, and no report points to it", async () => {
    const nothing = {
      run: run.id,
      actor: "payer",
      sha256: sha256("delivered above"),
      size: 15,
      label: "delivered above",
    };
    const { task, error } = await work(() => ({ claim: "pass", summary: "delivered above", evidence: [nothing] }));
    expect(error).toMatchObject({ code: "evidence-missing" });
    expect((await decided(task)).action).toBe("redispatch");
    expect((await run.result(task))?.evidence).toEqual([]);
  });

  it("what an earlier epoch kept can be pointed to again, once all of it was read", async () => {
    let kept: EvidenceHandle | undefined;
    await work(async (ctx) => {
      kept = await ctx.evidence.put("from before", "as it was");
    });
    const { task } = await work(() => ({ claim: "pass", evidence: [kept] }));
    expect(await decided(task)).toEqual({ action: "proceed", findings: [] });
    expect((await run.result(task))?.evidence).toEqual([kept]);
  });

  it("handles of another run, of another agent, or made up, are refused with the field's path", async () => {
    const elsewhere = await fleet.openRun();
    let foreign: EvidenceHandle | undefined;
    await work(async (ctx) => (foreign = await ctx.evidence.put("elsewhere", "secret")), { of: elsewhere });
    const handle = foreign as EvidenceHandle;
    expect(() => run.evidence.get(handle)).toThrow(
      expect.objectContaining({ code: "bad-argument", path: "handle.run" }) as Error,
    );
    // The hash alone does not open it either: there is no such evidence in this run.
    await expect(run.evidence.get({ ...handle, run: run.id }).bytes()).rejects.toMatchObject({
      code: "evidence-missing",
    });
    await work(
      (ctx) => {
        expect(() => ctx.evidence.get({ ...handle, run: run.id })).toThrow(
          expect.objectContaining({ code: "bad-argument", path: "handle.actor" }) as Error,
        );
        for (const [field, value] of Object.entries({ sha256: "ab", size: Number.NaN, actor: "a.*", label: 7 })) {
          const made = { ...handle, run: run.id, actor: "reviewer", [field]: value };
          expect(() => ctx.evidence.get(made)).toThrow(
            expect.objectContaining({ code: "bad-argument", path: `handle.${field}` }) as Error,
          );
        }
      },
      { as: other },
    );
    elsewhere.release();
  });
});

describe("T2 evidence that was tampered with", () => {
  /** Stores under a hash what is not it, as an agent may that goes past the SDK. */
  async function forge(
    hash: string,
    size: number,
    chunks: readonly (Uint8Array | undefined)[],
  ): Promise<EvidenceHandle> {
    const at = { actor: "payer", run: run.id, hash: Buffer.from(hash, "hex") };
    const messages = [encodeEvidenceManifest({ version: 1, size, label: Uint8Array.of(1) }), ...chunks];
    for (const [n, bytes] of messages.entries()) {
      if (bytes !== undefined) await payer.nc.request(evidenceSubject(at, n), bytes);
    }
    return { run: run.id, actor: "payer", sha256: hash, size, label: "forged" };
  }
  const [a, b] = [new Uint8Array(chunk).fill(1), new Uint8Array(chunk).fill(2)];
  const tail = new Uint8Array(10).fill(3);
  const whole = (...parts: Uint8Array[]): string => sha256(Buffer.concat(parts));
  const size = 2 * chunk + 10;

  it.each([
    ["a chunk is missing", whole(a, b, tail, a), [a, undefined, tail], "evidence-missing"],
    ["its end is missing", whole(a, b, tail, b), [a, b], "evidence-missing"],
    ["two chunks are swapped", whole(a, b, tail), [b, a, tail], "evidence-altered"],
    ["a chunk is cut", whole(a, b, tail, tail), [a, b.subarray(1), tail], "evidence-altered"],
    ["its end is longer", whole(b, b, tail), [b, b, a], "evidence-altered"],
    ["the hash is another", sha256("other"), [a, b, tail], "evidence-altered"],
  ] as const)("%s: refused, and the last chunk is never handed out", async (_, hash, chunks, code) => {
    const handle = await forge(hash, size, chunks);
    let read = 0;
    const reading = (async () => {
      for await (const part of run.evidence.get(handle)) read += part.length;
    })();
    expect(await refusal(reading)).toMatchObject({ code });
    expect(read).toBeLessThan(size);
    const { task, error } = await work(() => ({ claim: "pass", evidence: [handle] }));
    expect(error).toMatchObject({ code });
    // What is missing can be made again; where something else lies in its place, a person has to look.
    expect((await decided(task)).action).toBe(code === "evidence-missing" ? "redispatch" : "halt");
    expect((await run.result(task))?.evidence).toEqual([]);
  });

  it("a handle that states another size, and a manifest that is none", async () => {
    const handle = await forge(whole(tail), 10, [tail]);
    expect(await refusal(run.evidence.get({ ...handle, size: 11 }).bytes())).toMatchObject({
      code: "evidence-altered",
    });
    const at = { actor: "payer", run: run.id, hash: Buffer.from(sha256("junk"), "hex") };
    await payer.nc.request(evidenceSubject(at, 0), "no manifest");
    const junk = { ...handle, sha256: sha256("junk") };
    expect(await refusal(run.evidence.get(junk).bytes())).toMatchObject({ code: "evidence-altered" });
  });

  it("S23 the guard finds a pointer whose body is not whole", async () => {
    // The manifest is there and reads well; the second chunk is not.
    const hash = whole(b, a);
    await forge(hash, 2 * chunk, [b]);
    const hollow = { actor: "payer", hash: Buffer.from(hash, "hex"), size: 2 * chunk, label: Uint8Array.of(1) };
    const task = `t${(tasks += 1)}`;
    const certificate = world.certificate("agent", "payer");
    const { token } = await run.delegate({ task, agent: certificate, brief: { directlyVerifiable: true } });
    const liar = await HandAgent.accept(payer, world.credentials("agent", "payer"), token);
    await liar.report({ evidence: [hollow] });
    expect(await decided(task)).toEqual({ action: "halt", findings: ["dangling-evidence"] });
  });
});

describe("T4 T5 results beside each other, and beside their work", () => {
  it("two that contradict each other about the same thing: the pair, and what to open", async () => {
    const reviews = await fleet.openRun({ run: "reviews" });
    const review = async (task: string, as: Subagent, claim: "pass" | "fail", seen: string): Promise<void> => {
      const { token } = await reviews.delegate({
        task,
        agent: world.certificate("agent", as.name),
        brief: { directlyVerifiable: true, examines: ["0004_order_status.sql"] },
      });
      await (
        await as.accept(token)
      ).run(async (ctx) => {
        ctx.consumed(400);
        await ctx.evidence.put("what was seen", seen);
        return { claim, summary: "x".repeat(claim === "pass" ? 319 : 320) };
      });
    };
    const decide = async (task: string): Promise<unknown> => {
      const decision = await reviews.decision(task, { timeoutMs: 10_000 });
      return [decision.kind === "decided" && decision.action, decision.verdicts.map(({ verdict }) => verdict)];
    };
    await review("first", agent, "pass", "nothing dangerous");
    expect(await decide("first")).toEqual(["proceed", ["FULL_DISCLOSURE_VERIFIED"]]);
    expect(reviews.conflicts()).toEqual([]);
    await review("second", other, "fail", "line 3 drops a column");
    expect(await decide("second")).toEqual([
      "redispatch",
      expect.arrayContaining(["FULL_DISCLOSURE_VERIFIED", "UNDER_DECOMPOSED", "RESULTS_CONFLICT"]),
    ]);
    expect(await decide("first")).toEqual(["verify", ["FULL_DISCLOSURE_VERIFIED", "RESULTS_CONFLICT"]]);
    const [conflict, ...others] = reviews.conflicts();
    expect(others).toEqual([]);
    expect(conflict).toEqual({
      pass: { task: "first", epoch: 1, actor: "payer" },
      fail: { task: "second", epoch: 1, actor: "reviewer" },
      on: ["0004_order_status.sql"],
      evidence: [
        { task: "first", actor: "payer", sha256: sha256("nothing dangerous") },
        { task: "second", actor: "reviewer", sha256: sha256("line 3 drops a column") },
      ],
    });
    const opened = await Promise.all(
      (conflict?.evidence ?? []).map(async ({ task, sha256: hash }) => {
        const { evidence = [], decomposition } = (await reviews.result(task)) ?? {};
        const handle = evidence.find((one) => one.sha256 === hash) as EvidenceHandle;
        return [decomposition, await reviews.evidence.get(handle).text()];
      }),
    );
    expect(opened).toEqual([
      ["sound", "nothing dangerous"],
      ["under-decomposed", "line 3 drops a column"],
    ]);
    const shown = await candorHere(["run", "show", "reviews", ...operatorPlace()]);
    expect(shown.stdout).toContain("first says pass, second fail on 0004_order_status.sql; open ");
    await reviews.closeTask("second", { state: "rejected" });
    await expect.poll(() => reviews.conflicts()).toEqual([]);
    expect(await decide("first")).toEqual(["proceed", ["FULL_DISCLOSURE_VERIFIED"]]);
    reviews.release();
  });
});

describe("T3 lifetime of evidence", () => {
  it("an agent can neither overwrite nor delete it, its own included", async () => {
    let kept: EvidenceHandle | undefined;
    await work(async (ctx) => {
      kept = await ctx.evidence.put("to stay", "as it is");
    });
    const handle = kept as EvidenceHandle;
    const at = { actor: "payer", run: run.id, hash: Buffer.from(handle.sha256, "hex") };
    const publisher = new Publisher(payer);
    for (const n of [0, 1]) {
      expect(await publisher.publish({ subject: evidenceSubject(at, n), bytes: Buffer.from("other") })).toMatchObject({
        type: "taken",
      });
    }
    publisher.close();
    const requests = ["STREAM.PURGE", "STREAM.DELETE", "STREAM.MSG.DELETE", "STREAM.UPDATE", "STREAM.INFO"];
    const strangers = await Promise.all([
      world.connect("agent", "fetcher"),
      world.connect("orchestrator", "fleet"),
      world.connect("prober", "prober"),
    ]);
    for (const { nc, apiPrefix } of [payer, auditor, ...strangers]) {
      for (const request of requests) {
        if (request === "STREAM.INFO" && nc === auditor.nc) continue;
        for (const prefix of [apiPrefix, "$JS.API"]) {
          const body = JSON.stringify({ filter: "candor.evidence.>", seq: 1_000_000 });
          await nc.request(`${prefix}.${request}.CANDOR_EVIDENCE`, body, { timeout: 200 }).catch(() => undefined);
        }
      }
    }
    expect(await run.evidence.get(handle).text()).toBe("as it is");
    // Whoever may not look at another's evidence gets no answer to a look-up, whatever subject is asked for.
    const [fetcher] = strangers;
    for (const subject of [evidenceSubject(at, 1), "candor.evidence.>"]) {
      const asked = fetcher.nc.request(`candor.js.DIRECT.GET.CANDOR_EVIDENCE.${subject}`, "", { timeout: 200 });
      expect(await refusal(asked)).toBeInstanceOf(Error);
    }
  });

  it("goes when the run is closed and its retention over; the log keeps hash, label and size, and names what went", async () => {
    const short = await fleet.openRun({ run: "short", policy: { ...defaultPolicy, evidenceRetentionMs: 300 } });
    const long = await fleet.openRun({ run: "long", policy: { ...defaultPolicy, evidenceRetentionMs: 3_600_000 } });
    const kept: Record<string, EvidenceHandle> = {};
    for (const each of [short, long]) {
      await work(async (ctx) => (kept[each.id] = await ctx.evidence.put("to go", `evidence of ${each.id}`)), {
        of: each,
      });
    }
    // Stored past the SDK, and in no report.
    const at = { actor: "payer", run: "short", hash: Buffer.from(sha256("unreported"), "hex") };
    await payer.nc.request(evidenceSubject(at, 0), "no manifest");
    await payer.nc.request(evidenceSubject(at, 1), "unreported");
    const isThere = async (id: string): Promise<number> => (await listEvidence(operator, id)).length;
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(await isThere("short")).toBe(2);
    const closed = [await short.close({ state: "completed" }), await long.close({ state: "completed" })];
    expect(await isThere("short")).toBe(2);
    await expect.poll(() => isThere("short"), { timeout: 10_000 }).toBe(0);
    expect(await isThere("long")).toBe(1);
    expect(closed).toHaveLength(2);

    const story = await candorJson("evidence", "list", "short");
    expect(story).toMatchObject([
      { sha256: kept["short"]?.sha256, actor: "payer", size: 17, label: "to go", state: "collected" },
      { sha256: sha256("unreported"), state: "collected", tasks: [] },
    ]);
    const verified = await candorHere(["evidence", "verify", "short", ...operatorPlace()]);
    expect(verified).toMatchObject({ exit: 0, stderr: "" });
    expect(verified.stdout).toContain("collected");
    expect(await refusal(short.evidence.get(kept["short"] as EvidenceHandle).bytes())).toMatchObject({
      code: "evidence-missing",
    });
    expect(await long.evidence.get(kept["long"] as EvidenceHandle).text()).toBe("evidence of long");
    // B8 the log with looks, conflicts and what was collected in it replays to the same verdicts.
    const audit = await candorHere(["audit", "--all", ...operatorPlace()]);
    expect(audit).toMatchObject({ exit: 0, stderr: "" });
    expect(audit.stdout).toMatch(/reproduced (\d+) of \1 verdicts/);
    for (const each of [short, long]) each.release();
  });

  it("a closing that a stranger wrote ends nothing", async () => {
    const victim = await fleet.openRun({ run: "victim", policy: { ...defaultPolicy, evidenceRetentionMs: 0 } });
    let kept: EvidenceHandle | undefined;
    await work(async (ctx) => (kept = await ctx.evidence.put("to stay", "still here")), { of: victim });
    const rivals = await connectOrchestrator({
      servers: world.urls,
      credentials: world.folder("orchestrator", "rivals"),
    });
    await (await rivals.openRun({ run: "victim" })).close({ state: "completed" });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await victim.evidence.get(kept as EvidenceHandle).text()).toBe("still here");
    await rivals.close();
    victim.release();
  });
});

const operatorPlace = (): readonly string[] => [
  "--server",
  world.urls.join(","),
  "--credentials",
  world.folder("operator", "operator"),
];

async function candorJson(...args: readonly string[]): Promise<unknown> {
  const { stdout } = await candorHere([...args, "--json", ...operatorPlace()]);
  return JSON.parse(stdout) as unknown;
}

describe("T2 candor evidence", () => {
  it("lists, prints and verifies what a run has", async () => {
    const shown = await fleet.openRun({ run: "shown" });
    const bytes = new Uint8Array(Buffer.from("line\n".repeat(80_000)));
    let kept: EvidenceHandle | undefined;
    const { task } = await work(async (ctx) => (kept = await ctx.evidence.put("many lines", bytes)), { of: shown });
    const { sha256: hash } = kept as EvidenceHandle;
    const asAuditor = ["--server", world.urls.join(","), "--credentials", world.folder("auditor", "auditor")];
    expect(await candorJson("evidence", "list", "shown")).toEqual([
      { sha256: hash, actor: "payer", size: bytes.length, label: "many lines", tasks: [task], state: "stored" },
    ]);
    const listed = await candorHere(["evidence", "list", "shown", ...asAuditor]);
    // An auditor has no data key.
    expect(listed.stdout).toMatch(new RegExp(`${hash.slice(0, 16)} +payer +390.6 KiB +${task} +stored +\\(sealed\\)`));
    const dir = await mkdtemp(join(tmpdir(), "candor-cat-"));
    try {
      const out = join(dir, "out");
      expect(
        await candorHere(["evidence", "cat", "shown", hash.slice(0, 8), "--out", out, ...asAuditor]),
      ).toMatchObject({
        exit: 0,
      });
      expect(sha256(await readFile(out))).toBe(hash);
      const printed = await candor(["evidence", "cat", "shown", hash.slice(0, 8), ...asAuditor]);
      expect([printed.exit, sha256(printed.stdout)]).toEqual([0, hash]);
      const again = await candorHere(["evidence", "cat", "shown", hash, "--out", out, ...asAuditor]);
      expect(again).toMatchObject({ exit: 3 });
    } finally {
      await rm(dir, { recursive: true });
    }
    expect(await candorHere(["evidence", "verify", "shown", ...asAuditor])).toMatchObject({ exit: 0 });
    const port = evidencePort(payer, new Publisher(payer));
    const source = await openEvidenceSource("honest", tmpdir());
    await putEvidence(
      port,
      { actor: "payer", run: "shown" },
      { ...source, hash: new Uint8Array(32) },
      Uint8Array.of(1),
    );
    const verified = await candorHere(["evidence", "verify", "shown", ...asAuditor]);
    expect(verified).toMatchObject({ exit: 1 });
    expect(verified.stdout).toContain("evidence-altered");
    expect(await candorHere(["evidence", "cat", "shown", "0000", ...asAuditor])).toMatchObject({ exit: 1 });
    expect(await candorHere(["evidence", "cat", "shown", "ffff", ...asAuditor])).toMatchObject({ exit: 2 });
    shown.release();
  });
});
