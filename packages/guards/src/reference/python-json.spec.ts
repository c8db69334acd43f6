import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pythonJsonObject, pythonJsonText, pythonWord } from "./python-json.js";

const short = new Map([
  [0x22, '\\"'],
  [0x5c, "\\\\"],
  [0x08, "\\b"],
  [0x09, "\\t"],
  [0x0a, "\\n"],
  [0x0c, "\\f"],
  [0x0d, "\\r"],
]);

/** The rule of Python's encoder, unit by unit, sharing nothing with the code under test. */
function byUnit(text: string): string {
  let out = '"';
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    const plain = unit >= 0x20 && unit <= 0x7e ? text.charAt(index) : `\\u${(0x10000 + unit).toString(16).slice(1)}`;
    out += short.get(unit) ?? plain;
  }
  return `${out}"`;
}

const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) });
const lowText = fc.string({ unit: fc.integer({ min: 0, max: 0xa0 }).map((unit) => String.fromCharCode(unit)) });

describe("D10 R10 JSON as Python writes it", () => {
  it.each([
    ["plain /'~", '"plain /\'~"'],
    ['a"b\\c', '"a\\"b\\\\c"'],
    ["\b\t\n\f\r", '"\\b\\t\\n\\f\\r"'],
    ["\u0000\u001f\u007f\u0080", '"\\u0000\\u001f\\u007f\\u0080"'],
    ["\u00e9\u2028", '"\\u00e9\\u2028"'],
    ["\ud83d\udea8", '"\\ud83d\\udea8"'],
    ["\ud83d", '"\\ud83d"'],
    ["\ude00\ud83d", '"\\ude00\\ud83d"'],
    ["", '""'],
  ])("writes %j as %s", (text, written) => {
    expect(pythonJsonText(text)).toBe(written);
  });

  it("agrees with the rule taken unit by unit, on any text", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, lowText), (text) => {
        expect(pythonJsonText(text)).toBe(byUnit(text));
      }),
      { numRuns: 1000 },
    );
  });

  it("loses nothing and stays printable ASCII", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const written = pythonJsonText(text);
        expect(written).toMatch(/^[ -~]*$/);
        expect(JSON.parse(written)).toBe(text);
      }),
    );
  });

  it("sorts keys and writes Python's separators", () => {
    expect(pythonJsonObject({ sequence: "1", epoch: "2", subagent: 'a"' })).toBe(
      '{"epoch": "2", "sequence": "1", "subagent": "a\\""}',
    );
    expect(pythonJsonObject({})).toBe("{}");
  });

  it("writes booleans and nothing as Python's words", () => {
    expect([true, false, null].map(pythonWord)).toEqual(["True", "False", "None"]);
  });
});
