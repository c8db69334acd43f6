import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { connectBus, type Bus } from "@candor/bus";
import { findServer, launchServer, runningServer, serverInfo, writeAuthorization } from "@candor/bus/server";
import { CandorError, isCandorError } from "@candor/contract";
import { makeIdentity, oldServerProgram, serverProgram, startServer, type TestServer } from "../kit/start-server.js";

/** apt reads the package list of a whole Debian suite for it. */
const fetchTimeoutMs = 240_000;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "candor-server-"));
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

/** Launches a server that ends with the test. */
async function launch(options: Partial<Parameters<typeof launchServer>[0]> = {}) {
  const server = await launchServer({ dataDir: join(dir, "data"), program: await serverProgram(), ...options });
  onTestFinished(() => server.kill());
  return server;
}

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

describe("a server is found", () => {
  it("on the PATH, or where the environment names it", async () => {
    const program = await serverProgram();
    await copyFile(program, join(dir, "nats-server"));
    vi.stubEnv("PATH", `${dir}:${process.env["PATH"] ?? ""}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await findServer({ cacheDir: join(dir, "none") })).toMatchObject({ path: join(dir, "nats-server") });
    vi.stubEnv("CANDOR_NATS_SERVER", program);
    expect(await findServer({ cacheDir: join(dir, "none") })).toMatchObject({ path: program });
  });

  it(
    "by two at once that fetch it into an empty cache, on a machine whose package lists were never loaded",
    async ({ skip }) => {
      await mkdir(join(dir, "no-lists"));
      await writeFile(join(dir, "apt.conf"), `Dir::State::Lists "${join(dir, "no-lists")}";\n`);
      vi.stubEnv("APT_CONFIG", join(dir, "apt.conf"));
      vi.stubEnv("CANDOR_NATS_SERVER", "");
      // One on the PATH would be taken first.
      const folders = (process.env["PATH"] ?? "")
        .split(":")
        .filter((folder) => !existsSync(join(folder, "nats-server")));
      vi.stubEnv("PATH", folders.join(":"));
      onTestFinished(() => void vi.unstubAllEnvs());
      const cacheDir = join(dir, "cache");
      const found = await Promise.all([findServer({ cacheDir }), findServer({ cacheDir })]).catch((error: unknown) => {
        if (isCandorError(error, "server-missing")) return undefined;
        throw error;
      });
      if (found === undefined) return skip("neither a Debian mirror nor Go to fetch a server with");
      expect(await readdir(cacheDir)).toEqual(["nats-server"]);
      expect(found.map(({ path }) => path)).toEqual([join(cacheDir, "nats-server"), join(cacheDir, "nats-server")]);
      expect(await launch({ program: found[1].path })).toMatchObject({ version: found[0].version });
    },
    fetchTimeoutMs,
  );
});

describe("a launched server", () => {
  it("keeps its port and its data through kill -9 and restart", async () => {
    const server = await startServer();
    onTestFinished(() => server.close());
    const { nc } = await server.connect("agent", "a1");
    await nc.request("candor.in.agent.a1.r.t.error", "kept");
    await server.server.kill("SIGKILL");
    expect(server.server.pid()).toBeUndefined();
    await server.server.restart();
    const operator = await server.connect("operator");
    expect((await operator.jsm.streams.info("CANDOR_LOG")).state.messages).toBe(1);
    // The client came back by itself.
    await expect
      .poll(() =>
        nc.request("candor.in.agent.a1.r.t.error", "more").then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  });

  it("ends with the process that started it, even if that is killed with kill -9", async () => {
    const script = `import { launchServer } from "@candor/bus/server";
      const server = await launchServer(${JSON.stringify({ dataDir: join(dir, "data"), program: await serverProgram() })});
      console.log(server.port, server.pid());
      setInterval(() => undefined, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      cwd: join(import.meta.dirname, ".."),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const line = await new Promise<string>((done) =>
      child.stdout.once("data", (chunk: Buffer) => {
        done(chunk.toString());
      }),
    );
    const port = Number(line.split(" ")[0]);
    expect(await serverInfo("127.0.0.1", port)).toMatchObject({ jetstream: true });
    child.kill("SIGKILL");
    await expect.poll(() => serverInfo("127.0.0.1", port, 200), { timeout: 5_000 }).toBeUndefined();
  });

  it("outlives the process that started it only if it was told to", async () => {
    const options = { dataDir: join(dir, "data"), program: await serverProgram(), detached: true };
    const script = `import { launchServer } from "@candor/bus/server";
      console.log((await launchServer(${JSON.stringify(options)})).port);
      process.exit();`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      cwd: join(import.meta.dirname, ".."),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const line = await new Promise<string>((done) =>
      child.stdout.once("data", (chunk: Buffer) => {
        done(chunk.toString());
      }),
    );
    await new Promise((done) => child.once("exit", done));
    const pid = await runningServer(join(dir, "data"));
    expect(pid).toBeDefined();
    expect(await serverInfo("127.0.0.1", Number(line))).toMatchObject({ jetstream: true });
    process.kill(pid ?? 0, "SIGKILL");
    await expect.poll(() => runningServer(join(dir, "data"))).toBeUndefined();
  });
});

describe("B7 identities of a running server", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startServer();
  });
  afterEach(() => server.close());
  const roles = ["operator", "guard", "prober", "orchestrator", "agent", "auditor"] as const;

  it("a new one is taken up, no connection is dropped, and everybody goes on as before", async () => {
    const buses = new Map(await Promise.all(roles.map(async (role) => [role, await server.connect(role)] as const)));
    const as = (role: (typeof roles)[number]): Bus => {
      const bus = buses.get(role);
      if (bus === undefined) throw new CandorError("defect", `${role} is not connected.`);
      return bus;
    };
    const interruptions: string[] = [];
    for (const { nc, identity } of buses.values()) {
      void (async () => {
        for await (const { type } of nc.status()) interruptions.push(`${identity.role} ${type}`);
      })();
    }
    const seen: string[] = [];
    const listen = ({ nc, identity }: Bus): void => {
      nc.subscribe("candor.live.log.*.*.*.orch.*.intent", { callback: () => seen.push(identity.name) });
    };
    listen(as("agent"));
    const clientIds = [...buses.values()].map(({ nc }) => nc.info?.client_id);

    let isReloaded = false;
    let acknowledged = 0;
    let failed = 0;
    const publish = (): Promise<unknown> => as("agent").nc.request("candor.in.agent.a1.r.t.error", "");
    const publishing = (async () => {
      const isDone = (): boolean => isReloaded && acknowledged > 20;
      while (!isDone()) {
        await publish().then(
          () => acknowledged++,
          () => failed++,
        );
      }
    })();
    await server.addIdentity("agent", "late");
    isReloaded = true;
    await publishing;
    // Each of the two reloads may catch a request or two.
    expect(failed).toBeLessThanOrEqual(8);

    const late = await server.connect("agent", "late");
    listen(late);
    await late.nc.flush();
    expect((await late.nc.request("candor.in.agent.late.r.t.error", "")).string()).toContain("CANDOR_LOG");
    await as("orchestrator").nc.request("candor.in.orch.f1.r.t.intent", "");
    await expect.poll(() => [...seen].sort()).toEqual(["a1", "late"]);
    const consumer = await as("auditor").js.consumers.get("CANDOR_LOG", {
      filter_subjects: "candor.log.>",
    });
    expect((await consumer.next({ expires: 2_000 }))?.subject).toContain("agent.a1.error");
    expect(interruptions).toEqual([]);
    expect([...buses.values()].map(({ nc }) => nc.info?.client_id)).toEqual(clientIds);
    const { state } = await as("operator").jsm.streams.info("CANDOR_LOG");
    expect(state.messages).toBeGreaterThanOrEqual(acknowledged + 2);
  });

  it("one that is taken away loses its connection, and the others keep theirs", async () => {
    const [gone, kept] = [await server.connect("agent", "a1"), await server.connect("agent", "a2")];
    await writeAuthorization(
      server.dir,
      server.identities.filter(({ name }) => name !== "a1"),
    );
    await server.server.reload();
    await expect(gone.nc.closed()).resolves.toBeInstanceOf(Error);
    await expect(server.connect("agent", "a1")).rejects.toMatchObject({ code: "permission-denied" });
    expect((await kept.nc.request("candor.in.agent.a2.r.t.error", "")).string()).toContain("CANDOR_LOG");
  });

  it("a broken file is refused, and the server goes on with the old one", async () => {
    await writeFile(join(server.dir, "auth.conf"), "accounts { broken");
    await expect(server.server.reload()).rejects.toMatchObject({ code: "server-failed" });
    expect((await server.connect("agent")).identity.role).toBe("agent");
  });
});
