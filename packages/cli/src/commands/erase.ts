import { apiRequest, readLast, type Bus } from "@candor/bus";
import { CandorError, requireId, streams } from "@candor/contract";
import type { Command } from "commander";
import { confirm } from "../confirmation.js";
import { present, type CommonOptions, type Context } from "../context.js";
import { examples } from "../help.js";
import { locate, withConnection, withPlaceOptions, type PlaceOptions } from "../place-options.js";

interface EraseOptions extends CommonOptions, PlaceOptions {
  readonly yes?: boolean;
}

/** Subjects of the data keys of a run; more than one only where two fleets chose the same id. */
const keySubjects = (run: string): string => `$KV.CANDOR_DATA_KEYS.*.${run}`;

/** Overwrites a stored message and removes it. @throws CandorError `server-failed` */
async function eraseMessage({ nc, apiPrefix }: Bus, seq: number): Promise<void> {
  const answer = await apiRequest(nc, `${apiPrefix}.STREAM.MSG.DELETE.${streams.dataKeys}`, { seq, no_erase: false });
  if (answer.ok) return;
  throw new CandorError(
    "server-failed",
    `The server did not erase the data key: ${answer.failure.description}. It can still be read.`,
  );
}

/** Erases every data key of a run. @returns the fleets whose keys they were */
async function eraseKeys(bus: Bus, run: string): Promise<readonly string[]> {
  const fleets: string[] = [];
  for (;;) {
    const found = await readLast(bus, streams.dataKeys, keySubjects(run));
    if (found === undefined) return fleets;
    await eraseMessage(bus, found.seq);
    fleets.push(found.subject.split(".")[2] ?? "");
  }
}

export function addErase(program: Command, context: Context): void {
  withPlaceOptions(program.command("erase"))
    .description("erase a run's data key: its prose can't be read any more; no hash, verdict or audit changes")
    .argument("<run>", "id of the run")
    .option("--yes", "do not ask first")
    .option("--json", "print JSON")
    .addHelpText("after", examples("candor erase demo-1 --yes"))
    .action(async (run: string, options: EraseOptions) => {
      requireId(run, "run");
      const located = await locate(context, options, ["operator"]);
      await withConnection(located, async (bus) => {
        if ((await readLast(bus, streams.dataKeys, keySubjects(run))) === undefined) {
          throw new CandorError(
            "not-found",
            `There is no data key of a run ${run}: it was erased before, or the id is wrong.`,
            { path: "run" },
          );
        }
        const question = `Erase the data key of run ${run}? Its prose is then lost for good.`;
        if (options.yes !== true && !(await confirm(context, question))) return;
        const fleets = await eraseKeys(bus, run);
        present(
          context,
          options,
          { run, fleets, erased: fleets.length },
          () =>
            `The data key of run ${run} is erased (${fleets.join(", ")}). Who kept a delegation token of it can still read what they got.`,
        );
      });
    });
}
