import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CandorError } from "@candor/contract";
import { FolderLock } from "./folder-lock.js";
import { isGone, ownMark, type ProcessMark } from "./process-mark.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "candor-lock-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const locked = (holder: ProcessMark | undefined): CandorError =>
  new CandorError("server-failed", "held", { details: { pid: holder?.pid } });
const take = (own?: ProcessMark): FolderLock => FolderLock.take(folder, { locked, ...(own && { own }) });
/** A process of this machine that is gone. */
const gone = (): ProcessMark => ({ ...ownMark(), startedAt: "1" });

describe("a folder's lock", () => {
  it("is held by one, and free once it is released, however often", () => {
    for (let round = 0; round < 5; round += 1) {
      const lock = take();
      expect(() => take()).toThrow(expect.objectContaining({ code: "server-failed", details: { pid: process.pid } }));
      lock.release();
      lock.release();
    }
    expect(readdirSync(folder)).toEqual(["lock.5"]);
  });

  it.runIf(process.platform === "linux")("passes from a process that is gone to one taker", () => {
    take(gone());
    const lock = take();
    expect(() => take()).toThrow(expect.objectContaining({ code: "server-failed" }));
    lock.release();
    expect(readdirSync(folder)).toEqual(["lock.2"]);
  });

  it("is taken over from a dead process, also where its number was given again", async () => {
    const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
    await once(child, "exit");
    const own = ownMark();
    writeFileSync(join(folder, "lock.1"), JSON.stringify({ ...own, pid: child.pid }));
    take().release();
    if (own.startedAt === undefined) return;
    writeFileSync(join(folder, "lock.3"), JSON.stringify({ ...own, startedAt: "1" }));
    take().release();
    writeFileSync(join(folder, "lock.5"), JSON.stringify(own));
    expect(() => take()).toThrow(expect.objectContaining({ code: "server-failed" }));
  });

  it("is left alone where the holder can't be seen", () => {
    const own = ownMark();
    expect(isGone({ ...own, pid: 2 ** 22 + 1, host: "elsewhere" }, own)).toBe(false);
    expect(isGone({ ...own, pid: 2 ** 22 + 1, space: "pid:[1]" }, own)).toBe(false);
    expect(isGone({ ...own, boot: "another" }, { ...own, boot: "this" })).toBe(true);
    writeFileSync(join(folder, "lock.1"), "no mark");
    expect(() => take()).toThrow(expect.objectContaining({ code: "server-failed" }));
  });

  it("stays with a process on another host, and with one that can't be told", () => {
    take({ ...ownMark(), host: "elsewhere" });
    expect(() => take()).toThrow(expect.objectContaining({ code: "server-failed" }));
    writeFileSync(join(folder, "lock.2"), "{");
    expect(() => take()).toThrow(expect.objectContaining({ code: "server-failed", details: { pid: 0 } }));
  });

  it("is not taken by a number below the last, which a late taker may link anew", () => {
    writeFileSync(join(folder, "lock.7"), JSON.stringify(ownMark()));
    writeFileSync(join(folder, "lock.6"), "");
    expect(() => take()).toThrow(expect.objectContaining({ code: "server-failed" }));
  });
});
