import { spawn } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { connectBus } from "@candor/bus";
import {
  findServer,
  runningServer,
  serverInfo,
  writeAuthorization,
  type LaunchOptions,
  type ServerHandle,
} from "@candor/bus/server";
import { makeIdentity, oldServerProgram, serverProgram } from "../kit/start-server.js";
import { temporaryServer } from "../kit/temporary-server.js";

/** apt reads the package list of a whole Debian suite for it. */
const fetchTimeoutMs = 240_000;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "candor-server-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const launch = (options: Partial<LaunchOptions> = {}): Promise<ServerHandle> =>
  temporaryServer({ dataDir: join(dir, "data"), ...options });

/** Something that listens, says `greeting` to whoever connects, and is no server of ours. */
async function listener(greeting: string): Promise<number> {
  const other = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.write(greeting);
  });
  await new Promise<void>((done) => other.listen(0, "127.0.0.1", done));
  onTestFinished(() => void other.close());
  return (other.address() as AddressInfo).port;
}

const agent = makeIdentity("agent", "a1");
const connectTo = (url: string, connectionSeed = agent.connectionSeed) =>
  connectBus({ servers: url, identity: { role: "agent", name: "a1" }, connectionSeed, connectTimeoutMs: 500 });

describe("Q2 a server that can't be used gives one clear error", () => {
  it("not there: server-unreachable, within the time asked for", async () => {
    const server = await launch();
    await server.stop();
    const start = performance.now();
    await expect(connectTo(server.url)).rejects.toMatchObject({ code: "server-unreachable", action: "retry" });
    expect(performance.now() - start).toBeLessThan(2_000);
  });

  it("not there for a second: says so once, and goes on when it comes", async () => {
    const server = await launch();
    await server.stop();
    let slow = 0;
    const connecting = connectBus({
      servers: server.url,
      identity: { role: "agent", name: "a1" },
      connectionSeed: agent.connectionSeed,
      provisioned: false,
      onSlow: () => {
        slow += 1;
        void server.restart();
      },
    });
    const bus = await connecting;
    expect(slow).toBe(1);
    await bus.close();
  });

  it("something else listens there: server-unreachable", async () => {
    const port = await listener("HTTP/1.1 400 Bad Request\r\n\r\n");
    await expect(connectTo(`nats://127.0.0.1:${port}`)).rejects.toMatchObject({ code: "server-unreachable" });
    const mute = await listener("");
    await expect(connectTo(`nats://127.0.0.1:${mute}`)).rejects.toMatchObject({ code: "server-unreachable" });
  });

  it("without JetStream: no-jetstream", async () => {
    const server = await launch({ jetstream: false });
    await expect(connectTo(server.url)).rejects.toMatchObject({ code: "no-jetstream" });
  });

  it("a server that does not know the key: permission-denied", async () => {
    const { file } = await writeAuthorization(dir, [agent]);
    const server = await launch({ authFile: file });
    const stranger = makeIdentity("agent", "a1");
    await expect(connectTo(server.url, stranger.connectionSeed)).rejects.toMatchObject({ code: "permission-denied" });
  });

  it("a seed that is none: bad-key, and the message does not repeat it", async () => {
    const failure = connectTo("nats://127.0.0.1:1", "SUNOTASEED");
    await expect(failure).rejects.toMatchObject({ code: "bad-key" });
    await expect(failure).rejects.not.toThrow(/NOTASEED/);
  });

  it("the port is taken: port-taken", async () => {
    const port = await listener("");
    await expect(launch({ port })).rejects.toMatchObject({ code: "port-taken", details: { port } });
  });

  it("the data folder can't be written: folder-not-writable", async () => {
    await writeFile(join(dir, "file"), "");
    for (const dataDir of [join(dir, "file"), join(dir, "file", "below"), "/proc/candor"]) {
      await expect(launch({ dataDir })).rejects.toMatchObject({ code: "folder-not-writable" });
    }
  });

  it("a server already runs on the folder: server-failed with its process id", async () => {
    const server = await launch();
    expect(await runningServer(server.dataDir)).toBe(server.pid());
    await expect(launch()).rejects.toMatchObject({ code: "server-failed", details: { pid: server.pid() } });
    await server.stop();
    expect(await runningServer(server.dataDir)).toBeUndefined();
  });

  it("the configuration is broken: server-failed with what the server said", async () => {
    const authFile = join(dir, "auth.conf");
    await writeFile(authFile, "accounts { LOG: { users: [ { nkey: nonsense } ] } }");
    await expect(launch({ authFile })).rejects.toMatchObject({
      code: "server-failed",
      message: expect.stringContaining("Not a valid public nkey") as string,
    });
  });

  it("no program is to be had: server-missing, and what to do", async () => {
    vi.stubEnv("PATH", dir);
    onTestFinished(() => void vi.unstubAllEnvs());
    const missing = findServer({ cacheDir: join(dir, "cache") });
    await expect(missing).rejects.toMatchObject({ code: "server-missing" });
    for (const way of ["brew", "docker", "releases"]) await expect(missing).rejects.toThrow(way);
    vi.stubEnv("CANDOR_NATS_SERVER", join(dir, "nothing"));
    await expect(findServer({ cacheDir: dir })).rejects.toMatchObject({ code: "server-missing" });
  });
});

describe("Q2 a server that is too old, Debian stable's own", () => {
  let old: string | undefined;
  beforeAll(async () => {
    old = await oldServerProgram();
  }, fetchTimeoutMs);

  it("is not launched: server-too-old", async ({ skip }) => {
    if (old === undefined) return skip("no Debian mirror to take an old server from");
    const failure = launch({ program: old });
    await expect(failure).rejects.toMatchObject({ code: "server-too-old" });
    await expect(failure).rejects.toThrow(/2\.9\.\d+ .* 2\.12\.0/);
    expect(await runningServer(join(dir, "data"))).toBeUndefined();
  });

  it("is not connected to: server-too-old", async ({ skip }) => {
    if (old === undefined) return skip("no Debian mirror to take an old server from");
    const { port } = await launch().then(async (server) => {
      await server.stop();
      return server;
    });
    const child = spawn(old, ["-a", "127.0.0.1", "-p", String(port), "-js", "-sd", dir], { stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    await expect.poll(() => serverInfo("127.0.0.1", port)).toMatchObject({ jetstream: true });
    await expect(connectTo(`nats://127.0.0.1:${port}`)).rejects.toMatchObject({ code: "server-too-old" });
  });

  it("is passed over on the PATH, and refused where it is named", async ({ skip }) => {
    if (old === undefined) return skip("no Debian mirror to take an old server from");
    const found = await serverProgram();
    const cacheDir = join(dir, "cache");
    await mkdir(cacheDir);
    await copyFile(found, join(cacheDir, "nats-server"));
    vi.stubEnv("PATH", dirname(old));
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await findServer({ cacheDir })).toMatchObject({ path: join(cacheDir, "nats-server") });
    vi.stubEnv("CANDOR_NATS_SERVER", old);
    await expect(findServer({ cacheDir })).rejects.toMatchObject({ code: "server-too-old" });
  });
});
