import { describe, expect, it } from "vitest";
import { LogClock } from "./log-clock.js";

function clockAt(start: number): { clock: LogClock; pass: (ms: number) => void } {
  let mono = start;
  return {
    clock: new LogClock(() => mono),
    pass: (ms) => {
      mono += ms;
    },
  };
}

describe("R4 the log's time, whatever the guard's own date", () => {
  it("knows no time, so nothing is due, before the server has said something", () => {
    const { clock } = clockAt(5_000_000);
    expect(clock.isSet).toBe(false);
    expect(clock.nowMs).toBe(0);
  });

  it("goes on from the latest estimate, not from the latest message", () => {
    const { clock, pass } = clockAt(10);
    clock.observe(1_000_000);
    pass(500);
    clock.observe(900_000);
    expect(clock.nowMs).toBe(1_000_500);
    clock.observe(1_000_600);
    pass(1);
    expect(clock.nowMs).toBe(1_000_601);
  });

  it("follows a server whose clock was set back, once it is told so", () => {
    const { clock, pass } = clockAt(0);
    clock.observe(5_000_000);
    clock.correct(1_000_000);
    pass(20);
    expect(clock.nowMs).toBe(1_000_020);
  });
});
