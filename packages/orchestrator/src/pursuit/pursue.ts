import { liveSubject, stricter, verdictSubject, type Action } from "@candor/contract";
import { acceptance, dispatch, quotedData, type DispatchDecision, type VerifyDecision } from "@candor/guards";
import type { Decided } from "../decision.js";
import type { Delegation } from "../delegation.js";
import type { PlannedAction } from "../minted-intents.js";
import { refuse, requireMs } from "../required.js";
import type { Intent } from "../run-options.js";
import type { Run } from "../run.js";
import type { TaskReport } from "../task-report.js";
import { intentsOf, withApproved, withBlockers } from "./next-brief.js";
import { askPerson, type Answered } from "./person.js";
import { readingOf, type Escalation, type Pursuit, type PursuitEnd, type PursuitStep } from "./pursuit.js";
import { verifyWork } from "./verification.js";

/** How long the guard may take for its word on an intent, in ms. */
const confirmMs = 10_000;

/** What the guard's judges may say at most for a decision to be carried out: of the report, and of everything else. */
const verifiable = { ofReport: ["verify", "approve", "proceed"], others: "verify" } as const;
const mildEnough: Readonly<
  Record<DispatchDecision["action"], { readonly ofReport: readonly Action[]; readonly others: Action }>
> = {
  "verify-accept-on-pass": verifiable,
  "verify-no-reprompt": verifiable,
  "verify-and-ablate": verifiable,
  "redispatch-with-blockers": { ofReport: ["redispatch"], others: "redispatch" },
  // A person is asked in any case.
  "surface-blocker": { ofReport: ["escalate"], others: "halt" },
  escalate: { ofReport: ["escalate"], others: "halt" },
};

function isBorneOut({ verdicts }: Decided, { action }: DispatchDecision): boolean {
  const { ofReport, others } = mildEnough[action];
  return verdicts.every((verdict) =>
    verdict.judge === "dispatch" ? ofReport.includes(verdict.action) : stricter(verdict.action, others) === others,
  );
}

/** What comes next: an end, or another delegation. */
type Next = { readonly end: PursuitEnd } | { readonly delegation: Delegation };

/**
 * Follows a task through (U2–U5): delegates it, waits for the guard's decision on its report, and carries out what the
 * table says. Verifiers are run by code and their receipts signed; a re-dispatch stays within the terms and holds the
 * blockers as quoted data; planned actions get keys once a person approved them; everything else is put before a person.
 * Nothing is accepted but with the guard's word on it.
 *
 * @throws CandorError `bad-argument` for a verifier without a prober, a time limit that is none, and an answer of `ask` that
 *   is none; as `delegate`, `approve`, `closeTask`, `confirm` and
 *   `publishProbe` do
 */
export async function pursue(run: Run, pursuit: Pursuit): Promise<PursuitEnd> {
  if (pursuit.brief.terms.verifier !== undefined && pursuit.prober === undefined)
    throw refuse("prober", "a prober, as connectProber gives it: it signs the verifier's receipts");
  requireMs(pursuit.reportMs, "reportMs");
  requireMs(pursuit.personMs, "personMs");
  const { task, agent, brief, intents } = pursuit;
  const first = await run.delegate({ task, agent, brief, ...(intents === undefined ? {} : { intents }) });
  return await new Chase(run, pursuit).follow(first);
}

class Chase {
  readonly #run: Run;
  readonly #pursuit: Pursuit;
  /** Re-dispatches so far, as the guard counts them. */
  #used = 0;
  #authority: readonly string[];

  constructor(run: Run, pursuit: Pursuit) {
    this.#run = run;
    this.#pursuit = pursuit;
    this.#authority = pursuit.brief.authority ?? [];
  }

  async follow(first: Delegation): Promise<PursuitEnd> {
    let delegation = first;
    for (;;) {
      const next = await this.#step(delegation);
      if ("end" in next) return next.end;
      ({ delegation } = next);
    }
  }

  async #step(delegation: Delegation): Promise<Next> {
    const { task, reportMs, start } = this.#pursuit;
    this.#say(delegation.epoch, "delegated", `epoch ${delegation.epoch} is delegated`);
    const ended: { error?: unknown } = {};
    const failed = new Promise<"agent-ended">((resolve) => {
      // Asynchronous, so that one that throws right away is an agent that ended, and no end of the pursuit.
      const started = async (): Promise<unknown> => start(delegation);
      started().catch((error: unknown) => {
        ended.error = error;
        resolve("agent-ended");
      });
    });
    const decision = await Promise.race([this.#run.decision(task, { timeoutMs: reportMs }), failed]);
    if (decision === "agent-ended") {
      const what = ended.error instanceof Error ? ended.error.message : "it did not say why";
      return this.#ask(delegation, "agent-ended", `The agent ended before its report: ${what}`);
    }
    if (decision.kind === "undecided") return this.#ask(delegation, "undecided", decision.sentence, { decision });
    return this.#carryOut(delegation, decision);
  }

  async #carryOut(delegation: Delegation, decision: Decided): Promise<Next> {
    const report = await this.#run.report(this.#pursuit.task);
    const upward = report?.upward;
    if (report === undefined || upward === undefined)
      return this.#ask(delegation, "escalated", "The agent gave no upward report.", { decision, report });
    const { verifier, newMechanism = false, redispatches } = this.#pursuit.brief.terms;
    const next = dispatch(
      readingOf(upward),
      { newMechanism, verifier: verifier ?? null },
      { retriesAllowed: redispatches, retriesUsed: this.#used },
    );
    this.#say(delegation.epoch, "decided", next.sentence);
    if (!isBorneOut(decision, next))
      return this.#ask(delegation, "escalated", sentencesOf(decision), { decision, report });
    switch (next.action) {
      case "verify-accept-on-pass":
      case "verify-no-reprompt":
      case "verify-and-ablate":
        return this.#verify(delegation, next, report);
      case "redispatch-with-blockers":
        return this.#again(delegation, withBlockers(this.#pursuit.brief.instructions, next.blockers));
      case "surface-blocker":
      case "escalate":
        return this.#ask(delegation, "escalated", next.sentence, { decision: next, report });
    }
  }

  async #verify(delegation: Delegation, next: VerifyDecision, report: TaskReport): Promise<Next> {
    const { task, prober, cwd, env, probes, signal, brief } = this.#pursuit;
    const { epoch } = delegation;
    if (prober === undefined) throw refuse("prober", "a prober");
    const wanted = {
      verifier: next.verifier,
      ablation: next.action === "verify-and-ablate" ? brief.terms.ablation : undefined,
    };
    const verification = await verifyWork(wanted, {
      run: this.#run.id,
      task,
      epoch,
      prober,
      evidence: this.#run.evidence,
      seal: (text) => this.#run.seal(text),
      ...(cwd === undefined ? {} : { cwd }),
      ...(env === undefined ? {} : { env }),
      ...(probes === undefined ? {} : { probes }),
      ...(signal === undefined ? {} : { signal }),
    });
    const found = acceptance(next, verification);
    this.#say(epoch, "verified", found.kind === "accept" ? "the verifier passed" : found.why);
    if (found.kind === "escalate")
      return this.#ask(delegation, "verifier-failed", `The verifier does not bear the report out: ${found.why}.`, {
        decision: next,
        report,
      });
    if (report.planned.length === 0) return this.#close(delegation, report, "the verifier", found.evidence);
    return this.#ask(delegation, "planned-actions", "The report plans actions that wait for approval.", {
      decision: next,
      report,
      planned: report.planned,
    });
  }

  /** Puts a question before a person, and does what the answer says. */
  async #ask(
    delegation: Delegation,
    why: Escalation["why"],
    sentence: string,
    about: Partial<Pick<Escalation, "decision" | "report" | "planned">> = {},
  ): Promise<Next> {
    const { task } = this.#pursuit;
    const { epoch, control } = delegation;
    const { decision, report, planned = [] } = about;
    const subject = liveSubject(verdictSubject({ lane: this.#run.lane, run: this.#run.id, task, judge: "dispatch" }));
    const escalation: Escalation = { why, task, epoch, subject, sentence, report, planned, decision };
    this.#say(epoch, "asked", sentence);
    const answer = await askPerson(this.#run, this.#pursuit, escalation, control);
    return this.#obey(delegation, escalation, answer);
  }

  async #obey(delegation: Delegation, escalation: Escalation, answer: Answered): Promise<Next> {
    const { epoch } = delegation;
    const { report, why } = escalation;
    switch (answer.kind) {
      case "left":
        return { end: { kind: "left", epoch, escalation } };
      case "overtaken":
        return { end: { kind: "overtaken", epoch } };
      case "reject":
        await this.#confirm(await this.#run.closeTask(this.#pursuit.task, { state: "rejected" }));
        this.#say(epoch, "closed", `${answer.person} rejected the result`);
        return { end: { kind: "rejected", epoch, by: answer.person } };
      case "accept":
        await this.#approve(answer, report, { accept: true });
        return this.#close(delegation, report, answer.person);
      case "approve":
        return this.#carryOn(delegation, escalation, answer);
      case "redispatch": {
        const authority = (answer.authority ?? []).filter((one) => !this.#authority.includes(one));
        const isSpent = this.#used >= this.#pursuit.brief.terms.redispatches;
        if (isSpent || authority.length > 0)
          await this.#approve(answer, undefined, { redispatches: isSpent ? 1 : 0, authority });
        this.#authority = [...this.#authority, ...authority];
        const blockers = quotedData(report?.upward?.blockers ?? []);
        this.#say(epoch, "approved", `${answer.person} wants it done once more, though it was ${why}`);
        return this.#again(delegation, withBlockers(this.#pursuit.brief.instructions, blockers));
      }
    }
  }

  /** Approved actions are carried out by the agent in its next epoch, each under a key of its own; the rest never run. */
  async #carryOn(
    delegation: Delegation,
    { planned, report }: Escalation,
    answer: Answered & { readonly kind: "approve" },
  ): Promise<Next> {
    const isApproved = ({ text }: PlannedAction): boolean => answer.approved.some((one) => one.text === text);
    const approved = planned.filter(isApproved);
    await this.#approve(answer, report, { approved, refused: planned.filter((one) => !isApproved(one)) });
    this.#say(
      delegation.epoch,
      "approved",
      `${answer.person} approved ${approved.length} of ${planned.length} planned actions`,
    );
    if (approved.length === 0) return this.#close(delegation, report, "the verifier");
    const { task, agent, brief, intents = [] } = this.#pursuit;
    const instructions = withApproved(brief.instructions, approved);
    const next = await this.#run.redelegate(task, {
      agent,
      brief: { ...brief, authority: this.#authority, instructions },
      intents: [...intents, ...intentsOf(approved)],
    });
    return { delegation: next };
  }

  async #again({ epoch }: Delegation, instructions: string): Promise<Next> {
    const { task, agent, brief, intents = [] } = this.#pursuit;
    const options = { agent, brief: { ...brief, authority: this.#authority, instructions }, intents };
    const delegation = await this.#run.redelegate(task, options);
    this.#used += 1;
    this.#say(epoch, "redispatched", `re-dispatch ${this.#used}, with the blockers as quoted data`);
    return { delegation };
  }

  async #close(
    { epoch }: Delegation,
    report: TaskReport | undefined,
    by: string,
    evidence: readonly string[] = [],
  ): Promise<Next> {
    await this.#confirm(await this.#run.closeTask(this.#pursuit.task, { state: "accepted" }));
    this.#say(epoch, "closed", `the result is accepted, by ${by}`);
    return { end: { kind: "accepted", epoch, by, report, evidence } };
  }

  /** Stores a person's leave, unless that came from elsewhere and is stored already. */
  async #approve(
    answer: Extract<Answered, { readonly person: string }>,
    report: TaskReport | undefined,
    leave: Omit<Parameters<Run["approve"]>[1], "person" | "report">,
  ): Promise<void> {
    if (answer.isStored) return;
    const options = { person: answer.person, ...(report === undefined ? {} : { report }), ...leave };
    await this.#confirm(await this.#run.approve(this.#pursuit.task, options));
  }

  async #confirm(intent: Intent): Promise<void> {
    await this.#run.confirm(intent, { timeoutMs: confirmMs });
  }

  #say(epoch: number, step: PursuitStep["step"], sentence: string): void {
    this.#pursuit.onStep?.({ task: this.#pursuit.task, epoch, step, sentence });
  }
}

function sentencesOf({ verdicts }: Decided): string {
  return verdicts.map(({ sentence }) => sentence).join(" ");
}
