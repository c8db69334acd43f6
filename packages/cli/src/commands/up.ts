import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { CandorError, exitCodes } from "@candor/contract";
import type { Command } from "commander";
import { addedRoles } from "../auth/auth-folder.js";
import type { CommonOptions, Context } from "../context.js";
import { startEmbedded, type Embedded } from "../embedded/embedded.js";
import { examples } from "../help.js";
import { endInterrupted, untilAborted, watchInterruption } from "../interruption.js";
import { jsonLine } from "../output/json.js";
import { withProgress } from "../output/progress.js";
import { listing } from "../output/table.js";
import { laneCount, port as portNumber } from "../numbers.js";
import { defaultDataDir } from "../place-options.js";
import { self } from "../self.js";

/** Where NATS listens by custom. */
const customaryPort = 4222;

interface UpOptions extends CommonOptions {
  readonly data?: string;
  readonly port?: number;
  readonly lanes?: number;
}

/** The port asked for, else the customary one; 0 is any that is free. */
function portOf({ port = customaryPort }: UpOptions): { readonly port?: number } {
  return port === 0 ? {} : { port };
}

function description({ url, dataDir, authDir, operator, lanes, server, guards, haltedLanes }: Embedded): object {
  return {
    url,
    dataDir,
    credentials: authDir,
    operator: operator.trust.operator,
    lanes,
    server: { version: server.version, pid: server.pid() },
    guards: guards.map((guard) => ({ name: guard.name, pid: guard.pid(), log: guard.logFile })),
    haltedLanes,
  };
}

function sayReady(context: Context, embedded: Embedded): void {
  const { terminal } = context;
  const candor = self(context);
  const { url, dataDir, authDir, lanes, server, guards } = embedded;
  terminal.out(
    [
      terminal.colors.bold("Candor is up."),
      listing(terminal, [
        ["server", `${url} (nats-server ${server.version})`],
        ["guard", `${guards.map(({ name }) => name).join(", ")}, ${lanes ?? 0} lanes`],
        ["data", dataDir],
        ["credentials", `${authDir}/<role>-<name>, as in ${join(authDir, "agent-agent")}`],
        ["add more", `${candor} auth add ${addedRoles.join("|")} <name> --dir ${authDir}`],
        ["look on", `${candor} tail --data ${dataDir}`],
      ]),
      "Ctrl-C stops all of it; the data stays.",
    ].join("\n"),
  );
}

function warnOfHaltedLanes({ terminal }: Context, { haltedLanes }: Embedded): void {
  for (const { lane, halted } of haltedLanes)
    terminal.note(`candor: ${halted?.code ?? "defect"}: lane ${lane} is halted. ${halted?.message ?? ""}`);
}

/** Resolves at the wish to stop, or with the reason when a part ends by itself. */
async function untilOver(embedded: Embedded, signal: AbortSignal): Promise<CandorError | undefined> {
  const isOver = new AbortController();
  const { server, guards } = embedded;
  const serverEnds = async (): Promise<CandorError> => {
    while (server.pid() !== undefined && !isOver.signal.aborted) await pause(200);
    return new CandorError("server-failed", `The server ended. See ${server.logFile}.`);
  };
  try {
    return await Promise.race([untilAborted(signal), serverEnds(), ...guards.map((guard) => guard.ended)]);
  } finally {
    isOver.abort();
  }
}

export function addUp(program: Command, context: Context): void {
  program
    .command("up")
    .description("run everything on this machine: a nats-server with permissions and streams, and a guard")
    .option("--data <dir>", "where everything is kept (default: candor-data, or CANDOR_DATA)")
    .option("--port <number>", "port to listen on, 0 for any that is free (default: 4222)", portNumber)
    .option("--lanes <number>", "lanes of the log, 1 to 1024, fixed when it is first made (default: 16)", laneCount)
    .option("--json", "print one line of JSON when it is up")
    .addHelpText("after", examples("candor up", "candor up --data /var/lib/candor --port 4333"))
    .action(async (options: UpOptions) => {
      const interruption = watchInterruption();
      try {
        await run(context, options, interruption.signal);
      } catch (error) {
        // What was under way may have been stopped by the same Ctrl-C, and its complaint is no news then.
        if (!interruption.signal.aborted) throw error;
        endInterrupted(context, interruption.signal.reason, "It was not up yet; what there is of data stays.");
      } finally {
        interruption.release();
      }
    });
}

/** Brings it all up, and keeps it so until the signal. @throws CandorError of what did not start, or ended by itself */
async function run(context: Context, options: UpOptions, signal: AbortSignal): Promise<void> {
  const dataDir = options.data ?? defaultDataDir(context);
  const { lanes } = options;
  const embedded = await withProgress(context.terminal, "candor up", (say) =>
    startEmbedded({ dataDir, ...portOf(options), ...(lanes === undefined ? {} : { lanes }), onStep: say }),
  );
  try {
    if (options.json === true) context.terminal.out(jsonLine(description(embedded)));
    else sayReady(context, embedded);
    warnOfHaltedLanes(context, embedded);
    const failure = await untilOver(embedded, signal);
    if (failure !== undefined) throw failure;
    context.terminal.note("Stopping.");
    if (embedded.haltedLanes.length > 0) context.exit = exitCodes.finding;
  } finally {
    await embedded.stop();
  }
}
