#!/usr/bin/env node
import { CandorError, exitCodes, isCandorError, type ExitCode } from "@candor/contract";
import { connectBus } from "@candor/bus";
import { readCredentials, type Credentials } from "@candor/ledger/files";
import { pino, type Logger } from "pino";
import { startGuard, type Guard } from "./guard.js";
import { readLanes } from "./lane-list.js";
import { readOptions, usage, type MainOptions } from "./options.js";

/** A graceful stop that takes longer than this is ended: what it would have stored, the next start stores. */
const longestStopMs = 10_000;

/** One line: code, then what is wrong and what to do. A defect also shows where, since no user can mend it. */
function printError(error: unknown): ExitCode {
  if (isCandorError(error)) {
    process.stderr.write(`candor-guard: ${error.code}: ${error.message}\n`);
    return error.exit;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`candor-guard: defect: the guard itself failed; report this. ${text}\n`);
  return exitCodes.defect;
}

function guardCredentials(folder: string): Credentials & { certificate: NonNullable<Credentials["certificate"]> } {
  const credentials = readCredentials(folder);
  const { role, certificate } = credentials;
  if (role === "guard" && certificate !== undefined) return { ...credentials, certificate };
  throw new CandorError(
    "bad-argument",
    `${folder} holds the credentials of ${role} ${credentials.name}, and only a guard may publish verdicts: use a folder from "candor auth add guard NAME".`,
    { path: "credentials" },
  );
}

function serversOf(options: MainOptions, credentials: Credentials): readonly string[] {
  const servers = options.servers ?? credentials.servers;
  if (servers !== undefined && servers.length > 0) return servers;
  throw new CandorError(
    "bad-argument",
    "No server is named, neither in the credentials nor here: pass --servers URL or set CANDOR_SERVERS.",
    { path: "servers" },
  );
}

/** Resolves with the reason when somebody wants the guard to end. */
function untilAsked(parentWatch: boolean): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.on(signal, () => {
        resolve(signal);
      });
    }
    if (!parentWatch) return;
    for (const event of ["end", "close", "error"] as const) {
      process.stdin.on(event, () => {
        resolve("the parent process is gone");
      });
    }
    process.stdin.resume();
  });
}

async function stopWithin(guard: Guard, logger: Logger): Promise<void> {
  const giveUp = setTimeout(() => {
    logger.warn({ afterMs: longestStopMs }, "the server did not answer in time; the next start goes on from here");
    process.exit(exitCodes.unavailable);
  }, longestStopMs);
  await guard.stop();
  clearTimeout(giveUp);
}

async function run(options: MainOptions): Promise<ExitCode> {
  const credentials = guardCredentials(options.credentials);
  const name = options.name ?? credentials.name;
  const logger = pino({ level: options.logLevel, name: "candor-guard", base: { guard: name } }, pino.destination(2));
  const asked = untilAsked(options.parentWatch);
  const bus = await connectBus({
    servers: serversOf(options, credentials),
    identity: { role: "guard", name: credentials.name },
    connectionSeed: credentials.connectionSeed,
    inboxPrefix: credentials.inboxPrefix,
    apiPrefix: credentials.apiPrefix,
    operator: credentials.trust.operator,
    logger,
  });
  const { signer, certificate, trust } = credentials;
  const starting = startGuard({
    connection: bus,
    identity: { name: credentials.name, signer, certificate, operator: trust.operator },
    lanes: readLanes(options.lanes, bus.lanes ?? 0),
    logger,
    name,
  });
  const guard = await Promise.race([starting, asked]);
  // Nothing was read yet, so that there is nothing to store.
  if (typeof guard === "string") {
    logger.info({ reason: guard }, "stopping before it was ready");
    return exitCodes.ok;
  }
  const end = await Promise.race([asked, guard.ended]);
  if (typeof end === "string") logger.info({ reason: end }, "stopping");
  await stopWithin(guard, logger);
  await bus.close();
  return typeof end === "string" ? exitCodes.ok : printError(end);
}

async function main(): Promise<ExitCode> {
  try {
    const options = readOptions(process.argv.slice(2), process.env);
    if (!options.help) return await run(options);
    process.stdout.write(usage);
    return exitCodes.ok;
  } catch (error) {
    return printError(error);
  }
}

// Not left to the event loop: a connection that is half closed would keep the process.
process.exit(await main());
