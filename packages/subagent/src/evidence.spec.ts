import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { evidenceLimits, hex, type EvidenceHandle } from "@candor/contract";
import type { TaskContext } from "./context.js";
import { TestBench, until } from "./testing/test-bench.js";

let bench: TestBench;
beforeEach(async () => {
  bench = new TestBench();
  await bench.orchestrator.openRun();
});
afterEach(() => bench.end());

describe("T2 evidence of a task", () => {
  it("is in its report whatever the task came to, each piece once, under a sealed label", async () => {
    const task = await bench.accepted();
    const handles: EvidenceHandle[] = [];
    const { report, claim } = await task.run(async (ctx) => {
      handles.push(await ctx.evidence.put("first", "a"), await ctx.evidence.put("again", "a"));
      handles.push(await ctx.evidence.put("second", "b"));
      throw new RangeError("and then it broke");
    });
    expect(claim).toBe("fail");
    expect(report.evidence?.map(({ hash }) => hex(hash))).toEqual([handles[0]?.sha256, handles[2]?.sha256]);
    expect(report.evidence?.every(({ actor }) => actor === "agent")).toBe(true);
    const labels = report.evidence?.map(({ label }) => new TextDecoder().decode(label)).join();
    expect(labels).not.toMatch(/first|second/);
  });

  it("is left out of a report where there is none", async () => {
    const { report } = await (await bench.accepted()).run(() => ({ claim: "pass" }));
    expect("evidence" in report).toBe(false);
  });

  it("that is still being stored when the callback ends is waited for", async () => {
    const task = await bench.accepted();
    const slow = (async function* () {
      await new Promise((resolve) => setTimeout(resolve, 30));
      yield "late";
    })();
    const { report } = await task.run((ctx) => {
      void ctx.evidence.put("late", slow);
      return { claim: "pass" };
    });
    expect(report.evidence).toHaveLength(1);
  });

  it("comes too late once the task is reported on", async () => {
    const task = await bench.accepted();
    let context: TaskContext | undefined;
    await task.run((ctx) => {
      context = ctx;
    });
    await expect(context?.evidence.put("late", "a")).rejects.toMatchObject({ code: "task-over" });
  });

  it("may be put after a recall: it changes nothing outside", async () => {
    const task = await bench.accepted();
    const { report } = await task.run(async (ctx) => {
      await bench.orchestrator.recall("t");
      await until(() => ctx.signal.aborted);
      await ctx.evidence.put("what was seen so far", "a");
    });
    expect(report.evidence).toHaveLength(1);
  });

  it("has a label of one line, and a report room for so many pieces", async () => {
    const task = await bench.accepted();
    const { report } = await task.run(async (ctx) => {
      for (const label of ["", "two\nlines", "x".repeat(129), "é".repeat(120)]) {
        await expect(ctx.evidence.put(label, "a")).rejects.toMatchObject({ code: "bad-argument", path: "label" });
      }
      const puts = Array.from({ length: evidenceLimits.maxHandles + 2 }, (_, i) =>
        ctx.evidence.put("one of many", `${i}`),
      );
      const settled = await Promise.allSettled(puts);
      expect(settled.filter(({ status }) => status === "rejected")).toMatchObject([
        { reason: { code: "too-large" } },
        { reason: { code: "too-large" } },
      ]);
      return { claim: "pass" };
    });
    expect(report.evidence).toHaveLength(evidenceLimits.maxHandles);
  });

  it("a list of evidence that is none is no outcome", async () => {
    const { claim, error } = await (await bench.accepted()).run(() => ({ claim: "pass", evidence: "all of it" }));
    expect([claim, error]).toEqual(["fail", expect.objectContaining({ code: "bad-argument" })]);
  });

  it("a failed look says so, and can be repeated", async () => {
    const task = await bench.accepted();
    const { report } = await task.run(async (ctx) => {
      bench.bus.away = true;
      await expect(ctx.evidence.put("kept", "a")).rejects.toMatchObject({ code: "server-unreachable" });
      bench.bus.reconnect();
      await ctx.evidence.put("kept", "a");
    });
    expect(report.evidence).toHaveLength(1);
  });
});

describe("T5 what a task consumed", () => {
  it("stands in the report beside what it hands back", async () => {
    const { report } = await (
      await bench.accepted()
    ).run((ctx) => {
      ctx.consumed(1_000);
      ctx.consumed(24);
      ctx.caveat("né");
      return { claim: "pass", summary: "done" };
    });
    expect(report.sizes).toEqual({ work: 1_024, result: 7 });
  });

  it("counts no further than numbers are whole, so that there is a report", async () => {
    const { report } = await (
      await bench.accepted()
    ).run((ctx) => {
      for (let i = 0; i < 3; i += 1) ctx.consumed(Number.MAX_SAFE_INTEGER);
      return { claim: "pass" };
    });
    expect(report.sizes).toEqual({ work: Number.MAX_SAFE_INTEGER, result: 0 });
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("%s bytes are no number of bytes", async (bytes) => {
    const { report } = await (
      await bench.accepted()
    ).run((ctx) => {
      expect(() => {
        ctx.consumed(bytes);
      }).toThrow(expect.objectContaining({ code: "bad-argument", path: "bytes" }) as Error);
      return { claim: "pass" };
    });
    expect(report.sizes).toBeUndefined();
  });
});
