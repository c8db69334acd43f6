import { reportReasonClasses, reportStatuses, type ReportReading, type UpwardReport } from "@candor/contract";
import { dispatch } from "@candor/guards";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { parseUpwardReport } from "./parse.js";

const fields = `  status: completed
  confidence: 0.9
  blockers: []
  escalation-required: false
  evidence-anchors:
    - src/a.ts:4
  planned-actions-pending-approval: []
`;
const body = `upward-report:\n${fields}`;
const block = `\`\`\`yaml\n${body}\`\`\`\n`;

function reasonOf(text: string): string {
  const reading = parseUpwardReport(text);
  return reading.ok ? "ok" : reading.refusal.reasonClass;
}

function refusalOf(text: string) {
  const reading = parseUpwardReport(text);
  return reading.ok ? expect.unreachable("was read") : reading.refusal;
}

/** A block with one line replaced. */
function changed(from: string, to: string): string {
  expect(block).toContain(from);
  return block.replace(from, to);
}

describe("U1 where the report stands", () => {
  it.each([
    ["ok", "after prose", `Done.\n\n${block}`],
    ["ok", "with another fence before", `\`\`\`sh\nnpm test\n\`\`\`\n${block}`],
    ["ok", "with a quoted one before", `> \`\`\`yaml\n> upward-report:\n> \`\`\`\n\n${block}`],
    ["ok", "with one in another fence before", `\`\`\`\`md\n${block}\`\`\`\`\n${block}`],
    ["ok", "with one that is no YAML before", `\`\`\`yaml\nupward-report:\n  a: b\n c: d\n\`\`\`\n${block}`],
    ["ok", "with line ends of all kinds", block.replaceAll("\n", "\r")],
    ["ok", "with a byte order mark", `\ufeff${block}`],
    ["ok", "with more words behind yaml", block.replace("yaml", "yaml title=report")],
    ["multiple-blocks", "twice", `${block}\n${block}`],
    ["multiple-blocks", "after one that is refused", `${changed("completed", "done")}\n${block}`],
    ["multiple-blocks", "after one in a bare fence that was left open", `\`\`\`\n${block}\n${block}`],
    ["block-not-last", "followed by prose", `${block}That is all.`],
    ["block-not-last", "followed by another yaml block", `${block}\`\`\`yaml\na: b\n\`\`\``],
    ["block-not-last", "followed by a fence left open", `${block}\`\`\`sh\nnpm test`],
    ["no-block", "inside a longer fence", `\`\`\`\`\n${block}\`\`\`\``],
    ["no-block", "inside a fence of tildes", `~~~md\n${block}~~~`],
    ["no-block", "inside a fence with a word", `\`\`\`md\n${block}`],
    ["no-block", "inside a longer fence left open", `\`\`\`\`\n${block}`],
    ["no-block", "as indented code", block.replaceAll(/^/gm, "    ")],
    ["no-block", "as inline code", `\`${body.replaceAll("\n", " ")}\``],
    ["no-block", "in yam or yamls", block.replace("yaml", "yamls")],
    ["unclosed-fence", "cut off", block.slice(0, -20)],
    ["unclosed-fence", "closed by another mark", block.replace(/```\n$/, "~~~\n")],
    ["unclosed-fence", "closed by a shorter mark", `\`${block}`],
    ["wrong-root", "as another block", "```yaml\na: b\n```"],
    ["wrong-root", "as an empty block", "```yaml\n```"],
  ])("%s: %s", (reason, _, text) => {
    expect(reasonOf(text)).toBe(reason);
  });

  it("takes the block's own indent off", () => {
    const indented = block.replaceAll(/^/gm, "   ");
    expect(parseUpwardReport(`1. report:\n\n${indented}`)).toEqual(parseUpwardReport(block));
  });
});

describe("U1 what the report says", () => {
  it.each([
    ["texts by their source", "  planned", "  notes: 1.10\n  escalation-reason: true\n  planned", ["1.10", "true"]],
    ["nothing as null", "  planned", "  notes:\n  escalation-reason: ~\n  planned", [null, null]],
  ])("reads %s", (_, from, to, expected) => {
    const reading = parseUpwardReport(changed(from, to));
    expect(reading.ok && [reading.report.notes, reading.report["escalation-reason"]]).toEqual(expected);
  });

  it("names the fields that have no effect", () => {
    const text = changed("  planned", "  parent-action: accept\n  <<: {status: failed}\n  planned");
    const reading = parseUpwardReport(text.replace(/```\n$/, "budget: 99\n```\n"));
    expect(reading).toMatchObject({ ok: true, ignored: ["budget", "parent-action", "<<"] });
  });

  it.each([
    ["missing-field", "upward-report.status", 2, changed("  status: completed\n", "")],
    ["invalid-status", "upward-report.status", 3, changed("completed", "done")],
    ["not-boolean", "upward-report.escalation-required", 6, changed("required: false", "required: no")],
    ["item-not-string", "upward-report.evidence-anchors[0]", 8, changed("src/a.ts:4", "a: b")],
    ["item-not-string", "upward-report.evidence-anchors[0]", 8, changed("- src/a.ts:4", "-")],
    ["empty-item", "upward-report.evidence-anchors[0]", 8, changed("src/a.ts:4", '" "')],
    ["yaml-error", "", 8, changed("src/a.ts:4", "a: b: c")],
    ["duplicate-key", "", 4, changed("  confidence", "  status: failed\n  confidence")],
    ["wrong-root", "upward-report", 2, changed("upward-report", "UpwardReport")],
    ["unsafe-yaml", "", 3, changed("completed", "!!js/regexp /a/")],
    ["unsafe-yaml", "", 3, changed("completed", "!mine completed")],
    ["multiple-documents", "", 10, changed("approval: []\n", "approval: []\n---\na: b\n")],
  ])("refuses with %s at %s on line %d", (reasonClass, path, line, text) => {
    expect(refusalOf(text)).toMatchObject({ reasonClass, path, line });
  });

  it.each([
    ["a version of its own", "not-boolean", `%YAML 1.1\n---\n${body.replace("required: false", "required: no")}`],
    [
      "an alias as a key",
      "unsafe-yaml",
      body.replace("  confidence", "  notes: &n status\n  *n : failed\n  confidence"),
    ],
    ["a list as a key", "unsafe-yaml", body.replace("  confidence", "  ? [status]\n  : failed\n  confidence")],
    ["an inherited status", "missing-field", body.replace("status: completed", "__proto__: {status: completed}")],
    ["a list that holds itself", "item-not-string", body.replace("blockers: []", "blockers: &b [*b]")],
    ["an alias of nothing", "yaml-error", body.replace("blockers: []", "blockers: *b")],
  ])("is not misled by %s", (_, reasonClass, yaml) => {
    expect(reasonOf(`\`\`\`yaml\n${yaml}\`\`\``)).toBe(reasonClass);
  });
});

/** Text of this length and no more than that: a megabyte and beyond. */
const large = 1_000_000;
const withList = (items: string): string => changed("    - src/a.ts:4\n", items);
const nested = (levels: number): string =>
  Array.from({ length: levels }, (_, level) => `  a${level}: &a${level} [${`*a${level - 1},`.repeat(9)}]`)
    .join("\n")
    .replaceAll("*a-1", "lol");

describe("U1 hostile answers end soon", () => {
  it.each<readonly [string, () => string, string]>([
    ["a megabyte of opening marks", () => "```yaml\n".repeat(large / 8) + block, "unsafe-yaml"],
    ["a megabyte of marks without end", () => "`".repeat(large), "no-block"],
    ["a megabyte of blanks behind a mark", () => `\`\`\`${" \t".repeat(large / 2)}x`, "no-block"],
    ["a megabyte of blank lines", () => block + " \n".repeat(large / 2), "ok"],
    [
      "a megabyte of broken reports",
      () => "```yaml\nupward-report: [\n```\n".repeat(large / 30) + block,
      "multiple-blocks",
    ],
    ["a megabyte of reports", () => block.repeat(large / block.length), "multiple-blocks"],
    ["a block of a megabyte", () => withList(`    - ${"x".repeat(large)}\n`), "unsafe-yaml"],
    ["a text of 200 KB", () => withList(`    - ${"x".repeat(200_000)}\n`), "ok"],
    ["a text of 100,000 lines", () => withList(`    - |\n${"      \n".repeat(30_000)}      x\n`), "ok"],
    ["2,000 items", () => withList("    - x\n".repeat(2_000)), "ok"],
    ["40,000 items", () => withList("    - x\n".repeat(40_000)), "unsafe-yaml"],
    ["100,000 brackets", () => withList(`    - ${"[".repeat(100_000)}\n`), "unsafe-yaml"],
    ["64 brackets", () => withList(`    - ${"[".repeat(64)}${"]".repeat(64)}\n`), "item-not-string"],
    ["65 brackets", () => withList(`    - ${"[".repeat(65)}${"]".repeat(65)}\n`), "unsafe-yaml"],
    ["1,000 brackets", () => withList(`    - ${"[".repeat(1_000)}${"]".repeat(1_000)}\n`), "unsafe-yaml"],
    ["100,000 commas", () => withList(`    - [${",".repeat(100_000)}]\n`), "unsafe-yaml"],
    ["100,000 wrong escapes", () => withList(`    - "${"\\q".repeat(100_000)}"\n`), "unsafe-yaml"],
    [
      "40,000 keys",
      () => `\`\`\`yaml\n${Array.from({ length: 20_000 }, (_, i) => `k${i}: 1\n`).join("")}\`\`\``,
      "unsafe-yaml",
    ],
    ["nine levels of aliases", () => changed("  blockers: []", `${nested(9)}\n  blockers: *a8`), "unsafe-yaml"],
    ["aliases in number", () => withList("    - &a x\n" + "    - *a\n".repeat(17)), "unsafe-yaml"],
  ])("%s", (_, make, expected) => {
    const text = make();
    const began = process.cpuUsage();
    expect(reasonOf(text)).toBe(expected);
    // Time of this process, since other work runs beside the tests.
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(1_500);
  });
});

const item = fc.string({ unit: "grapheme" }).filter((text) => text.trim() !== "");
const line = fc.string({ unit: "grapheme" }).filter((text) => !/[\r\n]/.test(text));
const reports: fc.Arbitrary<UpwardReport> = fc
  .record({
    status: fc.constantFrom(...reportStatuses),
    confidence: fc.double({ min: 0, max: 1, noNaN: true }).map(Math.abs),
    blockers: fc.array(item),
    "escalation-required": fc.boolean(),
    "escalation-reason": fc.option(line),
    "evidence-anchors": fc.array(item),
    "planned-actions-pending-approval": fc.array(item),
    notes: fc.option(line),
  })
  .filter(({ status, blockers }) => status !== "blocked" || blockers.length > 0);

/** Pieces that answers and reports are made of, in no order. */
const pieces = fc.constantFrom(
  ..."```yaml\n|```\n|~~~\n|````\n|> |\n|\r|    |upward-report:|upward-report:\n|  status: completed\n|  confidence: 0.9\n|".split(
    "|",
  ),
  ...fields.split(/(?<=\n)/),
  ..."&a |*a|!!str |!x |- |[|]|{|}|\"|'|: |? |# |%YAML 1.1\n|---\n|...\n|\\|\t|\u2028|\ud800|\0|<<: |null|true|1e999|.nan".split(
    "|",
  ),
);

function checkClosed(reading: ReportReading): void {
  if (!reading.ok) expect(Object.keys(reportReasonClasses)).toContain(reading.refusal.reasonClass);
  const { action } = dispatch(reading, { newMechanism: null, verifier: null }, { retriesAllowed: 0, retriesUsed: 0 });
  if (!reading.ok) expect(action).toBe("escalate");
}

describe("U1 U2 for every answer", () => {
  it("the reader never throws, and what it refuses is escalated", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join("")),
      fc.array(pieces, { maxLength: 20 }).map((parts) => `\`\`\`yaml\nupward-report:\n${parts.join("")}\n\`\`\``),
      fc.tuple(fc.nat(body.length), fc.nat(10), pieces).map(([at, length, piece]) => {
        return `\`\`\`yaml\n${body.slice(0, at)}${piece}${body.slice(at + length)}\`\`\``;
      }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        checkClosed(parseUpwardReport(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it("a report goes there and back through YAML, and through JSON in a yaml block", () => {
    fc.assert(
      fc.property(reports, fc.boolean(), (report, isFlow) => {
        const value = { "upward-report": report };
        const yaml = isFlow ? `${JSON.stringify(value)}\n` : stringify(value, { version: "1.2", schema: "core" });
        // Longer than any mark within, as Markdown wants it.
        const mark = "`".repeat(Math.max(3, ...[...yaml.matchAll(/`+/g)].map(([marks]) => marks.length + 1)));
        expect(parseUpwardReport(`Done.\n\n${mark}yaml\n${yaml}${mark}\n`)).toEqual({ ok: true, report, ignored: [] });
      }),
    );
  });
});
