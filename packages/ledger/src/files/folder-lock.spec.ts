import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CandorError } from "@candor/contract";
import { FolderLock } from "./folder-lock.js";
import { ownMark, type ProcessMark } from "./process-mark.js";

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
