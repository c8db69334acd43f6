import { hex, type AdmittedEvent, type EventKind, type Payload, type Upward } from "@candor/contract";
import { formatDuration } from "../duration.js";
import { counted } from "../output/counted.js";
import { prose, type ProseKey } from "./prose.js";

type Describe<K extends EventKind> = (payload: Payload<K>, key: ProseKey) => string;
type Table = { readonly [K in EventKind]: Describe<K> };

/** Parts that are there, with commas between. */
function list(...parts: readonly (string | undefined | false)[]): string {
  return parts.filter((part) => part !== undefined && part !== false && part !== "").join(", ");
}

function quoted(sealed: Uint8Array | undefined, key: ProseKey): string | undefined {
  const text = prose(sealed, key);
  return text === undefined ? undefined : text.startsWith("(") ? text : `“${text}”`;
}

const shortKey = (key: string): string => `${key.slice(0, 8)}…`;

/** What of an upward report a person wants to know first. */
function upwardWords({ status, escalationRequired, escalationReason, blockers, planned }: Upward, key: ProseKey) {
  return [
    `status ${status}`,
    escalationRequired && `wants a person ${quoted(escalationReason, key) ?? ""}`,
    ...blockers.map((blocker) => `blocker ${quoted(blocker, key) ?? ""}`),
    ...planned.map(({ text }, index) => `plans ${index + 1}: ${quoted(text, key) ?? ""}`),
  ];
}

function intentText({ intent, inDoubt, discriminator }: Payload<"delegate">["intents"][number]): string {
  const each = discriminator === undefined ? "" : ` for each ${discriminator}`;
  return `${intent}${each}${inDoubt === undefined ? "" : ` (in doubt: ${inDoubt})`}`;
}

/** What an event says, in one line for people. Total: a kind without words does not compile. */
const sentences: Table = {
  "run-open": ({ fleet, probers, isolation, title }, key) =>
    list(
      `fleet ${fleet.name}`,
      probers.length > 0 && `probers ${probers.map(({ name }) => name).join(" ")}`,
      isolation,
      quoted(title, key),
    ),
  "run-close": ({ state }) => state,
  "key-added": ({ certificate }) => `${certificate.role} ${certificate.name}, ${shortKey(certificate.key)}`,
  "key-revoked": ({ key, reason }) => list(shortKey(key), reason),
  delegate: ({ agent, brief, intents, predecessor, subFleet, parent }, key) =>
    list(
      `to ${agent.actor}`,
      parent !== undefined && `part of ${parent.task} in epoch ${parent.epoch}`,
      subFleet !== undefined && `which may delegate as ${subFleet.name}`,
      quoted(brief.title, key),
      brief.keyTasks.length > 0 && `key tasks ${brief.keyTasks.join("; ")}`,
      brief.critical && "critical",
      brief.examines !== undefined && `examines ${brief.examines.join("; ")}`,
      intents.length > 0 && `may ${intents.map(intentText).join(", ")}`,
      brief.terms !== undefined &&
        `${counted(brief.terms.redispatches, "re-dispatch", "re-dispatches")}, ${brief.terms.verifier?.kind ?? "no"} verifier`,
      predecessor !== undefined && `after ${predecessor.actor} in epoch ${predecessor.epoch}`,
    ),
  recall: ({ graceMs, reason }) => list(`within ${formatDuration(graceMs)}`, reason),
  terminate: ({ reason, force }) => list(reason, force && "by force"),
  approve: ({ person, approved, refused, accept, redispatches, authority }) =>
    list(
      `by ${person}`,
      approved.length > 0 && counted(approved.length, "planned action"),
      refused.length > 0 && `${refused.length} refused`,
      accept && "the result is accepted",
      redispatches > 0 && counted(redispatches, "further re-dispatch", "further re-dispatches"),
      authority.length > 0 && `authority ${authority.join(" ")}`,
    ),
  close: ({ state }) => state,
  accept: ({ mode, scope }) => list(mode, scope.adapter, scope.framework),
  error: (
    { type, finality, recovered, operation, upstream, attempt, retryAfterMs, hop, description, unverifiedHint },
    key,
  ) =>
    list(
      `${type}, ${finality}`,
      recovered && "recovered",
      `in ${operation}${upstream === undefined ? "" : ` at ${upstream}`}`,
      attempt > 1 && `attempt ${attempt}`,
      hop !== undefined && `${hop.did} from task ${hop.task}, which said ${hop.saw.type}, ${hop.saw.finality}`,
      retryAfterMs !== undefined && `asked to wait ${formatDuration(retryAfterMs)}`,
      quoted(description, key),
      unverifiedHint !== undefined && `unverified hint ${quoted(unverifiedHint, key) ?? ""}`,
    ),
  retry: ({ operation, upstream, attempt, reason, delayMs, outcome }) =>
    list(
      `${operation}${upstream === undefined ? "" : ` at ${upstream}`}`,
      `attempt ${attempt} for event ${reason}`,
      `after ${formatDuration(delayMs)}`,
      outcome,
    ),
  effect: ({ phase, intent, key, target, identifiers = {}, dispatch, epoch, keyUnread }) =>
    list(
      `${phase} ${intent} at ${target}`,
      dispatch !== undefined && `of event ${dispatch}`,
      epoch !== undefined && `of epoch ${epoch} and before`,
      `key ${key}`,
      keyUnread === true && "which its code never read",
      ...Object.entries(identifiers).map(([name, value]) => `${name} ${value}`),
    ),
  acknowledge: ({ control, manifest, takenAt }) =>
    list(
      `control ${control}`,
      manifest === undefined
        ? "no manifest"
        : `in flight ${manifest.length === 0 ? "nothing" : manifest.map(({ intent }) => intent).join(" ")}`,
      `taken at event ${takenAt}`,
    ),
  "no-side-effects": ({ control, takenAt }) => list(`control ${control}`, `taken at event ${takenAt}`),
  receipt: ({ part, parts, content }) => `part ${part} of ${parts}, ${content.length} bytes`,
  report: (
    {
      claim,
      finishReason,
      coverage,
      confidence,
      selfReportedConfidence,
      failure,
      summary,
      caveats,
      evidence = [],
      sizes,
      upward,
    },
    key,
  ) =>
    list(
      `claims ${claim}`,
      failure !== undefined && `with error ${failure.error}: ${failure.type}, ${failure.finality}`,
      finishReason,
      coverage.length > 0 && coverage.map(({ task, state }) => `${task}: ${state}`).join("; "),
      `confidence ${confidence.score}`,
      selfReportedConfidence !== undefined && `the model's own number ${selfReportedConfidence}`,
      sizes !== undefined && `hands back ${sizes.result} bytes of ${sizes.work}`,
      quoted(summary, key),
      ...caveats.map((caveat) => `caveat ${quoted(caveat, key) ?? ""}`),
      ...evidence.map(({ hash, label }) => `evidence ${shortKey(hex(hash))} ${quoted(label, key) ?? ""}`),
      ...(upward === undefined ? [] : upwardWords(upward, key)),
    ),
  probe: ({ method, outcome, verifier }, key) =>
    list(
      outcome,
      `by ${method}`,
      verifier !== undefined && `${verifier.role} by a ${verifier.kind}`,
      verifier?.exitCode !== undefined && `exit code ${verifier.exitCode}`,
      verifier !== undefined && `${verifier.outputBytes} bytes of output`,
      verifier?.output !== undefined && `ending in ${quoted(verifier.output, key) ?? ""}`,
    ),
  timer: ({ timer, deadlineMs, evidence = [] }) =>
    list(
      timer,
      `due ${new Date(deadlineMs).toISOString()}`,
      ...evidence.map(({ hash, stored }) => `${shortKey(hex(hash))} ${stored ? "stored" : "not stored"}`),
    ),
  collected: ({ items }, key) =>
    list(...items.map(({ actor, hash, label }) => `${shortKey(hex(hash))} of ${actor} ${quoted(label, key) ?? ""}`)),
};

/** What an event says, in one line for people. */
export function sentenceOf(entry: AdmittedEvent, key: ProseKey): string {
  const describe = sentences[entry.kind] as Describe<EventKind>;
  return describe(entry.payload, key);
}
