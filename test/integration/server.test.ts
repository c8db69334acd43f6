import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { findServer, runningServer, serverInfo, type LaunchOptions, type ServerHandle } from "@candor/bus/server";
import { isCandorError } from "@candor/contract";
import { serverProgram, startServer } from "../kit/start-server.js";
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
