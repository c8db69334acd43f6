import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { conformance } from "./command.js";
import { checkFolder } from "./folder.js";

type Fields = Readonly<Record<string, unknown>>;

interface Vector extends Fields {
  readonly id: string;
  readonly expected: Fields | null;
  readonly options?: readonly Fields[];
  readonly tags: readonly string[];
}

function vectorsOf(name: string): readonly Vector[] {
  const path = fileURLToPath(new URL(`./vectors/${name}.jsonl`, import.meta.url));
  return readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Vector);
}

const contract = vectorsOf("contract");
const reports = vectorsOf("upward_reports");
const open = reports.filter(({ expected }) => expected === null);
const read = reports.filter(({ expected }) => expected?.["ok"] === true);
const refused = reports.filter(({ expected }) => expected?.["ok"] === false);

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "candor-conformance-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function run(name: string, vectors: readonly Fields[]) {
  const path = join(folder, `${name}.jsonl`);
  writeFileSync(path, vectors.map((vector) => `${JSON.stringify(vector)}\n`).join(""));
  const { ok, files } = checkFolder(folder);
  const { exit, stdout } = conformance([], folder);
  expect(exit).toBe(ok ? 0 : 1);
  return { ok, file: files[0], stdout };
}

function withExpected(vector: Vector, change: (expected: Fields) => Fields): Vector {
  return { ...vector, expected: change(vector.expected ?? {}) };
}

describe("T1 T5 the conformance runner finds a changed line of contract.jsonl", () => {
  it("in every answer that is turned around", () => {
    const changed = contract
      .filter(({ expected }) => expected !== null && !("error" in expected))
      .map((vector) =>
        withExpected(vector, (expected) =>
          Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, value !== true])),
        ),
      );
    expect(changed).toHaveLength(161);
    expect(run("contract", changed)).toMatchObject({ ok: false, file: { agreed: 0, total: 161 } });
  });

  it("where a refusal is expected and none comes, or the other way round", () => {
    const refusals = contract.filter(({ expected }) => expected !== null && "error" in expected);
    expect(refusals).toHaveLength(4);
    const changed = contract.map((vector) =>
      withExpected(vector, (expected) => ("error" in expected ? { actionable: false } : { error: "TypeError" })),
    );
    expect(run("contract", changed)).toMatchObject({ ok: false, file: { agreed: 0, total: 165 } });
  });

  it("in an input, and names the field of one that it can't read", () => {
    const [first] = contract;
    if (first === undefined) return expect.unreachable("no cases");
    const input = first["input"] as Fields;
    const { ok, stdout } = run("contract", [
      { ...first, input: { ...input, confidence: 0.69 } },
      { ...first, input: { ...input, confidence: "0.7" } },
      { ...first, kind: "is_action" },
    ]);
    expect(ok).toBe(false);
    expect(stdout.split("\n")).toEqual([
      "contract 0/3",
      `  line 1, ${first.id}: actionable: expected true, got false`,
      expect.stringMatching(/^ {2}line 2, no id: malformed line: input\.confidence must be a number/),
      expect.stringMatching(/^ {2}line 3, no id: malformed line: kind must be is_actionable or should_spawn/),
      "",
    ]);
  });
});

describe("U1 U2 the conformance runner finds a changed line of upward_reports.jsonl", () => {
  it.each([
    ["the action", (expected: Fields) => ({ ...expected, parent_action: "accept" }), "parent_action: expected"],
    [
      "the gate of planned actions",
      (expected: Fields) => ({ ...expected, gate_planned_actions: expected["gate_planned_actions"] !== true }),
      "gate_planned_actions: expected",
    ],
    [
      "a field of the report",
      (expected: Fields) => ({ ...expected, report: { ...(expected["report"] as Fields), notes: "other" } }),
      'report.notes: expected "other"',
    ],
    [
      "a field that is left out",
      ({ report, ...expected }: Fields) => ({
        ...expected,
        report: Object.fromEntries(Object.entries(report as Fields).filter(([name]) => name !== "blockers")),
      }),
      "report.blockers: expected nothing",
    ],
    [
      "a refusal where a report comes",
      () => ({ ok: false, reason_class: "no_block", reason_class_any: ["no_block"] }),
      "ok: expected a refusal",
    ],
  ])("in every report read: %s", (_, change, what) => {
    const changed = read.map((vector) => withExpected(vector, change));
    const { ok, file, stdout } = run("upward_reports", changed);
    expect({ ok, file }).toMatchObject({ ok: false, file: { agreed: 0, total: read.length } });
    expect(stdout).toContain(what);
  });

  it.each([
    ["another class", (expected: Fields) => ({ ...expected, reason_class_any: ["unknown_context"] })],
    ["a report where a refusal comes", () => read[0]?.expected ?? {}],
  ])("in every refusal: %s", (_, change) => {
    const changed = refused.map((vector) => withExpected(vector, change));
    expect(run("upward_reports", changed)).toMatchObject({ ok: false, file: { agreed: 0, total: refused.length } });
  });

  it("in every open case none of whose options is the answer", () => {
    const changed = open.map((vector) => ({
      ...vector,
      options: vector.options?.map((option) =>
        option["ok"] === true ? { ...option, parent_action: "accept" } : { ...option, reason_class_any: ["none"] },
      ),
    }));
    const { ok, file, stdout } = run("upward_reports", changed);
    expect({ ok, file }).toMatchObject({
      ok: false,
      file: { agreed: 0, total: open.length, open: { total: open.length, answered: 0, recommended: 0 } },
    });
    expect(stdout).toContain("(0/0 expectations matched; 0/49 open cases answered by one of their options, 0 as");
  });

  it("counts open cases that are answered by another option than the recommended one, and agrees", () => {
    const changed = open.map((vector) => {
      const options = vector.options ?? [];
      return { ...vector, recommended: ((vector["recommended"] as number) + 1) % options.length };
    });
    const { ok, stdout } = run("upward_reports", changed);
    expect(ok).toBe(true);
    expect(stdout).toBe(
      "upward_reports 49/49 (0/0 expectations matched; 49/49 open cases answered by one of their options, 0 as recommended)\n",
    );
  });

  it("in the text", () => {
    const changed = read
      .filter(({ text }) => typeof text === "string")
      .map((vector) => ({ ...vector, text: `${String(vector["text"])}\nThat is all.` }));
    expect(run("upward_reports", changed)).toMatchObject({ ok: false, file: { agreed: 0 } });
  });

  it("in what the parent knows", () => {
    const changed = read
      .filter(({ expected }) => expected?.["parent_action"] === "redispatch_with_blockers")
      .map((vector) => ({ ...vector, context: { retries_allowed: 2, retries_used: 2, new_mechanism: false } }));
    expect(run("upward_reports", changed)).toMatchObject({ ok: false, file: { agreed: 0, total: 16 } });
  });

  it("but takes an unknown context as escalated or as refused by that name", () => {
    const unknown = { retries_allowed: null, retries_used: null, new_mechanism: null };
    const cases = read
      .filter(({ expected }) => expected?.["parent_action"] === "redispatch_with_blockers")
      .map((vector) => ({ ...vector, context: unknown }));
    const escalated = cases.map((vector) => withExpected(vector, (old) => ({ ...old, parent_action: "escalate" })));
    const refusal = { ok: false, reason_class: "unknown_context", reason_class_any: ["unknown_context"] };
    const named = cases.map((vector) => withExpected(vector, () => refusal));
    expect(run("upward_reports", [...escalated, ...named])).toMatchObject({
      ok: true,
      file: { agreed: 32, total: 32 },
    });
    expect(run("upward_reports", cases)).toMatchObject({ ok: false, file: { agreed: 0, total: 16 } });
  });

  it("and names the field of a line that it can't read", () => {
    const [first] = open;
    if (first === undefined) return expect.unreachable("no open case");
    const { stdout } = run("upward_reports", [
      { ...first, recommended: 9 },
      { ...first, options: [] },
      { ...first, context: { retries_allowed: 2 } },
      { ...first, text: 7 },
      { ...first, expected: { ok: true, report: {} } },
    ]);
    expect(stdout.split("\n").map((line) => /malformed line: (\S+)/.exec(line)?.[1])).toEqual([
      undefined,
      "recommended",
      "recommended",
      "context.retries_used",
      "text",
      "expected.report.confidence",
      undefined,
    ]);
  });

  it("and is quick on the large and hostile ones", () => {
    const hostile = reports.filter(({ tags }) => tags.some((tag) => tag === "large" || tag === "bomb"));
    expect(hostile).toHaveLength(5);
    const began = process.cpuUsage();
    expect(run("upward_reports", hostile).ok).toBe(true);
    // Each is read twice here. Time of this process, since other work runs beside the tests.
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(5_000);
  });
});
