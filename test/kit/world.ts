import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fromSeed } from "@nats-io/nkeys";
import { applyStreams, connectBus, type Bus, type IdentityRole } from "@candor/bus";
import { launchCluster, launchServer, writeAuthorization, type ServerHandle } from "@candor/bus/server";
import { CandorError, utf8, type Certificate } from "@candor/contract";
import { createCredentials, createOperator, type Credentials } from "@candor/ledger/files";
import { serverProgram } from "./start-server.js";

const everybody = {
  guard: ["g1", "g2"],
  orchestrator: ["fleet", "rivals"],
  agent: ["payer", "fetcher", "reviewer"],
  prober: ["prober"],
  auditor: ["auditor"],
} as const satisfies Partial<Record<IdentityRole, readonly string[]>>;

export interface WorldOptions {
  readonly nodes?: 1 | 3;
  readonly lanes?: number;
  /** Names by role, instead of the usual ones. */
  readonly identities?: Partial<Record<Exclude<IdentityRole, "operator">, readonly string[]>>;
  readonly limits?: Parameters<typeof launchServer>[0]["limits"];
}

/** A server (or three) as an operator would set it up: accounts, streams, and a credentials folder an identity. */
export interface World {
  readonly dir: string;
  readonly urls: readonly string[];
  readonly nodes: readonly ServerHandle[];
  readonly operatorKey: string;
  readonly folder: (role: IdentityRole, name: string) => string;
  readonly credentials: (role: IdentityRole, name: string) => Credentials;
  readonly certificate: (role: IdentityRole, name: string) => Certificate;
  readonly connect: (role: IdentityRole, name: string) => Promise<Bus>;
  /** Starts the guard as shipped, in a process of its own, and waits until it says that it is ready. */
  readonly startGuard: (name?: string, options?: GuardProcessOptions) => Promise<GuardProcess>;
  /** Ends every process and removes the folder. */
  readonly close: () => Promise<void>;
}

export interface GuardProcessOptions {
  /** Other addresses than the server's own, as of a proxy. */
  readonly servers?: readonly string[];
  readonly lanes?: string;
  readonly execArgv?: readonly string[];
}

export interface GuardProcess {
  readonly child: ChildProcess;
  readonly log: () => string;
  /** Resolves with the exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
  readonly kill: (signal?: NodeJS.Signals) => Promise<number | string>;
}

const guardMain = fileURLToPath(new URL("../../services/guard/dist/main.js", import.meta.url));
/** From the sources under vitest, and from `test/dist` when run built. */
const guardPath = guardMain.includes("/test/services/")
  ? guardMain.replace("/test/services/", "/services/")
  : guardMain;

function connectionKey({ connectionSeed }: Credentials): string {
  return fromSeed(utf8(connectionSeed)).getPublicKey();
}

function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Waits until a process has printed a text on its standard error. */
async function untilPrinted(child: ChildProcess, text: string, log: () => string): Promise<void> {
  while (!log().includes(text)) {
    if (isOver(child)) {
      throw new CandorError("server-failed", `The process ended before it was ready: ${log().slice(-2_000)}`);
    }
    await Promise.race([once(child.stderr as NodeJS.EventEmitter, "data"), once(child, "exit")]);
  }
}

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const { nodes: count = 1, lanes = 16, limits } = options;
  const dir = await mkdtemp(join(tmpdir(), "candor-world-"));
  const folder: World["folder"] = (role, name) => join(dir, "auth", `${role}-${name}`);
  const operator = createOperator(folder("operator", "operator"));
  const known = new Map<string, Credentials>([["operator-operator", operator]]);
  const names = Object.entries({ ...everybody, ...options.identities }) as [
    Exclude<IdentityRole, "operator">,
    readonly string[],
  ][];
  for (const [role, list] of names) {
    for (const name of list)
      known.set(`${role}-${name}`, createCredentials(folder(role, name), { role, name, operator: operator.signer }));
  }
  const identities = [...known.values()].map((one) => ({
    role: one.role,
    name: one.name,
    connectionKey: connectionKey(one),
  }));
  const { file: authFile } = await writeAuthorization(join(dir, "auth"), identities);
  const launch = {
    dataDir: join(dir, "server"),
    authFile,
    program: await serverProgram(),
    ...(limits === undefined ? {} : { limits }),
  };
  const nodes = count === 1 ? [await launchServer(launch)] : await launchCluster({ ...launch, size: count });
  const urls = nodes.map(({ url }) => url);
  const open: Bus[] = [];
  const children: ChildProcess[] = [];

  const credentials: World["credentials"] = (role, name) => {
    const found = known.get(`${role}-${name}`);
    if (found === undefined) throw new CandorError("not-found", `This world has no ${role} ${name}.`);
    return found;
  };
  const connectAs = async (role: IdentityRole, name: string, provisioned: boolean): Promise<Bus> => {
    const { connectionSeed } = credentials(role, name);
    const bus = await connectBus({ servers: urls, identity: { role, name }, connectionSeed, provisioned });
    open.push(bus);
    return bus;
  };
  const close = async (): Promise<void> => {
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(children.filter((child) => !isOver(child)).map((child) => once(child, "exit")));
    await Promise.all(open.map(({ nc }) => nc.close()));
    await Promise.all(nodes.map((node) => node.kill()));
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const bus = await connectAs("operator", "operator", false);
    await applyStreams(bus.nc, { operator: operator.signer.publicKey, lanes, replicas: count });
  } catch (error) {
    await close();
    throw error;
  }

  return {
    dir,
    urls,
    nodes,
    operatorKey: operator.signer.publicKey,
    folder,
    credentials,
    certificate: (role, name) => {
      const { certificate } = credentials(role, name);
      if (certificate === undefined) throw new CandorError("not-found", `${role} ${name} has no certificate.`);
      return certificate;
    },
    connect: (role, name) => connectAs(role, name, true),
    startGuard: async (name = "g1", { servers = urls, lanes: which = "all", execArgv = [] } = {}) => {
      const args = [
        "--credentials",
        folder("guard", name),
        "--servers",
        servers.join(","),
        "--lanes",
        which,
        "--parent-watch",
      ];
      const child = spawn(process.execPath, [...execArgv, guardPath, ...args], { stdio: ["pipe", "ignore", "pipe"] });
      children.push(child);
      let text = "";
      child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
        text = (text + chunk).slice(-200_000);
      });
      const ended = once(child, "exit").then(([code, signal]) => (signal ?? code) as number | string);
      await untilPrinted(child, "guard is ready", () => text);
      return {
        child,
        log: () => text,
        ended,
        kill: (signal = "SIGKILL") => {
          child.kill(signal);
          return ended;
        },
      };
    },
    close,
  };
}
