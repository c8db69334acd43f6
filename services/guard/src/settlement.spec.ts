import { describe, expect, it } from "vitest";
import { Settlement } from "./settlement.js";

/** Whether a promise is resolved, and with what. */
async function outcome(promise: Promise<boolean>): Promise<boolean | "open"> {
  return Promise.race([promise, new Promise<"open">((resolve) => setImmediate(resolve, "open"))]);
}

describe("what is under way", () => {
  it("is settled up to the moment of asking, although more is begun all the time", async () => {
    const settlement = new Settlement();
    const [first, second] = [settlement.begin(), settlement.begin()];
    const asked = settlement.settled();
    const third = settlement.begin();
    first();
    expect(await outcome(asked)).toBe("open");
    second();
    expect(await outcome(asked)).toBe(true);
    const again = settlement.settled();
    expect(await outcome(again)).toBe("open");
    third();
    expect(await outcome(again)).toBe(true);
  });

  it("waits for what was begun earlier, in whatever order it ends", async () => {
    const settlement = new Settlement();
    const early = settlement.begin();
    const first = settlement.settled();
    const late = settlement.begin();
    const second = settlement.settled();
    late();
    expect(await outcome(second)).toBe("open");
    early();
    expect(await outcome(first)).toBe(true);
    expect(await outcome(second)).toBe(true);
  });

  it("is settled at once where there is nothing", async () => {
    expect(await outcome(new Settlement().settled())).toBe(true);
  });

  it("says no once it is given up", async () => {
    const settlement = new Settlement();
    const done = settlement.begin();
    const asked = settlement.settled();
    settlement.giveUp();
    expect(await outcome(asked)).toBe(false);
    done();
  });
});
