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
