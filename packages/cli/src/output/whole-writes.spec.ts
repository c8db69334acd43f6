import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { wholeWrites } from "./whole-writes.js";

const text = "né\n".repeat(100_000);
const streamOn = (fd: number): Parameters<typeof wholeWrites>[0] => ({ fd, isTTY: false }) as never;

describe("Q2 output to a file", () => {
  it("is all there", () => {
    const dir = mkdtempSync(join(tmpdir(), "candor-output-"));
    const fd = openSync(join(dir, "out"), "w");
    let written = 0;
    const output = wholeWrites(streamOn(fd));
    output.write(text);
    output.write(Buffer.from("end"), () => (written += 1));
    closeSync(fd);
    expect(readFileSync(join(dir, "out"), "utf8")).toBe(`${text}end`);
    expect(written).toBe(1);
    rmSync(dir, { recursive: true });
  });

  it.runIf(process.platform === "linux")("says so where there is no room for it", () => {
    const fd = openSync("/dev/full", "w");
    expect(() => wholeWrites(streamOn(fd)).write(text)).toThrow(expect.objectContaining({ code: "store-full" }));
    closeSync(fd);
  });
});
