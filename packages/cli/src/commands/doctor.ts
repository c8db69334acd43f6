import { existsSync } from "node:fs";
import { exitCodes, isCandorError } from "@candor/contract";
import type { Command } from "commander";
import { present, type CommonOptions, type Context } from "../context.js";
import { fail, type Check } from "../doctor/check.js";
import { checkCredentials, checkDataFolder, checkNode, checkServerProgram } from "../doctor/machine.js";
import { checkServer } from "../doctor/server.js";
import { isOrphaned } from "../embedded/orphaned-data.js";
import { examples } from "../help.js";
import { withProgress } from "../output/progress.js";
import { table } from "../output/table.js";
import { printable } from "../output/printable.js";
import {
  defaultDataDir,
  locate,
  withConnection,
  withPlaceOptions,
  type Located,
  type PlaceOptions,
} from "../place-options.js";

async function overConnection(context: Context, options: PlaceOptions): Promise<readonly Check[]> {
  let located: Located | undefined;
  try {
    located = await locate(context, options, ["operator", "auditor"]);
  } catch (error) {
    if (!isCandorError(error)) throw error;
    // That nothing runs is about the server; all else that can go wrong so far is about who asks it.
    return [
      fail(
        isCandorError(error, "server-unreachable") ? "server" : "credentials to ask with",
        error.code,
        error.message,
      ),
    ];
  }
  const { operator } = located.credentials.trust;
  try {
    return await withConnection(located, (bus) => checkServer(bus, operator), {
      // An operator's streams are looked at one by one; a server without any is no reason to stop here.
      provisioned: located.credentials.role !== "operator",
    });
  } catch (error) {
    if (!isCandorError(error)) throw error;
    return [fail("server", error.code, error.message)];
  }
}

async function examine(context: Context, options: PlaceOptions): Promise<readonly Check[]> {
  const dataDir = options.data ?? defaultDataDir(context);
  // With a server elsewhere, what lies here says nothing, unless it was asked for.
  const isHere = options.data !== undefined || (options.server === undefined && options.credentials === undefined);
  const here = isHere
    ? [
        await checkServerProgram(context.environment),
        ...(await checkDataFolder(dataDir)),
        ...(existsSync(dataDir) ? checkCredentials(dataDir) : []),
      ]
    : [];
  // Without its operator nothing can be started here, nor asked.
  if (isHere && isOrphaned(dataDir)) return [checkNode(), ...here];
  return [checkNode(), ...here, ...(await overConnection(context, options))];
}

export function addDoctor(program: Command, context: Context): void {
  withPlaceOptions(program.command("doctor"))
    .description("check everything that Candor needs, and say what to do where it is not so")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      examples("candor doctor", "candor doctor --server nats://nats:4222 --credentials /etc/candor/auditor-a"),
    )
    .action(async (options: CommonOptions & PlaceOptions) => {
      const checks = await withProgress(context.terminal, "candor doctor", () => examine(context, options));
      const { colors } = context.terminal;
      const marks = { ok: colors.green("ok"), warn: colors.yellow("warn"), fail: colors.red("FAIL") } as const;
      present(context, options, { checks, healthy: checks.every(({ state }) => state !== "fail") }, () =>
        table(
          context.terminal,
          ["", "WHAT", "FOUND", "WHAT TO DO"],
          checks.map(({ what, state, found, todo = "" }) => [marks[state], what, printable(found), printable(todo)]),
        ),
      );
      if (checks.some(({ state }) => state === "fail")) context.exit = exitCodes.setup;
    });
}
