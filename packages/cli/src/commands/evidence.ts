import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { EvidenceBody, evidencePort, type Bus } from "@candor/bus";
import { CandorError, evidenceAddress, exitCodes, isCandorError } from "@candor/contract";
import type { Command } from "commander";
import { lanesOfStreams } from "../audit/stream-identity.js";
import { present, type CommonOptions, type Context } from "../context.js";
import { examples } from "../help.js";
import { bytes } from "../output/bytes.js";
import { counted } from "../output/counted.js";
import { printable } from "../output/printable.js";
import { withProgress } from "../output/progress.js";
import { table } from "../output/table.js";
import { locate, withConnection, withPlaceOptions, type PlaceOptions } from "../place-options.js";
import { tellEvidence, type EvidenceStory } from "../story/evidence-story.js";
import { readRunLog } from "../story/run-log.js";

type EvidenceOptions = CommonOptions & PlaceOptions;

/** So much of a hash is shown, and is enough to name a piece by. */
const shownDigits = 16;

async function withEvidence<T>(
  context: Context,
  options: PlaceOptions,
  run: string,
  use: (bus: Bus, pieces: readonly EvidenceStory[]) => Promise<T>,
): Promise<T> {
  const located = await locate(context, options, ["operator", "auditor"]);
  const { credentials } = located;
  return withConnection(
    located,
    async (bus) => {
      const log = await readRunLog(bus, await lanesOfStreams(bus, credentials.trust.operator), { run });
      return use(bus, await tellEvidence(bus, log));
    },
    { provisioned: credentials.role !== "operator" },
  );
}

/** The piece that a person means. @throws CandorError `bad-argument`, `not-found` */
function pieceOf(pieces: readonly EvidenceStory[], sha256: string): EvidenceStory {
  if (!/^[0-9a-f]{4,64}$/.test(sha256)) {
    throw new CandorError("bad-argument", "Name a piece of evidence by its SHA-256, or by the first digits of it.", {
      path: "sha256",
    });
  }
  const named = pieces.filter((piece) => piece.sha256.startsWith(sha256));
  const [first] = named;
  if (first === undefined) {
    throw new CandorError(
      "not-found",
      `The run has no evidence ${sha256}: "candor evidence list RUN" shows what there is.`,
      { path: "sha256" },
    );
  }
  if (named.some((piece) => piece.sha256 !== first.sha256)) {
    throw new CandorError("bad-argument", `${sha256} is the beginning of several: give more digits.`, {
      path: "sha256",
    });
  }
  return named.find(({ state }) => state === "stored") ?? first;
}

function bodyOf(bus: Bus, run: string, { sha256, actor, size = 0, label = "" }: EvidenceStory): EvidenceBody {
  return new EvidenceBody(evidencePort(bus), evidenceAddress({ run, actor, sha256, size, label }, run));
}

function stateText({ colors }: Context["terminal"], { state, collectedMs }: EvidenceStory): string {
  if (state === "missing") return colors.red(state);
  return collectedMs === undefined || state === "stored" ? state : `${state} ${new Date(collectedMs).toISOString()}`;
}

function listText(context: Context, run: string, pieces: readonly EvidenceStory[]): string {
  if (pieces.length === 0) return `Run ${run} has no evidence.`;
  const rows = pieces.map((piece) => [
    piece.sha256.slice(0, shownDigits),
    piece.actor,
    piece.size === undefined ? "?" : bytes(piece.size),
    piece.tasks.length === 0 ? "none" : piece.tasks.join(", "),
    stateText(context.terminal, piece),
    printable(piece.label ?? ""),
  ]);
  return table(context.terminal, ["SHA-256", "ACTOR", "SIZE", "REPORTED BY", "STATE", "LABEL"], rows);
}

function addList(group: Command, context: Context): void {
  withPlaceOptions(group.command("list"))
    .description("list a run's evidence: what is stored, what reports point to, what was collected")
    .argument("<run>", "id of the run")
    .option("--json", "print JSON")
    .addHelpText("after", examples("candor evidence list demo-1", "candor evidence list demo-1 --json"))
    .action(async (run: string, options: EvidenceOptions) => {
      const pieces = await withEvidence(context, options, run, (_, all) => Promise.resolve(all));
      present(context, options, pieces, () => listText(context, run, pieces));
    });
}

/** To a file that is not there yet, or to standard output. */
async function copy({ terminal }: Context, body: EvidenceBody, file: string | undefined): Promise<void> {
  if (file === undefined) {
    for await (const chunk of body) await terminal.bytes(chunk);
    return;
  }
  try {
    await pipeline(Readable.from(body, { objectMode: false }), createWriteStream(file, { flags: "wx", mode: 0o600 }));
  } catch (cause) {
    if (isCandorError(cause) || (cause as NodeJS.ErrnoException).code === "ENOSPC") throw cause;
    throw new CandorError(
      "folder-not-writable",
      `${file} can't be written: it must not exist, and its folder must be yours to write.`,
      { cause, path: "out" },
    );
  }
}

function addCat(group: Command, context: Context): void {
  withPlaceOptions(group.command("cat"))
    .description("print a piece of evidence as it is stored; what comes out is only good if the exit code is 0")
    .argument("<run>", "id of the run")
    .argument("<sha256>", "its SHA-256, or the first digits of it")
    .option("--out <file>", "write it to a new file instead of standard output")
    .option("--json", "say an error as JSON")
    .addHelpText(
      "after",
      examples("candor evidence cat demo-1 3f79bb7b", "candor evidence cat demo-1 3f79 --out a.log"),
    )
    .action(async (run: string, sha256: string, options: PlaceOptions & { readonly out?: string }) => {
      await withEvidence(context, options, run, async (bus, pieces) => {
        await copy(context, bodyOf(bus, run, pieceOf(pieces, sha256)), options.out);
      });
    });
}

interface Verified extends EvidenceStory {
  /** `right`, or the code of what is wrong. */
  readonly outcome: "right" | "collected" | "evidence-missing" | "evidence-altered";
}

async function verify(bus: Bus, run: string, piece: EvidenceStory): Promise<Verified> {
  if (piece.state === "collected") return { ...piece, outcome: "collected" };
  try {
    await bodyOf(bus, run, piece).verify();
    return { ...piece, outcome: "right" };
  } catch (error) {
    if (!isCandorError(error, "evidence-missing", "evidence-altered")) throw error;
    return { ...piece, outcome: error.code as "evidence-missing" | "evidence-altered" };
  }
}

function isWrong({ outcome }: Verified): boolean {
  return outcome !== "right" && outcome !== "collected";
}

function verifiedText(context: Context, run: string, verified: readonly Verified[]): string {
  const { colors } = context.terminal;
  if (verified.length === 0) return `Run ${run} has no evidence.`;
  const rows = verified.map((piece) => [
    piece.sha256.slice(0, shownDigits),
    piece.actor,
    isWrong(piece) ? colors.red(piece.outcome) : piece.outcome,
    printable(piece.label ?? ""),
  ]);
  const wrong = verified.find(isWrong);
  const last =
    wrong === undefined
      ? colors.green("Nothing is wrong.")
      : colors.red(
          `${counted(verified.filter(isWrong).length, "piece")} wrong. "candor explain ${wrong.outcome}" says what to do.`,
        );
  return `${table(context.terminal, ["SHA-256", "ACTOR", "OUTCOME", "LABEL"], rows)}\n\n${last}`;
}

function addVerify(group: Command, context: Context): void {
  withPlaceOptions(group.command("verify"))
    .description("read a run's evidence and check every hash; exit 1 if a piece is missing or altered")
    .argument("<run>", "id of the run")
    .argument("[sha256]", "one piece alone, by its SHA-256 or the first digits of it")
    .option("--json", "print JSON")
    .addHelpText("after", examples("candor evidence verify demo-1", "candor evidence verify demo-1 3f79bb7b"))
    .action(async (run: string, sha256: string | undefined, options: EvidenceOptions) => {
      const verified = await withProgress(context.terminal, "candor evidence verify", (say) =>
        withEvidence(context, options, run, async (bus, pieces) => {
          const chosen = sha256 === undefined ? pieces : [pieceOf(pieces, sha256)];
          const done: Verified[] = [];
          for (const piece of chosen) {
            say(`${done.length + 1} of ${chosen.length}`);
            done.push(await verify(bus, run, piece));
          }
          return done;
        }),
      );
      present(context, options, verified, () => verifiedText(context, run, verified));
      if (verified.some(isWrong)) context.exit = exitCodes.finding;
    });
}

export function addEvidence(program: Command, context: Context): void {
  const group = program.command("evidence").description("what agents keep to bear their claims out");
  addList(group, context);
  addCat(group, context);
  addVerify(group, context);
}
