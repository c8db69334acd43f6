import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCli } from "../cli.js";
import { createTerminal } from "../output/terminal.js";

const answer = `Done.

\`\`\`yaml
upward-report:
  status: failed
  confidence: 0.4
  blockers: [src/a.ts:42, "\\e[31mred"]
  escalation-required: false
  evidence-anchors: []
  planned-actions-pending-approval: []
  parent-action: accept
\`\`\`
`;

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "candor-report-"));
});
afterEach(() => {
  rmSync(dir, { recursive: true });
});

/** Checks an answer from a file. */
async function check(text: string | Uint8Array, ...options: readonly string[]) {
  const file = join(dir, "answer.md");
  writeFileSync(file, text);
  const written = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof written) => ({
    write: (part: string | Uint8Array) => {
      written[name] += String(part);
      return true;
    },
  });
  const terminal = createTerminal({ stdout: stream("stdout"), stderr: stream("stderr"), environment: {} });
  return { exit: await runCli(["report", "check", file, ...options], terminal, {}), ...written };
}

describe("U1 candor report check", () => {
  it("shows what was read, and what has no effect", async () => {
    const { exit, stdout, stderr } = await check(answer);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(stdout).toContain("an orchestrator can read");
    expect(stdout).toMatch(/^blockers +src\/a\.ts:42; \\u\{1b\}\[31mred$/m);
    expect(stdout).toMatch(/^evidence-anchors +none$/m);
    expect(stdout).toMatch(/no such field: parent-action$/m);
  });

  it("says class, path, line and what to do of a refusal, and ends with 1", async () => {
    const { exit, stdout } = await check(answer.replace("[src/a.ts:42,", "[{src: a},"));
    expect(exit).toBe(1);
    expect(stdout.split("\n")).toEqual([
      "Refused: item-not-string at upward-report.blockers[0], line 7",
      "  The item must be a text; found a mapping.",
      '  What to do: Put quotes around it: "src/a.ts:42: unexpected token".',
      "",
    ]);
  });

  it("prints JSON", async () => {
    const good = await check(answer, "--json");
    expect(JSON.parse(good.stdout)).toMatchObject({
      ok: true,
      report: { status: "failed", confidence: 0.4, notes: null },
      ignored: ["parent-action"],
    });
    const bad = await check("Done.", "--json");
    expect(bad.exit).toBe(1);
    expect(JSON.parse(bad.stdout)).toEqual({
      ok: false,
      refusal: {
        reasonClass: "no-block",
        path: "",
        sentence: expect.stringContaining("must end with") as string,
        todo: expect.stringContaining("End the answer") as string,
      },
    });
  });

  it("refuses bytes that are no UTF-8", async () => {
    const { exit, stderr } = await check(Uint8Array.of(0x60, 0xff, 0xfe));
    expect(exit).toBe(2);
    expect(stderr).toMatch(/^candor: bad-file: .*not UTF-8/);
  });

  it("prints no control code, whatever the answer holds", async () => {
    const hostile = answer
      .replace("status: failed", 'status: "\\e[2J\\u202e"')
      .replace("parent-action", '"\\a\\e]0;x"');
    for (const text of [hostile, answer.replace("parent-action", '"\\e]0;x"')]) {
      expect((await check(text)).stdout).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e]/u);
    }
  });
});
