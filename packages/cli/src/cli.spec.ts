import { readFile } from "node:fs/promises";
import { exitCodes, schemaNames } from "@candor/contract";
import { explainedCodes } from "@candor/guards";
import { describe, expect, it } from "vitest";
import { runCli } from "./cli.js";
import { commandLoaders } from "./command-loaders.js";
import { createTerminal } from "./output/terminal.js";

interface Ran {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line in this process, with a person looking on or not. */
async function candor(
  args: readonly string[],
  { env = {}, isTTY = false }: { readonly env?: Readonly<Record<string, string>>; readonly isTTY?: boolean } = {},
): Promise<Ran> {
  const written = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof written) => ({
    isTTY,
    columns: 80,
    write: (text: string | Uint8Array) => {
      written[name] += String(text);
      return true;
    },
  });
  const terminal = createTerminal({ stdout: stream("stdout"), stderr: stream("stderr"), environment: env });
  const exit = await runCli(args, terminal, env);
  return { exit, ...written };
}

const commands = [
  "demo",
  "up",
  "tail",
  "run list",
  "run show",
  "task show",
  "recall",
  "terminate",
  "approve",
  "calibration",
  "audit",
  "erase",
  "auth init",
  "auth add",
  "auth list",
  "auth export",
  "streams apply",
  "streams show",
  "evidence list",
  "evidence cat",
  "evidence verify",
  "doctor",
  "explain",
  "policy check",
  "policy explain",
  "report check",
  "schema",
];

describe("Q3 candor --help", () => {
  it.each(commands)("%s has help with an example and --json", async (command) => {
    const { exit, stdout, stderr } = await candor([...command.split(" "), "--help"]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(stdout).toContain(`candor ${command}`);
    expect(stdout).toMatch(/Examples:\n {2}candor /);
    expect(stdout).toContain("--json");
  });

  it("without arguments prints help, and names every command in it", async () => {
    const { exit, stdout } = await candor([]);
    expect(exit).toBe(0);
    for (const name of Object.keys(commandLoaders)) expect(stdout).toMatch(new RegExp(`^ {2}${name} `, "m"));
    expect(new Set(commands.map((command) => command.split(" ")[0]))).toEqual(new Set(Object.keys(commandLoaders)));
  });

  it("a group of commands alone is a mistake that prints help", async () => {
    const { exit, stdout, stderr } = await candor(["auth"]);
    expect({ exit, stdout }).toEqual({ exit: exitCodes.usage, stdout: "" });
    expect(stderr).toContain("candor auth");
  });

  it("prints its version", async () => {
    expect((await candor(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe("Q2 one line for every error", () => {
  it.each([
    [["nonsense"], exitCodes.usage, "bad-argument"],
    [["explain", "--nonsense"], exitCodes.usage, "bad-argument"],
    [["explain", "log-gpa"], exitCodes.usage, "not-found"],
    [["schema", "nonsense"], exitCodes.usage, "not-found"],
    [["report", "check", "/nowhere/at/all"], exitCodes.usage, "bad-file"],
    [["report", "check", "/"], exitCodes.usage, "bad-file"],
    [["policy", "check", "/nowhere/at/all"], exitCodes.usage, "bad-file"],
    [["up", "--port", "x"], exitCodes.usage, "bad-argument"],
    [["audit"], exitCodes.usage, "bad-argument"],
    [["audit", "--all", "--run", "r"], exitCodes.usage, "bad-argument"],
    [["audit", "--all", "--data", "/nowhere/at/all"], exitCodes.usage, "not-found"],
    [["recall", "r", "t", "--grace", "30"], exitCodes.usage, "bad-argument"],
    [["recall", "r", "t"], exitCodes.usage, "bad-argument"],
    [["tail", "--kind", "errors"], exitCodes.usage, "bad-argument"],
    [["tail", "--kind", "error,retries"], exitCodes.usage, "bad-argument"],
    [["tail", "--kind", "error,retry", "--data", "/nowhere/at/all"], exitCodes.unavailable, "server-unreachable"],
    [["up", "--lanes", "1025"], exitCodes.usage, "bad-argument"],
    [["streams", "apply", "--lanes", "1025"], exitCodes.usage, "bad-argument"],
    [["tail", "--data", "/nowhere/at/all"], exitCodes.unavailable, "server-unreachable"],
    [["streams", "show", "--data", "/nowhere/at/all"], exitCodes.unavailable, "server-unreachable"],
    [["auth", "list", "--dir", "/nowhere/at/all"], exitCodes.usage, "not-found"],
    [["auth", "init", "/dev/null/x"], exitCodes.setup, "folder-not-writable"],
    [["up", "--data", "/dev/null/x"], exitCodes.setup, "folder-not-writable"],
    [["tail", "--server", "nats://127.0.0.1:1", "--credentials", "/nowhere"], exitCodes.usage, "not-found"],
  ] as const)("%j ends with %d and %s", async (args, exit, code) => {
    const result = await candor(args);
    expect(result).toMatchObject({ exit, stdout: "" });
    expect(result.stderr).toMatch(new RegExp(`^candor: ${code}: [^\n]+\n$`));
    expect(result.stderr).not.toMatch(/\n\s+at /);
  });

  it("suggests a command", async () => {
    expect((await candor(["audi"])).stderr).toContain("Did you mean audit?");
  });

  it("with --json an error is JSON too", async () => {
    const { exit, stderr } = await candor(["explain", "log-gpa", "--json"]);
    expect(exit).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: "not-found", action: "look-up", details: { similar: ["log-gap"] } },
    });
  });

  it("documents every exit code", async () => {
    const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
    for (const code of Object.values(exitCodes)) expect(readme).toMatch(new RegExp(`^\\| ${code} `, "m"));
    for (const name of Object.keys(commandLoaders)) expect(readme).toContain(`\`${name}`);
  });
});

describe("Q3 colour", () => {
  it.each([
    [{ isTTY: true, env: {} }, true],
    [{ isTTY: true, env: { NO_COLOR: "1" } }, false],
    [{ isTTY: true, env: { TERM: "dumb" } }, false],
    [{ isTTY: false, env: {} }, false],
  ])("with %j: %s", async (options, coloured) => {
    const { stdout } = await candor(["explain", "log-gap"], options);
    expect(stdout.includes("\u001b[")).toBe(coloured);
    expect(stdout).toContain("log-gap");
  });
});

describe("Q2 explain and schema", () => {
  it("explain lists and explains every code", async () => {
    const all = JSON.parse((await candor(["explain", "--json"])).stdout) as readonly { readonly code: string }[];
    expect(new Set(all.map(({ code }) => code))).toEqual(new Set(explainedCodes()));
    const list = (await candor(["explain"])).stdout;
    for (const code of explainedCodes()) expect(list).toContain(`  ${code}  `);
    const { stdout } = await candor(["explain", "retry-undisclosed"]);
    expect(stdout).toContain("retry masking");
    expect(stdout).toContain("What to do:");
  });

  it.each(schemaNames)("schema %s is a JSON Schema", async (name) => {
    const schema = JSON.parse((await candor(["schema", name])).stdout) as Record<string, unknown>;
    expect(schema).toMatchObject({ type: "object", $schema: "https://json-schema.org/draft/2020-12/schema" });
  });

  it("schema lists its names", async () => {
    expect((await candor(["schema"])).stdout.trim().split("\n")).toEqual(schemaNames);
  });
});
