import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ClosedTasks } from "./closed-tasks.js";

const task = fc.string({ minLength: 1, maxLength: 64 });
const actors = fc.constantFrom("|payer|", "|payer|other|", "|third|");

describe("B1 closed tasks", () => {
  it("are known with who took part in them, however many there are, and no other is", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(task, actors), { maxLength: 400 }), fc.array(task), (closed, others) => {
        const tasks = new ClosedTasks();
        const known = new Map<string, string>();
        for (const [id, who] of closed) {
          tasks.add(id, who);
          known.set(id, who);
        }
        expect(tasks.size).toBe(known.size);
        for (const id of [...known.keys(), ...others]) {
          expect(tasks.actorsOf(id)).toBe(known.get(id));
          expect(tasks.has(id)).toBe(known.has(id));
        }
      }),
    );
  });

  it("are ten thousand in one run as well, each of an agent of its own", () => {
    const tasks = new ClosedTasks();
    for (let i = 0; i < 10_000; i += 1) tasks.add(`t${i}`, `|a${i}|`);
    expect(tasks.size).toBe(10_000);
    for (let i = 0; i < 10_000; i += 1) expect(tasks.actorsOf(`t${i}`)).toBe(`|a${i}|`);
    expect(tasks.has("t10000")).toBe(false);
  });

  it("have late facts only where something was found", () => {
    const tasks = new ClosedTasks();
    tasks.add("t1", "|payer|");
    expect(tasks.lateFacts("t1")).toBeUndefined();
    const facts = { late: new Map([["payer", 3]]), mayHoldGhost: true };
    tasks.learn("t1", facts);
    expect(tasks.lateFacts("t1")).toBe(facts);
  });
});
