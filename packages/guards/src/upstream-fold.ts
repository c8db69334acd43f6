import type { AdmittedEvent, AdmittedOf, UpstreamRules } from "@candor/contract";
import type { Judgement } from "./judgement.js";
import type { Speaker } from "./speaker.js";
import type { EpochState, RunState, TaskState } from "./state.js";
import { blame, UpstreamBook, type UpstreamWindow } from "./upstream-book.js";
import { withError, withRecovery } from "./upstream-trouble.js";

/**
 * Counts what an event says about an upstream, and speaks where a report passes a threshold of the policy (D2, D6). Only
 * open tasks count: what a verdict of a task that is read again alone would depend on is not in its history.
 */
export function foldUpstream(
  run: RunState,
  task: TaskState,
  epoch: EpochState,
  entry: AdmittedEvent,
  speaker: Speaker,
): void {
  const rules = run.policy.upstreams;
  if (rules === undefined || run.revived || epoch !== task.current || task.control.standing === "closed") return;
  if (entry.kind === "report") foldReport(run, task, epoch, { entry, rules }, speaker);
  else if (entry.kind === "error" && entry.payload.upstream !== undefined) {
    epoch.trouble = withError(epoch.trouble, run.shared.text(entry.payload.upstream), entry.payload, entry.seq);
  } else if (entry.kind === "retry" && entry.payload.outcome === "ok" && entry.payload.upstream !== undefined) {
    epoch.trouble = withRecovery(epoch.trouble, run.shared.text(entry.payload.upstream));
  }
}

function foldReport(
  run: RunState,
  task: TaskState,
  epoch: EpochState,
  { entry, rules }: { readonly entry: AdmittedOf<"report">; readonly rules: UpstreamRules },
  speaker: Speaker,
): void {
  const { upstreams, claim } = entry.payload;
  const { trouble: first } = epoch;
  epoch.trouble = undefined;
  // A runtime that counts no calls says nothing of those that went well, so that the rest say nothing either.
  if (upstreams === undefined || (upstreams.length === 0 && first === undefined)) return;
  const book = (run.upstreams ??= new UpstreamBook(rules.windowMs));
  let isNew = false;
  for (const { window, trouble } of book.report(task.task, first, upstreams, speaker.nowMs)) {
    isNew = isDegraded(book, window, rules) || isNew;
    if (claim !== "pass" && trouble !== undefined && trouble.blamedAt > 0)
      blame(window, { task: task.task, epoch: entry.event.epoch, seq: trouble.blamedAt });
    if (window.blames.length > 0) judgeBlames(run, window, rules, speaker);
  }
  if (isNew) speakDegraded(run, speaker, { final: false });
}

/** True if the upstream is found degraded now. */
function isDegraded({ degraded }: UpstreamBook, { figures }: UpstreamWindow, rules: UpstreamRules): boolean {
  const { upstream, calls, firstTry } = figures;
  if (degraded.has(upstream) || calls < rules.minCalls || (calls - firstTry) / calls < rules.troubledShare)
    return false;
  degraded.set(upstream, { ...figures });
  return true;
}

/** Says which upstreams of the run were found degraded. @param final the run is closed */
export function speakDegraded(run: RunState, speaker: Speaker, { final }: { readonly final: boolean }): void {
  const degraded = [...(run.upstreams?.degraded.values() ?? [])];
  if (degraded.length === 0 || run.revived) return;
  const findings = degraded.map(({ upstream }) => ({ code: "upstream-degraded" as const, about: upstream }));
  const judgement: Judgement = { verdict: "UPSTREAM_DEGRADED", action: "wait", final, findings };
  speaker.verdict(run, run.self, "upstream", judgement, { epoch: undefined, upstreams: degraded });
}

/**
 * Blame on an upstream that other tasks used in the same window without any trouble is borne out by nobody (D6); one other
 * task that had trouble bears it out. Both may become known only after the blame.
 */
function judgeBlames(run: RunState, window: UpstreamWindow, { blame: rule }: UpstreamRules, speaker: Speaker): void {
  const { blames, troubledTasks, cleanTasks, cleanCalls, figures } = window;
  const isBorneOut = troubledTasks > 1;
  const isRefuted = !isBorneOut && cleanTasks >= rule.tasks && cleanCalls >= rule.calls;
  for (const blamed of blames) {
    const task = run.tasks.get(blamed.task);
    const epoch = task?.current;
    if (task === undefined || epoch?.epoch !== blamed.epoch || task.control.standing === "closed") continue;
    const upstreams = [{ ...figures }];
    if (isRefuted && !blamed.told) {
      blamed.told = true;
      const findings = [{ code: "blame-uncorroborated" as const, about: figures.upstream, seq: blamed.seq }];
      const judgement: Judgement = { verdict: "BLAME_UNCORROBORATED", action: "escalate", final: true, findings };
      speaker.verdict(run, task, "upstream", judgement, { epoch, upstreams });
    } else if (isBorneOut && blamed.told) {
      blamed.told = false;
      const judgement: Judgement = { verdict: "BLAME_CORROBORATED", action: "proceed", final: true, findings: [] };
      speaker.verdict(run, task, "upstream", judgement, { epoch, upstreams });
    }
  }
}
