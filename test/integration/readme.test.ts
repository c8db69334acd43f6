import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const candor = join(root, "packages/cli/dist/main.js");
const readme = readFileSync(join(root, "README.md"), "utf8");
const run = promisify(execFile);

interface Block {
  readonly language: string;
  readonly text: string;
}

const blocks: readonly Block[] = [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
  ([, language = "", text = ""]) => ({
    language,
    text,
  }),
);

/** The file that a block says it is, by its first line. */
function fileBlock(name: string): string {
  return (
    blocks.find(({ text }) => text.startsWith(`// ${name}\n`))?.text ?? expect.unreachable(`README has no ${name}`)
  );
}

describe("README", () => {
  let dir = "";
  let url = "";
  let up: ReturnType<typeof spawn> | undefined;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "candor-readme-"));
    // The blocks are saved in the checkout; here a folder that resolves packages as the checkout does stands for it.
    await symlink(join(root, "node_modules"), join(dir, "node_modules"));
    for (const name of ["orchestrator.mjs", "agent.mjs"]) await writeFile(join(dir, name), fileBlock(name));
    up = spawn(process.execPath, [candor, "up", "--port", "0"], { cwd: dir, stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    up.stdout?.setEncoding("utf8").on("data", (text: string) => (said += text));
    while (!said.includes("Ctrl-C")) await once(up.stdout ?? up, "data");
    url = /nats:\/\/[\d.:]+/.exec(said)?.[0] ?? "";
  });

  afterAll(async () => {
    if (up?.exitCode === null) {
      const ended = once(up, "exit");
      up.kill("SIGINT");
      await ended;
    }
    await rm(dir, { recursive: true, force: true });
  });

  it("runs the walk-through as it stands, and the audit of it", async () => {
    const { stdout } = await run(process.execPath, ["orchestrator.mjs"], {
      cwd: dir,
      env: { ...process.env, CANDOR_URL: url },
    });
    expect(stdout.trim()).toBe("FULL_DISCLOSURE_VERIFIED, so: proceed");
    const audit = await run(process.execPath, [candor, "audit", "--all"], { cwd: dir });
    expect(audit.stdout).toMatch(/reproduced (\d+) of \1 verdicts/);
  });

  it("catches the same agent once it lies", async () => {
    const honest = fileBlock("agent.mjs");
    const liar = honest
      .replace("maxAttempts: 3", "maxAttempts: 1")
      .replace("return { amount: 100 };\n  });", "return { amount: 100 };\n  }).catch(() => undefined);");
    expect(liar).toContain("maxAttempts: 1");
    expect(liar).toContain(".catch(() => undefined)");
    const lies = join(dir, "lies");
    await cp(join(dir, "candor-data/auth"), join(lies, "candor-data/auth"), { recursive: true });
    await symlink(join(root, "node_modules"), join(lies, "node_modules"));
    await writeFile(join(lies, "orchestrator.mjs"), fileBlock("orchestrator.mjs"));
    await writeFile(join(lies, "agent.mjs"), liar);
    const { stdout } = await run(process.execPath, ["orchestrator.mjs"], {
      cwd: lies,
      env: { ...process.env, CANDOR_URL: url },
    });
    expect(stdout.trim()).toBe("CONCEALMENT_DETECTED, so: halt");
  });

  it("names only commands that exist", async () => {
    const scripts = (
      JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: Record<string, string> }
    ).scripts;
    const lines = blocks.filter(({ language }) => language === "sh").flatMap(({ text }) => text.trim().split("\n"));
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) {
      const [program = "", ...args] = line.split(/\s+/);
      if (program === "npx") expect(scripts, line).toHaveProperty(args[2] ?? "");
      else if (program === "candor") await run(process.execPath, [candor, ...args.slice(0, 1), "--help"]);
      else expect([program, args[0]], line).toEqual(["node", "orchestrator.mjs"]);
    }
    const inline = [...readme.matchAll(/`candor ([a-z]+)/g)].map(([, command = ""]) => command);
    for (const command of new Set(inline)) await run(process.execPath, [candor, command, "--help"]);
  });

  it("names only files that exist", () => {
    const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)]
      .map(([, link = ""]) => link)
      .filter((link) => !link.includes("://"));
    for (const link of links) expect(() => readFileSync(join(root, link)), link).not.toThrow();
  });
});
