import { describe, expect, it } from "vitest";
import { readLanes } from "./lane-list.js";

describe("lanes of a guard", () => {
  it.each([
    ["all", [0, 1, 2, 3]],
    ["2", [2]],
    ["3,0-1,1", [0, 1, 3]],
    [" 1 , 3 ", [1, 3]],
  ])("reads %s", (text, lanes) => {
    expect(readLanes(text, 4)).toEqual(lanes);
  });

  it.each(["", "4", "2-1", "-1", "x", "0-9", "1;2"])("refuses %j by name", (text) => {
    expect(() => readLanes(text, 4)).toThrow(expect.objectContaining({ code: "bad-argument", path: "lanes" }));
  });
});
