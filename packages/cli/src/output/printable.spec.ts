import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printable } from "./printable.js";

describe("Q3 text of strangers on a terminal", () => {
  it("shows escape sequences instead of sending them", () => {
    expect(printable("\u001b[31mred\u001b[0m\u0007")).toBe("\\u{1b}[31mred\\u{1b}[0m\\u{7}");
    expect(printable("\u009b2J")).toBe("\\u{9b}2J");
  });

  it("keeps to one line, and in one direction", () => {
    expect(printable("a\r\nb\nc\td")).toBe("a b c d");
    expect(printable("user\u202egpj.exe")).toBe("user\\u{202e}gpj.exe");
  });

  it("changes nothing else, and lets no control character through", () => {
    expect(printable("Zürich – 数据 ✓ 👍")).toBe("Zürich – 数据 ✓ 👍");
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(printable(text)).not.toMatch(/\p{Cc}/u);
      }),
    );
  });
});
