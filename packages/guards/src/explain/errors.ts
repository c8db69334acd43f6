import type { ErrorCode } from "@candor/contract";
import { auditExplanations, quarantineExplanations } from "./refusals.js";
import type { Explanation } from "./explanation.js";

type Shared = keyof typeof auditExplanations | keyof typeof quarantineExplanations;

/** Errors that name no message of the log. */
const own = {
  "bad-argument": {
    means: "An argument or option can't be what it is.",
    todo: "The message names it and says what is possible; --help shows examples.",
  },
  "bad-file": {
    means: "A file is missing, can't be read, or does not hold what it should.",
    todo: "The message names the file; restore it or make it anew.",
  },
  "bad-key": {
    means: "A key is no key of the kind that is needed, or was cut or changed.",
    todo: 'Use the files that "candor auth" wrote; never edit them.',
  },
  "key-exposed": {
    means: "A secret key can be read by others on this machine.",
    todo: "chmod 600 the file and 700 its folder; if others may have read it, add a new identity in its place.",
  },
  "bad-seal": {
    means: "Sealed prose does not open with this run's data key.",
    todo: "See that the key is the run's own. If it was erased, the text is gone for good, as it should be.",
  },
  "server-unreachable": {
    means: "No NATS server answers at the address.",
    todo: 'Start it ("candor up"), or correct the address; "candor doctor" checks both.',
  },
  "server-too-old": {
    means: "The nats-server is older than Candor can rely on; it would ignore settings without a word.",
    todo: "Upgrade it, or take it off the PATH and let Candor fetch its own.",
  },
  "server-missing": {
    means: "There is no nats-server program that is new enough, and none could be fetched.",
    todo: "Install one, or name it in CANDOR_NATS_SERVER.",
  },
  "server-failed": {
    means: "The server refused something, or ended. The message repeats what it said.",
    todo: "Read server.log in the data folder.",
  },
  "no-jetstream": {
    means: "The server runs without JetStream.",
    todo: "Enable it in the server's configuration, or start it with -js.",
  },
  "not-provisioned": {
    means: "The server has no Candor streams.",
    todo: 'The operator makes them: "candor streams apply".',
  },
  "streams-differ": {
    means: "The streams on the server are not those that this version needs, or belong to another operator.",
    todo: '"candor streams apply --check" shows each difference; check the address and the credentials too.',
  },
  "permission-denied": {
    means: "The server does not let this identity do this.",
    todo: 'Use credentials of the role that may, or add the identity with "candor auth add".',
  },
  "port-taken": {
    means: "Another program listens on the port.",
    todo: "Stop it, or choose another with --port.",
  },
  "folder-not-writable": {
    means: "The folder can't be made or written.",
    todo: "Choose another, or correct its owner and rights.",
  },
  "store-full": {
    means: "The store is at its limit or the disk is full; nothing more is acknowledged.",
    todo: "Make room or raise the limit. What was not acknowledged waits in the publishers' spools.",
  },
  "connection-closed": {
    means: "The connection was closed while something was under way.",
    todo: "Connect again; what was not confirmed is looked up first.",
  },
  "publish-unconfirmed": {
    means: "The server did not confirm a message and a look-up could not tell whether it is stored.",
    todo: "Look it up again once the server answers; do not send another in its place.",
  },
  "intent-lost": {
    means: "Another orchestrator stored an intent for this task first. The error names the winner.",
    todo: "Read the task's standing, then decide whether the intent is still wanted.",
  },
  "intent-rejected": {
    means: "The guard judged the intent and it does not hold.",
    todo: "Explain its finding; read the task's standing and issue the next one.",
  },
  "already-accepted": {
    means: "Another process has accepted this epoch.",
    todo: "Let that one work, or have the task delegated anew.",
  },
  "spool-locked": {
    means: "Another process works with this spool.",
    todo: "Stop the other process, or give this one a spool of its own.",
  },
  "spool-lost": {
    means: "The agent restarted without the spool of its epoch, so it must not continue the chain.",
    todo: "Ask for the task to be delegated anew; that is no concealment.",
  },
  recalled: {
    means: "The task was recalled, so no new effect is started.",
    todo: "Finish or abandon what is under way and end the task.",
  },
  fenced: {
    means: "The server stored no dispatch, because a newer intent of the task holds.",
    todo: "Stop: the effect was not run.",
  },
  "intent-key-unknown": {
    means: "The delegation minted no key for this effect.",
    todo: "Name the effect in the brief's intents, or run in observe mode.",
  },
  "intent-key-reuse": {
    means: "The key was used before with other arguments.",
    todo: "Look the first use up; one key has one meaning.",
  },
  "intent-key-in-doubt": {
    means: "The key was claimed and nothing says whether its effect ran.",
    todo: "Look the key up at the downstream service.",
  },
  "child-failed": {
    means: "A part of the task that the agent delegated failed, and the agent passes that up as its own failure.",
    todo: "Nothing by itself: throw it, or deal with it. `details` has the type, the finality and the part.",
  },
  "task-over": {
    means: "The task is reported, closed, or past its end.",
    todo: "Nothing more can be recorded; delegate anew if there is more to do.",
  },
  "evidence-missing": {
    means: "A piece of evidence, or a chunk of it, is not stored: never whole, or collected after its run.",
    todo: 'Do without it. "candor evidence list RUN" shows what is there, and what was collected, and when.',
  },
  "evidence-altered": {
    means: "What is stored under a hash has another one: truncated, swapped, or written past the SDK.",
    todo: "Rely on none of it. The identity that stored it is in its name; ask its operator.",
  },
  "guard-divergence": auditExplanations["guard-divergence"],
  "not-found": {
    means: "There is nothing of that name.",
    todo: "Check how it is spelled; the message says what there is.",
  },
  undecided: {
    means: "No final verdict came within the time limit. The message says what is missing.",
    todo: 'See that a guard runs ("candor doctor"), then wait again.',
  },
  defect: {
    means: "Something happened in Candor that should be impossible.",
    todo: "Report it with what you ran; DEBUG=candor prints where it happened.",
  },
} as const satisfies Record<Exclude<ErrorCode, Exclude<Shared, "guard-divergence">>, Explanation>;

/** Total over the codes that Candor throws; those that name a message of the log mean what they mean there. */
export const errorExplanations = {
  ...own,
  malformed: quarantineExplanations.malformed,
  "non-canonical": quarantineExplanations["non-canonical"],
  "too-large": quarantineExplanations["too-large"],
  "unknown-version": quarantineExplanations["unknown-version"],
  "unknown-kind": quarantineExplanations["unknown-kind"],
  "unknown-type": quarantineExplanations["unknown-type"],
  "subject-mismatch": quarantineExplanations["subject-mismatch"],
  "bad-signature": quarantineExplanations["bad-signature"],
  "untrusted-key": quarantineExplanations["untrusted-key"],
  "no-delegation": quarantineExplanations["no-delegation"],
  "log-rolled-back": auditExplanations["log-rolled-back"],
  "log-truncated": auditExplanations["log-truncated"],
  "log-altered": auditExplanations["log-altered"],
} as const satisfies Record<ErrorCode, Explanation>;
