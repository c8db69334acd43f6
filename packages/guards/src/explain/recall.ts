import type { recallFindings } from "@candor/contract";
import type { Explanation } from "./explanation.js";

/** Findings on intents, recall, termination and effects. */
export const recallExplanations = {
  "intent-stale": {
    means:
      "The intent's control number was used before, or the task is no longer in a state in which it means anything.",
    todo: "Nothing was changed by it. Read the task's standing and issue the next intent, if it is still wanted.",
  },
  "intent-repeated": {
    means: "The very same intent was stored twice.",
    todo: "Nothing: the first one holds, the second changes nothing.",
  },
  "intent-skipped": {
    means: "The intent's control number is higher than the next one: an intent before it is missing.",
    todo: "Nothing was changed by it. Look the last accepted intent up and issue the next; a writer's state was wrong.",
  },
  "intent-expired": {
    means: "The intent reached the log after the time until which it was meant to be valid.",
    todo: "Issue it anew if it is still wanted; check the writer's clock and its connection.",
  },
  "intent-foreign": {
    means:
      "The intent comes from a fleet that does not own this run, or names a key that the operator did not certify.",
    todo: "See who used that fleet's credentials. Nothing was changed by it.",
  },
  "intent-contradictory": {
    means: "The intent contradicts itself or the sequence: wrong predecessor, epoch, standing or policy hash.",
    todo: "Nothing was changed by it. The writer's state or version is wrong; reconnect it and issue the intent anew.",
  },
  "grace-excessive": {
    means: "The recall asked for a longer window than policy and brief allow. The window was cut to the maximum.",
    todo: "Ask for less, or raise the maximum in the policy of the next run. `about` is what was asked for, in ms.",
  },
  "acknowledgement-missing": {
    means: "The agent did not acknowledge the recall in time. It may still be running.",
    todo: "Do not assume that it stopped. Terminate it, then probe every effect that has no outcome.",
  },
  "acknowledgement-late": {
    means: "The acknowledgement came, but after its deadline.",
    todo: "Nothing at once. If it happens often, see why the agent hears recalls late.",
  },
  "manifest-mismatch": {
    means:
      "The in-flight manifest is absent, answers another recall, or differs from the effects that the log knows. `about` says how.",
    todo: 'Do not rely on the manifest: probe every effect in "candor task show" that has no outcome.',
  },
  "no-side-effects-contradicted": {
    means:
      "The agent signed that it caused no side effects, and the log holds an effect that it dispatched, or an outcome that says so. `about` is the key.",
    todo: "Reconcile that effect at its target; do not skip reconciliation for this agent.",
  },
  "ghost-action": {
    means:
      "An effect was dispatched after the task was recalled, terminated or delegated anew, or after the manifest was taken, or ran without a dispatch. `about` is the key.",
    todo: "Look the key up at the downstream service now and undo it if it happened; then find the process that made it and stop it.",
  },
  "effects-unknown": {
    means: "The epoch is over and this effect has no outcome: it may or may not have happened. `about` is the key.",
    todo: "Look the key up at its target before anything is repeated.",
  },
  "epoch-abandoned": {
    means: "The agent went away before its report and the task was delegated anew. That is no concealment.",
    todo: "Reconcile the effects that it left open, if any.",
  },
  "intent-key-reuse": {
    means:
      "One intent key was used for two effects: with different arguments, for an intent or target that it was not minted for, once more when its effect was committed, or in doubt against what its intent declares. One of the two may have been swallowed by the other. Where the runtime refused the second, it stands in the verdict on disclosure and nothing was done twice. `about` is the key.",
    todo: "Compare the delegation and all dispatches under the key, and look the key up at each target.",
  },
  "effect-unfenced": {
    means:
      "The agent ran an effect under a key that the delegation does not name. In enforce mode its runtime promised not to, and the task halts; in observe mode it is recorded and changes no verdict. `about` is the key.",
    todo: "Look the effect up at its target: nothing keeps it from happening twice. Mint a key for it in the delegation.",
  },
  "intent-key-unread": {
    means:
      "The effect's code never read the key that was minted for it, so the downstream can't have got it. It changes no verdict unless the intent declares that it is reissued in doubt. `about` is the key.",
    todo: "Send `effect.key` to the downstream as its idempotency key; without it a repeat is a second effect.",
  },
  "outcome-contradicted": {
    means:
      "The log holds two outcomes of one effect that can't both be true, such as committed and not run. The first one stands. `about` is the key.",
    todo: "Look the key up at its target: what happened is unknown. Then see which process wrote the second outcome.",
  },
} as const satisfies Record<(typeof recallFindings)[number], Explanation>;
