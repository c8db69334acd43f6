import {
  behaviours,
  actions,
  failureLimits,
  mostLayers,
  type AdmittedOf,
  type FailureLayer,
  type FailurePolicy,
  type FailureStatement,
  type FindingCode,
  type Hop,
  type Payload,
  type PropagatedFailure,
  type Stated,
} from "@candor/contract";
import { decideFailure } from "./failure-decision.js";
import { initialFamily, type FailureLink, type Family, type KeptFailure, type KeptHop } from "./family.js";
import { bytesOfText, hashText } from "./kept.js";
import type { EpochState, RunState, TaskState } from "./state.js";

/** The epoch's own family, made when there first is one: most tasks delegate nothing. */
export function ownFamily(epoch: EpochState): Family {
  epoch.family ??= initialFamily();
  return epoch.family;
}

/** The epoch of the parent that a task is a part of, if it is in memory. */
function parentEpoch(run: RunState, { parent }: TaskState): EpochState | undefined {
  if (parent === undefined) return undefined;
  const task = run.tasks.get(parent.task);
  return task?.current?.epoch === parent.epoch ? task.current : task?.past.earlier.get(parent.epoch);
}

/** A child was delegated, anew or for the first time: what it failed with before no longer counts. */
export function foldChildBegun(run: RunState, task: TaskState): void {
  const epoch = parentEpoch(run, task);
  if (epoch === undefined) return;
  ownFamily(epoch).open.add(task.task);
  ownFamily(epoch).failed.delete(task.task);
}

/** Whoever delegated a child ended it: no report of it is due any more. */
export function foldChildEnded(run: RunState, task: TaskState): void {
  parentEpoch(run, task)?.family?.open.delete(task.task);
}

/** An error that is a child's failure, passed on (F8): does it say what the child said, and in its turn? */
export function foldHop(epoch: EpochState, entry: AdmittedOf<"error">, hop: Hop): void {
  const family = ownFamily(epoch);
  const { type, finality, recovered } = entry.payload;
  const link = family.failed.get(hop.task);
  const fault = hopFault(hop, { type, finality }, recovered, link);
  if (fault !== undefined) family.findings.add(fault, hop.task, entry.seq);
  family.hops.set(entry.event.seq, {
    child: hop.task,
    did: hop.did,
    saw: { ...hop.saw },
    says: { type, finality },
    hash: hashText(entry.hash),
    atMs: entry.event.at,
    link: fault === undefined ? link : undefined,
  });
}

function isSame(a: Stated, b: Stated): boolean {
  return a.type === b.type && a.finality === b.finality;
}

function hopFault(hop: Hop, says: Stated, recovered: boolean, link: FailureLink | undefined): FindingCode | undefined {
  if (link?.epoch !== hop.epoch) return "hop-rewritten";
  const previous = hashText(hop.previous);
  // An earlier layer's word in place of the last one's: what lies between was left out or put elsewhere.
  if (previous !== link.hash) return link.hashes.includes(previous) ? "hop-reordered" : "hop-rewritten";
  const isTrue = hashText(hop.origin) === link.hashes[0] && isSame(hop.saw, link.says);
  const isNamed = (hop.did === "recovered") === recovered && (hop.did !== "passed" || isSame(hop.saw, says));
  return isTrue && isNamed ? undefined : "hop-rewritten";
}

/** A report, before anything else is folded of it: what it says of its failure, and of its children's. */
export function foldFailures(run: RunState, task: TaskState, epoch: EpochState, entry: AdmittedOf<"report">): void {
  if (epoch.family !== undefined) closeFamily(epoch.family, entry);
  const above = parentEpoch(run, task)?.family;
  above?.open.delete(task.task);
  above?.failed.delete(task.task);
  const { failure, claim } = entry.payload;
  if (failure === undefined) return;
  if (claim !== "fail" || !isBorneOut(epoch, failure)) {
    ownFamily(epoch).findings.add("failure-mismatch", `error ${failure.error}`, entry.seq);
    return;
  }
  epoch.failure = keepFailure(run, task, epoch, entry, failure);
  above?.failed.set(task.task, epoch.failure.link);
}

/** What a report leaves out of what its children came to. One that was cut off could not say it any more. */
function closeFamily({ open, failed, hops, findings }: Family, { payload, seq }: AdmittedOf<"report">): void {
  const { claim, finishReason } = payload;
  if (finishReason === "recalled" || finishReason === "terminated") return;
  for (const child of open) findings.add("child-without-report", child);
  const told = new Set([...hops.values()].map(({ child }) => child));
  for (const [child, link] of failed) {
    if (told.has(child)) continue;
    findings.add("hop-dropped", child, link.seq);
    if (claim === "pass") findings.add("unrecovered-under-success", `child ${child}`, seq);
  }
}

/** Does the log hold the failure as the report states it? */
function isBorneOut({ disclosure, chain, effects }: EpochState, failure: FailureStatement): boolean {
  const { error, hash, type, finality, attempts } = failure;
  const found = disclosure.tally.errorAt(error, failureLimits.attempts);
  if (found === undefined || found.recovered || !isSame(found, { type, finality })) return false;
  if (!chain.knows(error, hash) || !disclosure.tally.failedAt(error, failure)) return false;
  const reasons = attempts.map(({ reason }) => reason);
  if (reasons.join() !== found.reasons.join()) return false;
  const committed = effects.all.filter(({ phase }) => phase === "committed");
  if (committed.length !== failure.effects.length + failure.effectsOmitted) return false;
  return failure.effects.every(({ key, intent }) =>
    committed.some((effect) => effect.key === key && effect.intent === intent),
  );
}

function keepFailure(
  run: RunState,
  { task }: TaskState,
  epoch: EpochState,
  entry: AdmittedOf<"report">,
  statement: FailureStatement,
): KeptFailure {
  const { type, finality, error, hash, operation, upstream, attempt, effects, effectsOmitted, retryAfterMs } =
    statement;
  const text = hashText(hash);
  const own = { task, epoch: epoch.epoch, actor: epoch.actor, hash: bytesOfText(text), type, finality };
  const hop = epoch.family?.hops.get(error);
  const below = hop?.link;
  const layers =
    hop === undefined || below === undefined
      ? []
      : [...below.layers, layerOf(run, task, epoch, hop)].slice(-mostLayers);
  const attempts = statement.attempts.map((prior) => ({
    ...prior,
    type: epoch.disclosure.tally.errorAt(prior.reason, 0)?.type ?? type,
  }));
  return {
    link: {
      epoch: epoch.epoch,
      hash: text,
      seq: entry.seq,
      says: { type, finality },
      origin: below?.origin ?? own,
      hashes: [...(below?.hashes ?? []), text],
      layers,
    },
    facts: {
      ...own,
      operation,
      ...(upstream === undefined ? {} : { upstream }),
      attempt,
      attempts,
      effects,
      effectsOmitted,
      ...foundByThen(entry.payload),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    },
  };
}

/** What the task had stored until it failed: whoever goes on with the work need not find it anew. */
function foundByThen({ evidence = [] }: Payload<"report">): Pick<PropagatedFailure, "evidence" | "evidenceOmitted"> {
  if (evidence.length === 0) return {};
  const omitted = evidence.length - failureLimits.evidence;
  return {
    // Copies: what is kept must not hold the message it came in.
    evidence: evidence
      .slice(0, failureLimits.evidence)
      .map(({ actor, hash, size }) => ({ actor, hash: Uint8Array.from(hash), size })),
    ...(omitted > 0 ? { evidenceOmitted: omitted } : {}),
  };
}

function layerOf({ policy }: RunState, task: string, { epoch, actor, brief }: EpochState, hop: KeptHop): FailureLayer {
  const { saw, says, did, atMs: at, hash } = hop;
  const { failures } = policy;
  const downgraded = failures !== undefined && isMilder(says, saw, brief.resultNeeded, failures);
  return { task, epoch, actor, saw, did, says, downgraded, at, hash: bytesOfText(hash) };
}

/** Whether the policy is milder about the one than about the other. */
function isMilder(one: Stated, other: Stated, needed: boolean, policy: FailurePolicy): boolean {
  const [a, b] = [decideFailure(one, needed, policy), decideFailure(other, needed, policy)];
  const graver = behaviours.indexOf(a.behaviour) - behaviours.indexOf(b.behaviour);
  return graver === 0 ? actions.indexOf(a.action) < actions.indexOf(b.action) : graver < 0;
}
