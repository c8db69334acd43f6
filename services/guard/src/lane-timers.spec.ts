import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { TimerRequest } from "@candor/guards";
import { LaneTimers } from "./lane-timers.js";
import { LogClock } from "./log-clock.js";

/** The log is years ahead of the guard's own date. */
const logStart = 4_000_000_000_000;

function request(task: string, afterMs: number, timer: TimerRequest["timer"] = "settle"): TimerRequest {
  return { run: "r1", task, epoch: 1, timer, deadlineMs: logStart + afterMs };
}

function stage(delayMs = 0) {
  const fired: string[] = [];
  const clock = new LogClock(() => performance.now());
  clock.observe(logStart);
  const timers = new LaneTimers({
    clock,
    fire: ({ task, timer }) => fired.push(`${task} ${timer}`),
    delayMs: () => delayMs,
  });
  return { timers, fired, clock };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("timers of a lane", () => {
  it("fires each at its deadline in log time, and not before", () => {
    const { timers, fired } = stage();
    timers.start([request("a", 300)]);
    timers.arm(request("b", 100));
    vi.advanceTimersByTime(99);
    expect(fired).toEqual([]);
    vi.advanceTimersByTime(2);
    expect(fired).toEqual(["b settle"]);
    vi.advanceTimersByTime(200);
    expect(fired).toEqual(["b settle", "a settle"]);
  });

  it("fires nothing before it is started, nor after it is stopped or cancelled", () => {
    const { timers, fired } = stage();
    timers.arm(request("a", 10));
    vi.advanceTimersByTime(50);
    expect(fired).toEqual([]);
    timers.start([]);
    timers.arm(request("b", 100));
    timers.cancel(request("b", 100));
    vi.advanceTimersByTime(500);
    expect(fired).toEqual(["a settle"]);
    timers.arm(request("c", 1_000));
    timers.stop();
    vi.advanceTimersByTime(5_000);
    expect(fired).toEqual(["a settle"]);
  });

  it("publishes again what the log does not show, more and more rarely, until it is cancelled", () => {
    const { timers, fired } = stage();
    timers.start([request("a", 10)]);
    vi.advanceTimersByTime(10_000);
    expect(fired.length).toBe(3);
    vi.advanceTimersByTime(10_000);
    expect(fired.length).toBe(3);
    timers.cancel(request("a", 10));
    vi.advanceTimersByTime(600_000);
    expect(fired.length).toBe(3);
  });

  it("takes the later deadline of a timer that is armed again", () => {
    const { timers, fired } = stage();
    timers.start([request("a", 10)]);
    timers.arm(request("a", 200));
    vi.advanceTimersByTime(150);
    expect(fired).toEqual([]);
    vi.advanceTimersByTime(60);
    expect(fired).toEqual(["a settle"]);
  });

  it("holds ten thousand windows behind one timer of the system", () => {
    const { timers, fired } = stage();
    timers.start([]);
    for (let i = 0; i < 10_000; i += 1) timers.arm(request(`t${i}`, 1_000 + i));
    expect(vi.getTimerCount()).toBe(1);
    expect(timers.armed).toBe(10_000);
    vi.advanceTimersByTime(11_100);
    expect(new Set(fired).size).toBe(10_000);
  });

  it("gives the leader time to publish first while standing by", () => {
    const { timers, fired } = stage(20);
    timers.start([request("a", 100)]);
    vi.advanceTimersByTime(110);
    expect(fired).toEqual([]);
    vi.advanceTimersByTime(15);
    expect(fired).toEqual(["a settle"]);
  });

  it("publishes what the guard missed while it was away at once", () => {
    const { timers, fired } = stage();
    timers.start([request("a", -60_000)]);
    vi.advanceTimersByTime(1);
    expect(fired).toEqual(["a settle"]);
  });
});
