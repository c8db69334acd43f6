import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defaultPolicy, hex, policyHash } from "@candor/contract";
import { runCli } from "../cli.js";
import { createTerminal } from "../output/terminal.js";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "candor-policy-"));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

async function run(...args: readonly string[]) {
  const written = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof written) => ({
    write: (part: string | Uint8Array) => {
      written[name] += String(part);
      return true;
    },
  });
  const terminal = createTerminal({ stdout: stream("stdout"), stderr: stream("stderr"), environment: {} });
  return { exit: await runCli(["policy", ...args], terminal, {}), ...written };
}

function file(text: string): string {
  const path = join(dir, "policy.yaml");
  writeFileSync(path, text);
  return path;
}

describe("F1 candor policy", () => {
  it("names a folder in place of the file", async () => {
    const { exit, stderr } = await run("check", dir);
    expect(exit).toBe(2);
    expect(stderr).toBe(`candor: bad-file: ${dir} is a folder: name the file that holds the policy.\n`);
  });

  it("says ok of the default policy, with its hash", async () => {
    const hash = hex(policyHash(defaultPolicy));
    expect(await run("check")).toEqual({ exit: 0, stdout: `ok  ${hash}\n`, stderr: "" });
    expect(JSON.parse((await run("check", "--json", file("{}"))).stdout)).toEqual({ ok: true, hash });
  });

  it("says what is wrong, where, and what to do", async () => {
    const { denied, ...rows } = defaultPolicy.failures?.rows ?? {};
    const path = file(JSON.stringify({ failures: { ...defaultPolicy.failures, rows } }));
    const { exit, stdout, stderr } = await run("check", path);
    expect({ exit, stderr }).toEqual({ exit: 1, stderr: "" });
    expect(stdout).toContain("policy-row-missing at failures.rows.denied");
    expect(stdout).toContain("error type denied has no row");
    expect(stdout).toContain("What to do: Add the row");
    expect(denied).toBeDefined();
    expect(await run("explain", path)).toMatchObject({ exit: 2, stdout: "" });
  });

  it("refuses a file that can't be read safely in one line", async () => {
    expect(await run("check", file("a: &x 1\nb: *x"))).toEqual({
      exit: 2,
      stdout: "",
      stderr: expect.stringMatching(/^candor: bad-file: .*alias.*\n$/) as unknown,
    });
  });

  it("shows the table, and prints it as a file that can be changed", async () => {
    const { stdout } = await run("explain");
    expect(stdout).toMatch(/^defect +any +critical halt +high escalate$/m);
    expect(stdout).toMatch(/^medium +try-alternate$/m);
    expect(stdout).toMatch(/^evidence +kept for 7 d after the run is closed$/m);
    expect(stdout).toMatch(/^degraded +0.3 of 5 calls or more in 60000 ms /m);
    expect(await run("check", file((await run("explain", "--json")).stdout))).toMatchObject({ exit: 0 });
  });
});
