import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addIdentity } from "@candor/cli";
import { errorCodes, exitCodes, type ErrorCode } from "@candor/contract";
import { parseCredentials, readCertificateFile, readCredentials } from "@candor/ledger/files";
import { candor, candorHere, candorPath } from "../kit/candor.js";

let dir = "";
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "candor-cli-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

describe("Q2 Q3 the command as a process", () => {
  it.each<[ErrorCode, () => readonly string[]]>([
    ["server-unreachable", () => ["tail", "--data", join(dir, "nothing")]],
    ["not-found", () => ["audit", "--all", "--data", join(dir, "nothing")]],
    ["bad-argument", () => ["audit", "--all", "--run", "r1", "--data", join(dir, "nothing")]],
    ["folder-not-writable", () => ["up", "--data", "/proc/nothing", "--port", "0"]],
  ])("says %s in one line without control codes, and ends with the code's exit code", async (code, args) => {
    const { exit, stdout, stderr } = await candor(args());
    expect(exit).toBe(errorCodes[code].exit);
    expect(stderr).toMatch(new RegExp(`^candor: ${code}: [^\\p{Cc}]+\n$`, "u"));
    expect(stdout).toBe("");
  });

  it("doctor lists each check without control codes, and ends with 3 where one fails", async () => {
    const { exit, stdout, stderr } = await candor(["doctor", "--data", join(dir, "nothing")]);
    expect(exit).toBe(exitCodes.setup);
    expect(stdout).toContain("server-unreachable");
    expect(stdout).not.toMatch(/[^\P{Cc}\n]/u);
    expect(stderr).toBe("");
  });

  it("is not disturbed by a reader that stops early", async () => {
    const shell = spawn("sh", [
      "-c",
      `{ "$0" "$1" explain --json; echo "exit $?" >&2; } | head -n 1`,
      process.execPath,
      candorPath,
    ]);
    let [out, err] = ["", ""];
    shell.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    shell.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    await once(shell, "close");
    expect({ out, err }).toEqual({ out: "[\n", err: "exit 0\n" });
  });

  it.runIf(process.platform === "linux")("fails where its output does not get all into its file", async () => {
    const script = `"$0" "$1" explain --json > /dev/full; echo "exit $?"`;
    const shell = spawn("sh", ["-c", script, process.execPath, candorPath]);
    let text = "";
    for (const stream of [shell.stdout, shell.stderr]) stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
    await once(shell, "close");
    expect(text).toMatch(/"code":"store-full"/);
    expect(text).toMatch(/exit 4\n/);
  });
});

describe("B7 candor auth", () => {
  it("makes an operator once, adds identities once, and lists them", async () => {
    const auth = join(dir, "auth");
    const init = async (): Promise<object> =>
      JSON.parse((await candorHere(["auth", "init", auth, "--json"])).stdout) as object;
    const first = await init();
    expect(first).toMatchObject({ made: true });
    expect(await init()).toEqual({ ...first, made: false });

    const added = await candorHere(["auth", "add", "agent", "payer", "--dir", auth, "--json"]);
    expect(JSON.parse(added.stdout)).toMatchObject({ role: "agent", name: "payer", reloaded: false });
    const twice = await candorHere(["auth", "add", "agent", "payer", "--dir", auth]);
    expect(twice).toMatchObject({ exit: 2, stdout: "" });
    expect(twice.stderr).toContain("exists already");

    const { stdout } = await candorHere(["auth", "list", "--dir", auth, "--json"]);
    const listed = JSON.parse(stdout) as readonly { readonly role: string; readonly name: string }[];
    expect(listed.map(({ role, name }) => `${role} ${name}`)).toEqual(["agent payer", "operator operator"]);
    const exported = (await candorHere(["auth", "export", "agent", "payer", "--dir", auth])).stdout;
    expect(parseCredentials(exported)).toMatchObject({ role: "agent", name: "payer" });
    expect((await stat(join(auth, "agent-payer"))).mode & 0o777).toBe(0o700);
    expect((await stat(join(auth, "agent-payer", "signing.seed"))).mode & 0o777).toBe(0o600);
    const rules = await readFile(join(auth, "server", "auth.conf"), "utf8");
    expect(rules).toContain("# agent payer");
    expect(rules).not.toMatch(/\bSU[A-Z2-7]{56}\b/);
  });

  it("renews one whose folder is lost: the old connection key is in no file of the server any more", async () => {
    const auth = join(dir, "renewed");
    await candorHere(["auth", "init", auth]);
    await candorHere(["auth", "add", "orchestrator", "fleet", "--dir", auth]);
    const old = readCredentials(join(auth, "orchestrator-fleet"));
    await rm(join(auth, "orchestrator-fleet"), { recursive: true });
    const again = await candorHere(["auth", "add", "orchestrator", "fleet", "--dir", auth]);
    expect(again).toMatchObject({ exit: 2, stderr: expect.stringContaining("--renew") as string });
    const renewed = await candorHere(["auth", "add", "orchestrator", "fleet", "--renew", "--dir", auth]);
    expect(renewed).toMatchObject({ exit: 0, stdout: expect.stringContaining("open new runs") as string });
    const { connectionKey, signer } = readCredentials(join(auth, "orchestrator-fleet"));
    const rules = await readFile(join(auth, "server", "auth.conf"), "utf8");
    expect(rules).toContain(connectionKey);
    expect(rules).not.toContain(old.connectionKey);
    expect(readCertificateFile(join(auth, "certificates", "orchestrator-fleet.json")).key).toBe(signer.publicKey);
    // With the folder still there, as after a key got known: the old one is put aside.
    const json = await candorHere(["auth", "add", "orchestrator", "fleet", "--renew", "--dir", auth, "--json"]);
    const { replaced } = JSON.parse(json.stdout) as { readonly replaced: string };
    expect(readCredentials(replaced).connectionKey).toBe(connectionKey);
    const unknown = await candorHere(["auth", "add", "agent", "nobody", "--renew", "--dir", auth]);
    expect(unknown).toMatchObject({ exit: 2, stderr: expect.stringMatching(/^candor: not-found: /) as string });
  });

  it("keeps every identity when several processes add some at once", async () => {
    const auth = join(dir, "many");
    await candorHere(["auth", "init", auth]);
    const names = ["a0", "a1", "a2", "a3"];
    const results = await Promise.all([
      ...names.map((name) => candor(["auth", "add", "agent", name, "--dir", auth])),
      addIdentity(auth, { role: "agent", name: "here" }),
    ]);
    expect(results.flatMap((result) => ("exit" in result ? [result.exit] : []))).toEqual(names.map(() => 0));
    const rules = await readFile(join(auth, "server", "auth.conf"), "utf8");
    for (const name of [...names, "here"]) expect(rules).toContain(`# agent ${name}\n`);
  });
});
