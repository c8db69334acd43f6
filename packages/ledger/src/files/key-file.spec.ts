import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSeed } from "../signature/signer.js";
import { createKeyFile, readKeyFile } from "./key-file.js";

const posix = process.platform !== "win32";
const noModes = "this platform has no file modes";
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "candor-files-"));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const refusal = (code: string, words = ""): Error =>
  expect.objectContaining({ name: "CandorError", code, message: expect.stringContaining(words) as string }) as Error;
const modeOf = (path: string): number => statSync(path).mode & 0o777;

describe("key files", () => {
  it("read back, and are made for the owner alone", (ctx) => {
    const path = join(root, "signing.seed");
    const seed = createKeyFile(path);
    expect(readKeyFile(path)).toBe(seed);
    if (!posix) ctx.skip(noModes);
    expect(modeOf(path)).toBe(0o600);
  });

  it("are made of a given seed, and never of something else", () => {
    const seed = createSeed();
    expect(createKeyFile(join(root, "a"), seed)).toBe(seed);
    expect(() => createKeyFile(join(root, "b"), "SUNOSEED")).toThrow(refusal("bad-key"));
    expect(existsSync(join(root, "b"))).toBe(false);
  });

  it("are never written over", () => {
    const path = join(root, "a");
    const seed = createKeyFile(path);
    expect(() => createKeyFile(path)).toThrow(refusal("bad-file", "was left as it is"));
    expect(readKeyFile(path)).toBe(seed);
  });

  it("are regular files: a pipe in their place is refused at once, and not waited for", (ctx) => {
    if (!posix) ctx.skip(noModes);
    const path = join(root, "pipe");
    execFileSync("mkfifo", ["-m", "600", path]);
    expect(() => readKeyFile(path)).toThrow(refusal("bad-file", "no regular file"));
  });

  it.each([0o640, 0o604, 0o620, 0o660, 0o666, 0o777])("Q2 are refused with mode %o, which others can use", (mode) => {
    const path = join(root, "a");
    createKeyFile(path);
    chmodSync(path, mode);
    expect(() => readKeyFile(path)).toThrow(refusal("key-exposed", `chmod 0600 ${path}`));
  });

  it.each([0o600, 0o400, 0o700])("are read with mode %o", (mode) => {
    const path = join(root, "a");
    createKeyFile(path);
    chmodSync(path, mode);
    expect(readKeyFile(path)).toMatch(/^SU/);
  });

  it("Q2 say what is wrong, where, and never what the key is", () => {
    const path = join(root, "a");
    const seed = createSeed();
    writeFileSync(path, seed.slice(0, -1), { mode: 0o600 });
    expect(() => readKeyFile(path)).toThrow(refusal("bad-key", path));
    expect(() => readKeyFile(path)).not.toThrow(refusal("bad-key", seed.slice(4, 20)));
    expect(() => readKeyFile(join(root, "none"))).toThrow(refusal("not-found", join(root, "none")));
    expect(() => readKeyFile(root)).toThrow(refusal("bad-file", root));
    expect(() => createKeyFile(join(root, "none", "a"))).toThrow(refusal("not-found", join(root, "none")));
  });

  it("are refused behind a link when the file itself is exposed", () => {
    createKeyFile(join(root, "a"));
    chmodSync(join(root, "a"), 0o644);
    symlinkSync(join(root, "a"), join(root, "link"));
    expect(() => readKeyFile(join(root, "link"))).toThrow(refusal("key-exposed"));
  });
});
