import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { candorPath } from "../kit/candor.js";

const answer = `\`\`\`yaml
upward-report:
  status: completed
  confidence: 0.9
  blockers: []
  escalation-required: false
  evidence-anchors: []
  planned-actions-pending-approval: []
\`\`\`
`;

function check(input: string | Buffer, ...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [candorPath, "report", "check", ...args], { input });
  return { status, stdout: stdout.toString(), stderr: stderr.toString() };
}

describe("U1 candor report check on standard input", () => {
  it.each([[[]], [["-"]]])("reads an answer with %j", (args) => {
    expect(check(answer, ...args)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("can read") as string,
      stderr: "",
    });
  });

  it("refuses a megabyte without a report in one short text", () => {
    const { status, stdout } = check("```yaml\n".repeat(131_072));
    expect(status).toBe(1);
    expect(stdout).toMatch(/^Refused: unclosed-fence, line 2\n/);
    expect(stdout.length).toBeLessThan(500);
  });

  it("refuses more than it is willing to hold", () => {
    const { status, stderr } = check(Buffer.alloc(65 * 1024 * 1024, "x"));
    expect(status).toBe(2);
    expect(stderr).toMatch(/^candor: too-large: [^\n]+\n$/);
  });
});
