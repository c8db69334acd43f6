import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createUser } from "@nats-io/nkeys";
import { applyStreams, connectBus, type Bus, type BusOptions, type IdentityRole } from "@candor/bus";
import { CandorError, silentLogger } from "@candor/contract";
import {
  defaultCacheDir,
  findServer,
  launchCluster,
  launchServer,
  withDebianServer,
  writeAuthorization,
  type LaunchOptions,
  type ServerHandle,
} from "@candor/bus/server";

/** An identity of a test, with the seeds that a credentials folder would hold. */
export interface TestIdentity {
  readonly role: IdentityRole;
  readonly name: string;
  readonly connectionKey: string;
  readonly connectionSeed: string;
  readonly signingKey: string;
  readonly signingSeed: string;
}

const everyRole = {
  operator: ["op"],
  guard: ["g1", "g2"],
  prober: ["p1"],
  orchestrator: ["f1", "f2"],
  agent: ["a1", "a2"],
  auditor: ["auditor"],
} as const satisfies Record<IdentityRole, readonly string[]>;

export interface StartServerOptions {
  /** 1 by default; 3 starts a cluster, which takes seconds. */
  readonly nodes?: 1 | 3;
  /** Names by role; by default two guards, fleets and agents, and one of each other role. There is always an operator. */
  readonly identities?: Partial<Record<IdentityRole, readonly string[]>>;
  /** 16 by default. */
  readonly lanes?: number;
  /** False for a server without our streams. */
  readonly provisioned?: boolean;
  readonly limits?: LaunchOptions["limits"];
  readonly syncAlways?: boolean;
  /** Where to keep all of it; a temporary folder that `close` removes by default. */
  readonly dir?: string;
}

/** A running server with accounts and streams, in a folder of its own. */
export interface TestServer {
  /** Addresses of all nodes. */
  readonly urls: readonly string[];
  /** Address of the first node. */
  readonly url: string;
  readonly dir: string;
  readonly nodes: readonly ServerHandle[];
  /** The first node. */
  readonly server: ServerHandle;
  readonly identities: readonly TestIdentity[];
  /** The operator's public signing key. */
  readonly operatorKey: string;
  readonly identity: (role: IdentityRole, name?: string) => TestIdentity;
  /** Connects as one of the identities; closed with the server. */
  readonly connect: (role: IdentityRole, name?: string, options?: Partial<BusOptions>) => Promise<Bus>;
  /** Adds an identity and makes the running server take it up. */
  readonly addIdentity: (role: IdentityRole, name: string) => Promise<TestIdentity>;
  /** Stops everything and removes the folder. */
  readonly close: () => Promise<void>;
}

const asText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Makes the two keys of an identity. */
export function makeIdentity(role: IdentityRole, name: string): TestIdentity {
  const connection = createUser();
  const signing = createUser();
  return {
    role,
    name,
    connectionKey: connection.getPublicKey(),
    connectionSeed: asText(connection.getSeed()),
    signingKey: signing.getPublicKey(),
    signingSeed: asText(signing.getSeed()),
  };
}

let program: Promise<string> | undefined;

/** The server program, looked for once a process. */
export function serverProgram(): Promise<string> {
  program ??= findServer().then(({ path }) => path);
  return program;
}

/** Debian stable's own server, 2.9, fetched once into the cache of the checkout; undefined where there is no mirror. */
export async function oldServerProgram(): Promise<string | undefined> {
  const folder = join(defaultCacheDir(), "..", "nats-server-old");
  const program = join(folder, "nats-server");
  if (existsSync(program)) return program;
  return withDebianServer("bookworm", silentLogger, async (fetched) => {
    await mkdir(folder, { recursive: true });
    await copyFile(fetched, `${program}.draft`);
    await rename(`${program}.draft`, program);
    return program;
  });
}

/**
 * Starts a real nats-server (or three) on free ports, with permissions on and the streams made.
 * `await using` is not there on Node 20, so call `close` in `afterAll` or `afterEach`.
 */
export async function startServer(options: StartServerOptions = {}): Promise<TestServer> {
  const { nodes: count = 1, lanes, provisioned = true, limits, syncAlways } = options;
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), "candor-test-")));
  const names = { ...everyRole, ...options.identities };
  const identities = Object.entries(names).flatMap(([role, list]) =>
    list.map((name) => makeIdentity(role as IdentityRole, name)),
  );
  const { file: authFile } = await writeAuthorization(dir, identities);
  const launch = {
    dataDir: join(dir, "data"),
    authFile,
    program: await serverProgram(),
    ...(limits === undefined ? {} : { limits }),
    ...(syncAlways === undefined ? {} : { syncAlways }),
  };
  const nodes = count === 1 ? [await launchServer(launch)] : await launchCluster({ ...launch, size: count });
  const [server] = nodes;
  if (server === undefined) throw new CandorError("defect", "No node was started.");
  const urls = nodes.map(({ url }) => url);
  const open: Bus[] = [];

  const identity = (role: IdentityRole, name?: string): TestIdentity => {
    const found = identities.find((one) => one.role === role && (name === undefined || one.name === name));
    if (found === undefined)
      throw new CandorError("not-found", `The test server has no identity ${role} ${name ?? ""}.`);
    return found;
  };
  const connect: TestServer["connect"] = async (role, name, more = {}) => {
    const { connectionSeed, name: found } = identity(role, name);
    const bus = await connectBus({ servers: urls, identity: { role, name: found }, connectionSeed, ...more });
    open.push(bus);
    return bus;
  };
  const close = async (): Promise<void> => {
    await Promise.all(open.map(({ nc }) => nc.close()));
    await Promise.all(nodes.map((node) => node.kill()));
    if (options.dir === undefined) await rm(dir, { recursive: true, force: true });
  };

  const operatorKey = identity("operator").signingKey;
  try {
    if (provisioned) {
      const operator = await connect("operator", undefined, { provisioned: false });
      await applyStreams(operator.nc, {
        operator: operatorKey,
        replicas: count,
        ...(lanes === undefined ? {} : { lanes }),
      });
      await operator.close();
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    urls,
    url: server.url,
    dir,
    nodes,
    server,
    identities,
    operatorKey,
    identity,
    connect,
    addIdentity: async (role, name) => {
      const added = makeIdentity(role, name);
      identities.push(added);
      await writeAuthorization(dir, identities);
      await Promise.all(nodes.map((node) => node.reload()));
      return added;
    },
    close,
  };
}
