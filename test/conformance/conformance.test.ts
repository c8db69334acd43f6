import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { conformance } from "./command.js";
import { checkFolder, keptDifferences } from "./folder.js";

const defaultFolder = fileURLToPath(new URL("./vectors", import.meta.url));

interface Vector {
  readonly id: string;
  readonly expected: Readonly<Record<string, string>>;
}

function linesOf(name: string): readonly string[] {
  return readFileSync(join(defaultFolder, `${name}.jsonl`), "utf8")
    .trimEnd()
    .split("\n");
}

function vectorsOf(name: string): readonly Vector[] {
  return linesOf(name).map((line) => JSON.parse(line) as Vector);
}

/** The same case with another expectation in one field; the field's last character is replaced. */
function altered(vector: Vector, field: string): Vector {
  const text = vector.expected[field] ?? "";
  return {
    ...vector,
    expected: { ...vector.expected, [field]: `${text.slice(0, -1)}${text.endsWith("~") ? "^" : "~"}` },
  };
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "candor-conformance-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function put(name: string, ...lines: readonly string[]): void {
  writeFileSync(join(folder, name), lines.map((line) => `${line}\n`).join(""));
}

function putVectors(name: string, vectors: readonly Vector[]): void {
  put(name, ...vectors.map((vector) => JSON.stringify(vector)));
}

function run(...args: readonly string[]) {
  return conformance(args, folder);
}

describe("D10 R10 T1 T5 U1 U2 the vectors", () => {
  it("all agree", () => {
    expect(conformance([], defaultFolder)).toEqual({
      exit: 0,
      stdout:
        "contract 165/165\ndisclosure 304/304\nrecall 461/461\n" +
        "upward_reports 218/218 (169/169 expectations matched; " +
        "49/49 open cases answered by one of their options, 49 as recommended)\n",
      stderr: "",
    });
  });

  it("have ids of their own", () => {
    const ids = ["contract", "disclosure", "recall", "upward_reports"].flatMap(vectorsOf).map(({ id }) => id);
    expect(new Set(ids).size).toBe(1148);
  });
});

describe("D10 R10 the conformance runner finds a changed expectation", () => {
  it.each([
    ["disclosure", "verdict"],
    ["disclosure", "directive"],
    ["disclosure", "manifest_digest"],
    ["recall", "verdict"],
    ["recall", "directive"],
    ["recall", "manifest_digest"],
  ])("in every line of %s whose %s is changed", (name, field) => {
    const vectors = vectorsOf(name).filter(({ expected }) => field in expected);
    putVectors(
      `${name}.jsonl`,
      vectors.map((vector) => altered(vector, field)),
    );
    const { ok, files } = checkFolder(folder);
    expect(ok).toBe(false);
    expect(files).toEqual([expect.objectContaining({ name, agreed: 0, total: vectors.length })]);
    expect(files[0]).toHaveProperty("differences.length", keptDifferences);
    expect(files[0]).toHaveProperty("differences.0.what.0", expect.stringMatching(new RegExp(`^${field}`)));
  });

  it("in a single line, and names line, id and field", () => {
    const vectors = vectorsOf("recall").map((vector, index) => (index === 6 ? altered(vector, "verdict") : vector));
    putVectors("recall.jsonl", vectors);
    const { exit, stdout } = run();
    const expected = vectors[6]?.expected["verdict"];
    expect(exit).toBe(1);
    expect(stdout).toBe(
      `recall 460/461\n  line 7, ${vectors[6]?.id}: verdict: expected "${expected}", got "${vectorsOf("recall")[6]?.expected["verdict"]}"\n`,
    );
  });

  it("in a digest, and shows the text that the reference hashed", () => {
    putVectors("recall.jsonl", [altered(firstOf("recall"), "manifest_digest")]);
    expect(run().stdout).toContain('the reference hashed "{\\"epoch\\": \\"1792022400\\", \\"sequence\\"');
  });

  it("where a refusal is expected and none comes", () => {
    putVectors("recall.jsonl", [{ ...firstOf("recall"), expected: { error: "UnicodeEncodeError" } }]);
    expect(run()).toMatchObject({
      exit: 1,
      stdout: expect.stringContaining('expected a refusal ("UnicodeEncodeError"), got "RECALL_ACTIVE"') as string,
    });
  });

  it("where a refusal comes and none is expected", () => {
    const refusals = vectorsOf("disclosure").filter(({ expected }) => "error" in expected);
    expect(refusals).toHaveLength(8);
    putVectors(
      "disclosure.jsonl",
      refusals.map((vector) => ({ ...vector, expected: firstOf("disclosure").expected })),
    );
    expect(run()).toMatchObject({
      exit: 1,
      stdout: expect.stringMatching(/^disclosure 0\/8\n.*refused \(malformed\)/) as string,
    });
  });

  it("where a field is left out or added", () => {
    const { expected, ...rest } = firstOf("disclosure");
    const fewer = Object.fromEntries(Object.entries(expected).filter(([key]) => key !== "directive"));
    putVectors("disclosure.jsonl", [
      { ...rest, expected: fewer },
      { ...rest, expected: { ...expected, more: "x" } },
      { ...rest, expected },
    ]);
    const { exit, stdout } = run();
    expect(exit).toBe(1);
    expect(stdout).toContain("disclosure 1/3\n");
    expect(stdout).toContain("directive: expected nothing, got");
    expect(stdout).toContain('more: expected "x", got nothing');
  });

  it("in a very long text, and says from where on", () => {
    const long = vectorsOf("disclosure").find(({ expected }) => (expected["directive"]?.length ?? 0) > 10_000);
    if (long === undefined) return expect.unreachable("no long case in the set");
    putVectors("disclosure.jsonl", [altered(long, "directive")]);
    const { stdout } = run();
    expect(stdout).toContain(`directive from character ${(long.expected["directive"]?.length ?? 0) - 1}:`);
    expect(stdout.length).toBeLessThan(600);
  });
});

describe("Q2 the conformance runner on other folders", () => {
  it("takes any subset of the files and says what it skips", () => {
    putVectors("disclosure.jsonl", [firstOf("disclosure")]);
    put("others.jsonl", "{}");
    put("constructor.jsonl", "{}");
    put("README.md", "# not a vector file");
    const { exit, stdout } = run();
    expect(exit).toBe(0);
    expect(stdout.split("\n")).toEqual([
      expect.stringMatching(/^constructor skipped: ./),
      "disclosure 1/1",
      expect.stringMatching(/^others skipped: ./),
      "",
    ]);
  });

  it.each([
    ["nothing", [], "nothing was checked"],
    ["unknown files only", ["others.jsonl"], "nothing was checked"],
    ["a known file without cases", ["recall.jsonl"], "recall 0/0 (no cases"],
  ])("exits 1 on a folder with %s", (_, names, text) => {
    for (const name of names) put(name, "");
    expect(run()).toMatchObject({ exit: 1, stdout: expect.stringContaining(text) as string });
  });

  it("names the line and the field of whatever it cannot read", () => {
    const good = JSON.stringify(firstOf("recall"));
    put(
      "recall.jsonl",
      good,
      "{",
      "[]",
      "",
      "{}",
      good.replace('"recall_intent_sequence":"1"', '"recall_intent_sequence":1'),
      good.replace('"max_grace_sec":60', '"max_grace_sec":"60"'),
      good.replace('"in_flight_actions":[]', '"in_flight_actions":[7]'),
    );
    const { exit, stdout } = run();
    expect(exit).toBe(1);
    expect(stdout.trimEnd().split("\n")).toEqual([
      "recall 1/7",
      expect.stringMatching(/^ {2}line 2, no id: malformed line: /),
      expect.stringMatching(/^ {2}line 3, no id: malformed line: the line must be an object/),
      expect.stringMatching(/^ {2}line 5, no id: malformed line: id must be a text, but is missing/),
      expect.stringMatching(
        /^ {2}line 6, .*: state\.recall_intent_sequence must be decimal digits in a text, but is 1/,
      ),
      expect.stringMatching(/^ {2}line 7, .*: policy\.max_grace_sec must be a number/),
      expect.stringMatching(/^ {2}line 8, .*: state\.in_flight_actions\[0\] must be a text, but is 7/),
    ]);
  });

  it("refuses bytes that are no UTF-8 instead of comparing what they decode to", () => {
    const line = Buffer.from(`${JSON.stringify(firstOf("recall"))}\n`);
    writeFileSync(join(folder, "recall.jsonl"), Buffer.concat([Buffer.from([0xff]), line]));
    expect(run()).toMatchObject({ exit: 1, stdout: expect.stringContaining("line 1, no id: malformed") as string });
  });

  it("prints one JSON object with --json", () => {
    putVectors("recall.jsonl", [firstOf("recall"), altered(firstOf("recall"), "verdict")]);
    put("others.jsonl", "{}");
    const { exit, stdout } = run("--json");
    expect(exit).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      vectors: folder,
      ok: false,
      files: [
        { name: "others", status: "skipped", reason: expect.any(String) as string },
        {
          name: "recall",
          status: "checked",
          agreed: 1,
          total: 2,
          differences: [
            { line: 2, id: firstOf("recall").id, what: [expect.stringContaining("verdict: expected") as string] },
          ],
        },
      ],
    });
  });

  it.each([
    [
      "a folder that is not there",
      ["--vectors", "/not/there"],
      /^conformance: bad-argument: .*\/not\/there \(ENOENT\)/,
    ],
    ["an unknown option", ["--vector", "x"], /^conformance: bad-argument: .*--vector/],
    ["an option without its value", ["--vectors"], /^conformance: bad-argument: .*--vectors/],
    ["a word too many", ["vectors"], /^conformance: bad-argument: .*vectors/],
  ])("exits 2 with one line on %s", (_, args, text) => {
    const { exit, stdout, stderr } = run(...args);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toMatch(text);
    expect(stderr.trimEnd()).not.toContain("\n");
  });

  it("exits 2 with one JSON object on the same faults with --json", () => {
    const { exit, stdout } = run("--vectors", "/not/there", "--json");
    expect(exit).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, error: { code: "bad-argument" } });
  });
});

function firstOf(name: string): Vector {
  const first = vectorsOf(name)[0];
  return first ?? expect.unreachable(`no cases in ${name}`);
}
