import { describe, expect, it } from "vitest";
import { CoverageBook } from "./coverage.js";

describe("D6 coverage", () => {
  it("takes no more tasks than a report has room for, and all that the brief names", () => {
    const book = new CoverageBook(["look up"]);
    for (let i = 0; i < 999; i += 1) book.expect(`t${i}`);
    book.expect("look up");
    book.expect("t7");
    expect(() => {
      book.expect("one more");
    }).toThrow(expect.objectContaining({ code: "too-large" }));
  });

  it("counts bytes too", () => {
    const book = new CoverageBook([]);
    expect(() => {
      for (let i = 0; i < 1_000; i += 1) book.expect(`${i} ${"字".repeat(120)}`);
    }).toThrow(expect.objectContaining({ code: "too-large" }));
  });

  it("a call that was left makes a task partly done", () => {
    const book = new CoverageBook(["a", "b"]);
    book.observe("a", "done");
    book.leave("a");
    expect(book.coverage).toEqual([
      { task: "a", state: "partial" },
      { task: "b", state: "skipped" },
    ]);
  });
});
