import fc from "fast-check";
import { expect, test } from "vitest";
import { keyTasksOf } from "./review-key-tasks.js";

test("every file has a key task, whatever it is called, and a brief has room for all of them", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", maxLength: 300 }), { maxLength: 2_000 }), (names) => {
      const tasks = keyTasksOf(names.map((name) => ({ file: `${name}.sql` })));
      expect(tasks).toHaveLength(names.length);
      expect(new Set(tasks).size).toBeLessThanOrEqual(500);
      for (const task of tasks) expect(task).toMatch(/^\P{Cc}+$/u);
      expect(Math.max(0, ...tasks.map(({ length }) => length))).toBeLessThanOrEqual(128);
    }),
    { numRuns: 50 },
  );
});

test("a large folder is told of in groups", () => {
  const tasks = keyTasksOf(Array.from({ length: 1_001 }, (_, i) => ({ file: `${i}.sql` })));
  expect([tasks[0], tasks[2], tasks[3], tasks[1_000]]).toEqual([
    "files 1 to 3",
    "files 1 to 3",
    "files 4 to 6",
    "files 1000 to 1001",
  ]);
});
