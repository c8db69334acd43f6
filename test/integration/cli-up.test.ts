import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectAs } from "@candor/cli";
import { exitCodes } from "@candor/contract";
import { readCredentials } from "@candor/ledger/files";
import { candor, candorHere, processesOf, startCandor, type RunningCandor } from "../kit/candor.js";
import { until } from "../kit/guard-stage.js";

interface Up {
  readonly url: string;
  readonly lanes: number;
  readonly server: { readonly pid: number };
  readonly guards: readonly { readonly pid: number; readonly name: string }[];
}

let dir = "";
let data = "";
const running: RunningCandor[] = [];
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "candor-up-"));
  data = join(dir, "data");
});
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill("SIGKILL");
    await ended;
  }
  await until(async () => (await processesOf(dir)).length === 0);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function up(...args: readonly string[]): Promise<{ readonly process: RunningCandor; readonly up: Up }> {
  const process = startCandor(["up", "--data", data, "--port", "0", "--json", ...args]);
  running.push(process);
  await process.printed("\n");
  return { process, up: JSON.parse(process.stdout()) as Up };
}

describe("Q3 B7 candor up", () => {
  it("runs server, streams and guard with permissions on, takes up new identities, and ends with Ctrl-C", async () => {
    const { process, up: found } = await up();
    expect(found).toMatchObject({ lanes: 16, guards: [{ name: "guard-1" }] });

    const doctor = await candorHere(["doctor", "--data", data, "--json"]);
    expect(doctor.exit).toBe(0);
    const { checks } = JSON.parse(doctor.stdout) as { readonly checks: readonly { what: string; state: string }[] };
    expect(checks.filter(({ state }) => state !== "ok")).toEqual([]);
    expect(checks.map(({ what }) => what)).toEqual(expect.arrayContaining(["server", "streams", "clock", "guard"]));

    const second = await candor(["up", "--data", data, "--port", "0"]);
    expect(second.exit).toBe(exitCodes.setup);
    expect(second.stderr).toMatch(/^candor: server-failed: A server already runs on .*process \d+.*\n$/);

    const added = await candorHere(["auth", "add", "agent", "late", "--dir", join(data, "auth"), "--json"]);
    expect(JSON.parse(added.stdout)).toMatchObject({ reloaded: true });
    const bus = await connectAs(readCredentials(join(data, "auth", "agent-late")), found.url);
    await bus.close();

    process.child.kill("SIGINT");
    expect(await process.ended).toMatchObject({ exit: 0, stderr: expect.stringContaining("Stopping") as string });
    expect(await processesOf(data)).toEqual([]);
  });

  it("started several times at the same instant on one folder goes on once, and the others say so", async () => {
    const folder = join(dir, "contested");
    const starts = Array.from({ length: 4 }, () => startCandor(["up", "--data", folder, "--port", "0", "--json"]));
    running.push(...starts);
    const outcomes = await Promise.all(
      starts.map(async (start) => {
        const up = await Promise.race([start.printed("\n").then(() => "up"), start.ended]).catch(() => start.ended);
        return up === "up" ? undefined : await start.ended;
      }),
    );
    const lost = outcomes.filter((outcome) => outcome !== undefined);
    expect(lost).toHaveLength(3);
    for (const { exit, stderr } of lost) {
      expect(exit).toBe(exitCodes.setup);
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: "server-failed" } });
    }
    const winner = starts[outcomes.indexOf(undefined)];
    const doctor = await candorHere(["doctor", "--data", folder, "--json"]);
    expect(doctor.exit).toBe(0);
    winner?.child.kill("SIGINT");
    expect(await winner?.ended).toMatchObject({ exit: 0 });
    expect(await processesOf(folder)).toEqual([]);
  });

  it("leaves no process behind after kill -9, and goes on with the same data", async () => {
    const { process, up: first } = await up();
    expect((await processesOf(data)).length).toBeGreaterThanOrEqual(3);
    process.child.kill("SIGKILL");
    // At once: what the killed one left is still ending.
    const { up: second } = await up();
    const left = await processesOf(data);
    expect(left).not.toContain(first.server.pid);
    expect(left).not.toContain(first.guards[0]?.pid);
    expect(left).toContain(second.server.pid);
  });

  it("goes on with the same data where kill -9 took what would have ended the server as well", async () => {
    const { process, up: first } = await up();
    const watchdogs = await processesOf(`candor-watchdog\0${first.server.pid}\0`);
    expect(watchdogs).toHaveLength(1);
    for (const pid of [...watchdogs, process.child.pid ?? 0]) globalThis.process.kill(pid, "SIGKILL");
    await process.ended;
    const { up: second } = await up();
    const left = await processesOf(data);
    expect(left).not.toContain(first.server.pid);
    expect(left).toContain(second.server.pid);
  });

  it("ends with a clear word when a part of it dies", async () => {
    const { process, up: found } = await up();
    globalThis.process.kill(found.guards[0]?.pid ?? 0, "SIGKILL");
    const { exit, stderr } = await process.ended;
    expect(exit).toBe(exitCodes.setup);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: "server-failed", message: expect.stringMatching(/^The guard ended \(SIGKILL\)/) as string },
    });
  });

  it("refuses other lanes than the streams were made with", async () => {
    const { exit, stderr } = await candor(["up", "--data", data, "--port", "0", "--lanes", "4"]);
    expect({ exit, line: stderr.split("\n").filter((line) => line.startsWith("candor: ")) }).toEqual({
      exit: exitCodes.setup,
      line: [expect.stringMatching(/^candor: streams-differ: .*candor-lanes/)],
    });
  });
});

describe("Q2 candor up where it can't", () => {
  it("says that the port is taken", async () => {
    const other = createServer();
    await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { exit, stderr } = await candor(["up", "--data", join(dir, "taken"), "--port", String(port)]);
    other.close();
    expect({ exit, stderr }).toEqual({
      exit: exitCodes.setup,
      stderr: expect.stringMatching(new RegExp(`^candor: port-taken: Port ${port} .*\n$`)) as string,
    });
  });

  it.each([
    ["too old", "echo 'nats-server: v2.9.10'", "server-too-old"],
    ["no nats-server at all", "exit 1", "server-missing"],
  ])("says that the server is %s", async (_, script, code) => {
    const program = join(dir, `server-${code}`);
    await writeFile(program, `#!/bin/sh\n${script}\n`);
    await chmod(program, 0o755);
    const result = await candor(["up", "--data", join(dir, "other"), "--port", "0"], {
      env: { CANDOR_NATS_SERVER: program },
    });
    expect(result.exit).toBe(exitCodes.setup);
    expect(result.stderr).toMatch(new RegExp(`^candor: ${code}: .*\n$`));
  });

  it("Ctrl-C before it is up ends it as an interruption, whatever became of what was under way", async () => {
    const [program, started] = [join(dir, "slow-server"), join(dir, "slow-server.started")];
    await writeFile(program, `#!/bin/sh\ntouch ${started}\nsleep 1\nexit 1\n`);
    await chmod(program, 0o755);
    const options = { env: { CANDOR_NATS_SERVER: program } };
    const process = startCandor(["up", "--data", join(dir, "slow"), "--port", "0"], options);
    running.push(process);
    await until(() => existsSync(started));
    process.child.kill("SIGINT");
    const { exit, stderr } = await process.ended;
    expect(exit).toBe(130);
    expect(stderr).toMatch(/^Interrupted\. [^\n]*\n$/);
  });

  it("makes no new operator over streams of one whose keys are gone, and doctor does not advise it", async () => {
    const folder = join(dir, "orphaned");
    await mkdir(join(folder, "jetstream/LOG/streams/CANDOR_LOG"), { recursive: true });
    const { exit, stderr } = await candorHere(["up", "--data", folder, "--port", "0"]);
    expect({ exit, stderr }).toEqual({
      exit: exitCodes.usage,
      stderr: expect.stringMatching(/^candor: not-found: .*keys of their operator are gone.*\n$/) as string,
    });
    expect(existsSync(join(folder, "auth"))).toBe(false);
    const doctor = await candorHere(["doctor", "--data", folder]);
    expect(doctor.exit).toBe(exitCodes.setup);
    expect(doctor.stdout).toContain("keys of their operator are gone");
    expect(doctor.stdout).not.toContain("candor up");
    expect((await candorHere(["audit", "--all", "--data", folder])).stderr).toContain(
      "keys of their operator are gone",
    );
  });

  it("says whose credentials are gone, and doctor how to get new ones", async () => {
    const folder = join(dir, "lost");
    await candorHere(["auth", "init", join(folder, "auth")]);
    await candorHere(["auth", "add", "guard", "guard-1", "--dir", join(folder, "auth")]);
    await rm(join(folder, "auth", "guard-guard-1"), { recursive: true });
    const { exit, stderr } = await candorHere(["up", "--data", folder, "--port", "0"]);
    expect({ exit, stderr }).toEqual({
      exit: exitCodes.usage,
      stderr: expect.stringMatching(/^candor: not-found: .*guard guard-1 .*--renew.*\n$/) as string,
    });
    expect((await candorHere(["doctor", "--data", folder])).stdout).toMatch(
      /credentials of guard guard-1 +not here .*--renew/,
    );
  });

  it("says whose key others can read", async () => {
    const exposed = join(dir, "exposed");
    await candorHere(["auth", "init", join(exposed, "auth")]);
    await chmod(join(exposed, "auth", "operator", "signing.seed"), 0o644);
    const { exit, stderr } = await candorHere(["up", "--data", exposed, "--port", "0"]);
    expect(exit).toBe(exitCodes.setup);
    expect(stderr).toMatch(/^candor: key-exposed: .*signing\.seed.*chmod.*\n$/);
  });
});
