import { join } from "node:path";
import { CandorError, isCandorError, type ExitCode } from "@candor/contract";
import { connectOrchestrator, type Decision, type Fleet, type Intent, type Run } from "@candor/orchestrator";
import type { Command } from "commander";
import { readRecords } from "../auth/identity-record.js";
import { confirm } from "../confirmation.js";
import { present, type CommonOptions, type Context } from "../context.js";
import { formatDuration } from "../duration.js";
import { examples } from "../help.js";
import { withProgress } from "../output/progress.js";
import { painted } from "../story/story-text.js";
import { duration } from "../numbers.js";
import { self } from "../self.js";
import { defaultDataDir, locate, withPlaceOptions, type Located, type PlaceOptions } from "../place-options.js";

interface ControlOptions extends CommonOptions, PlaceOptions {
  readonly reason: string;
  readonly wait?: boolean;
}

/** How long the guard may take to say whether an intent holds. */
export const confirmMs = 10_000;
/** How long, after the window, the last judge may take. */
const afterWindowMs = 15_000;

/** Fleets whose credentials are at hand: the one named, or all of the data folder. */
async function fleetsAt(context: Context, options: PlaceOptions): Promise<readonly Located[]> {
  if (options.credentials !== undefined) return [await locate(context, options, ["orchestrator"])];
  const authDir = join(options.data ?? defaultDataDir(context), "auth");
  const names = readRecords(authDir)
    .filter(({ role }) => role === "orchestrator")
    .map(({ name }) => name);
  if (names.length === 0) return [await locate(context, options, ["orchestrator"])];
  return Promise.all(names.map((name) => locate(context, options, ["orchestrator"], name)));
}

function connectFleet({ credentials, servers, dataDir }: Located): Promise<Fleet> {
  return connectOrchestrator({
    servers,
    credentials,
    // What the orchestrators of this folder remember: a log that was rolled back is found before anything is sent.
    ...(dataDir === undefined ? {} : { memoryDir: join(dataDir, "memory") }),
  });
}

/**
 * Takes the run up with the fleet that opened it.
 *
 * @throws CandorError `not-found` if no fleet at hand did
 */
export async function withRun<T>(
  context: Context,
  options: PlaceOptions,
  id: string,
  use: (run: Run) => Promise<T>,
): Promise<T> {
  let last: CandorError | undefined;
  for (const located of await fleetsAt(context, options)) {
    const fleet = await connectFleet(located);
    try {
      return await use(await fleet.attach(id));
    } catch (error) {
      if (!isCandorError(error, "not-found") || error.path === "task") throw error;
      last = error;
    } finally {
      await fleet.close();
    }
  }
  throw last ?? new CandorError("not-found", `No fleet at hand has opened a run ${id}.`, { path: "run" });
}

interface Outcome {
  readonly run: string;
  readonly task: string;
  readonly intent: "recall" | "terminate";
  readonly control: number;
  readonly epoch: number;
  /** Sequence in the log. */
  readonly sequence: number;
  readonly decision?: Decision;
}

function outcomeText(context: Context, { run, task, intent, control, epoch, sequence, decision }: Outcome): string {
  const said = `${intent} of ${task} in run ${run} holds: control number ${control}, epoch ${epoch}, sequence ${sequence}.`;
  if (decision === undefined) return `${said}\n${self(context)} task show ${run} ${task}   shows what becomes of it`;
  if (decision.kind === "undecided") return `${said}\nNot decided: ${decision.sentence}`;
  const verdicts = decision.verdicts.map(({ verdict, sentence }) => `  ${verdict}: ${sentence}`);
  return [said, `Action: ${painted(context, decision.action)}`, ...verdicts].join("\n");
}

/** Sends an intent, waits for the guard's word on it, and, if asked to, for its last word on the task. */
async function control(
  context: Context,
  options: ControlOptions,
  at: { readonly run: string; readonly task: string; readonly intent: Outcome["intent"]; readonly windowMs: number },
  send: (run: Run) => Promise<Intent>,
): Promise<void> {
  const outcome = await withProgress(context.terminal, `candor ${at.intent}`, (say) =>
    withRun(context, options, at.run, async (run): Promise<Outcome> => {
      const intent = await send(run);
      say("waiting for the guard's word on it");
      await run.confirm(intent, { timeoutMs: confirmMs });
      const { control: number, epoch, sequence } = intent;
      const stored = { run: at.run, task: at.task, intent: at.intent, control: number, epoch, sequence };
      if (options.wait !== true) return stored;
      say(`waiting for the task's end, at most ${formatDuration(at.windowMs + afterWindowMs)}`);
      return { ...stored, decision: await run.decision(at.task, { timeoutMs: at.windowMs + afterWindowMs }) };
    }),
  );
  present(context, options, outcome, (value) => outcomeText(context, value));
  if (outcome.decision?.kind === "undecided") context.exit = exitOfUndecided;
}

const exitOfUndecided: ExitCode = new CandorError("undecided", "").exit;

export function addRecall(program: Command, context: Context): void {
  withPlaceOptions(program.command("recall"))
    .description("ask a subagent to stop: it starts no new effect, and may end what is under way within a window")
    .argument("<run>", "id of the run")
    .argument("<task>", "id of the task")
    .requiredOption("--grace <time>", "the window, such as 30s (required); policy and brief bound it", duration)
    .option("--reason <word>", "why, in a word or two; it is not sealed", "asked for by a person")
    .option("--wait", "wait for the guard's last word on the task")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      examples(
        "candor recall demo-1 pay-invoices --grace 30s",
        "candor recall r1 t1 --grace 5s --reason budget --wait",
      ),
    )
    .action(async (run: string, task: string, options: ControlOptions & { readonly grace: number }) => {
      const { grace: graceMs, reason } = options;
      await control(context, options, { run, task, intent: "recall", windowMs: graceMs }, (attached) =>
        attached.recall(task, { graceMs, reason }),
      );
    });
}

export function addTerminate(program: Command, context: Context): void {
  withPlaceOptions(program.command("terminate"))
    .description("end a task at once: every effect without an outcome counts as unknown and has to be reconciled")
    .argument("<run>", "id of the run")
    .argument("<task>", "id of the task")
    .option("--yes", "do not ask first")
    .option("--reason <word>", "why, in a word or two; it is not sealed", "asked for by a person")
    .option("--wait", "wait for the guard's last word on the task")
    .option("--json", "print JSON")
    .addHelpText("after", examples("candor terminate demo-1 pay-invoices --yes"))
    .action(async (run: string, task: string, options: ControlOptions & { readonly yes?: boolean }) => {
      const question = `Terminate task ${task} of run ${run}? There is no window.`;
      if (options.yes !== true && !(await confirm(context, question))) return;
      const { reason } = options;
      await control(context, options, { run, task, intent: "terminate", windowMs: 0 }, (attached) =>
        attached.terminate(task, { reason }),
      );
    });
}
