import { describe, expect, it } from "vitest";
import type { Verifier } from "@candor/guards";
import { runVerifier, type VerifierRun } from "./verifier-run.js";

const node = (script: string, timeLimitMs = 30_000): Verifier => ({
  kind: "command",
  argv: [process.execPath, "-e", script],
  timeLimitMs,
});

const text = ({ output }: VerifierRun): string => new TextDecoder().decode(output);

describe("U5 a verifier is code with a time limit, and its output is kept", () => {
  it.each([
    ["confirmed", 0, "process.exit(0)"],
    ["contradicted", 3, "process.exit(3)"],
    ["inconclusive", undefined, "process.kill(process.pid, 'SIGKILL')"],
  ] as const)("%s with exit code %j", async (outcome, exitCode, script) => {
    const ran = await runVerifier(node(script), {});
    expect([ran.outcome, ran.exitCode]).toEqual([outcome, exitCode]);
  });

  it("is ended with everything it started once its time is up", async () => {
    const child =
      "require('child_process').spawn(process.execPath,['-e','setInterval(()=>{},1000)'],{stdio:'inherit'})";
    const ran = await runVerifier(node(`${child};setInterval(()=>{},1000)`, 500), {});
    expect([ran.outcome, ran.exitCode]).toEqual(["inconclusive", undefined]);
  });

  it("that is not there is inconclusive, and says so", async () => {
    const ran = await runVerifier({ kind: "command", argv: ["/no/such/program"], timeLimitMs: 5_000 }, {});
    expect([ran.outcome, ran.exitCode]).toEqual(["inconclusive", undefined]);
    expect(text(ran)).toContain("ENOENT");
  });

  it("is not waited for once it left its group and holds the output open", async () => {
    const stays =
      "const c=require('child_process').spawn(process.execPath,['-e','setTimeout(()=>{},20000)'],{stdio:'inherit',detached:true});c.unref();console.log(c.pid)";
    const begun = performance.now();
    const ran = await runVerifier(node(stays), {});
    process.kill(Number(text(ran)), "SIGKILL");
    expect([ran.outcome, ran.exitCode]).toEqual(["confirmed", 0]);
    const late = await runVerifier(node(`${stays};setInterval(()=>{},1000)`, 500), {});
    process.kill(Number(text(late)), "SIGKILL");
    expect([late.outcome, late.exitCode]).toEqual(["inconclusive", undefined]);
    expect(performance.now() - begun).toBeLessThan(10_000);
  });

  it("with arguments that no process takes is inconclusive, and says so", async () => {
    for (const argument of ["a\0b", "a".repeat(3_000_000)]) {
      const ran = await runVerifier({ kind: "command", argv: ["echo", argument], timeLimitMs: 5_000 }, {});
      expect([ran.outcome, ran.exitCode]).toEqual(["inconclusive", undefined]);
      expect(text(ran)).not.toBe("");
    }
  });

  it("with a limit that is longer than timers go has time", async () => {
    expect((await runVerifier(node("process.exit(0)", 1e12), {})).outcome).toBe("confirmed");
  });

  it("keeps the last MiB of a long output, and counts all of it", async () => {
    const ran = await runVerifier(node("process.stdout.write('a'.repeat(6000000) + 'the end')"), {});
    expect(ran.outputBytes).toBe(6_000_007);
    expect(ran.output.length).toBe(1024 * 1024);
    expect(text(ran)).toMatch(/^a+the end$/);
  });

  it("gets none of this process's secrets, nor a shell", async () => {
    process.env["CANDOR_TEST_SECRET"] = "hush";
    const ran = await runVerifier(
      {
        kind: "command",
        argv: [
          process.execPath,
          "-e",
          "console.log(process.env.CANDOR_TEST_SECRET, process.env.GIVEN, process.argv[1])",
          "$(id); rm",
        ],
        timeLimitMs: 30_000,
      },
      { env: { GIVEN: "given" } },
    );
    delete process.env["CANDOR_TEST_SECRET"];
    expect(text(ran)).toBe("undefined given $(id); rm\n");
  });

  it.each([
    ["confirmed", () => "confirmed" as const],
    ["contradicted", () => Promise.resolve("contradicted" as const)],
    ["inconclusive", () => Promise.reject(new TypeError("no answer"))],
    ["inconclusive", () => new Promise<never>(() => undefined)],
    ["inconclusive", () => "passed" as never],
    ["inconclusive", () => undefined as never],
  ])("a probe: %s", async (outcome, look) => {
    const probes = { page: look };
    expect((await runVerifier({ kind: "probe", probe: "page", timeLimitMs: 200 }, { probes })).outcome).toBe(outcome);
  });

  it("a probe that nobody gave is inconclusive", async () => {
    expect((await runVerifier({ kind: "probe", probe: "toString", timeLimitMs: 200 }, {})).outcome).toBe(
      "inconclusive",
    );
  });
});
