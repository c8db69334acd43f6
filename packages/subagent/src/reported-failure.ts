import {
  encodeCanonical,
  failureLimits,
  type AgentKind,
  type FailureStatement,
  type Payload,
  type Tally,
} from "@candor/contract";

/** What a report says of the error that it owns up to. */
type Told = Omit<FailureStatement, "effects" | "effectsOmitted">;

/** The errors of this task's chain as a report states them, folded event by event. */
export class ToldErrors {
  readonly #told = new Map<number, Told>();

  observe(seq: number, kind: AgentKind, payload: unknown, hash: Uint8Array): void {
    if (kind !== "error") return;
    const { type, finality, operation, upstream, attempt, attempts, retryAfterMs } = payload as Payload<"error">;
    this.#told.set(seq, {
      error: seq,
      hash: Uint8Array.from(hash),
      type,
      finality,
      operation,
      ...(upstream === undefined ? {} : { upstream }),
      attempt,
      attempts: attempts.slice(-failureLimits.attempts),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    });
  }

  /**
   * The failure of a task that claims to have failed: the error with which it ended, else the last one that nothing
   * recovered (F2, F3, F6).
   *
   * @param ended number of the error event that tells what the callback threw
   * @param committed the effects that happened
   * @returns undefined if there is no such error
   */
  statement(
    tally: Tally,
    ended: number | undefined,
    committed: Payload<"error">["effects"],
  ): FailureStatement | undefined {
    const open = tally.errors().filter(({ recovered }) => !recovered);
    const found = open.find(({ seq }) => seq === ended) ?? open.at(-1);
    const told = found && this.#told.get(found.seq);
    if (told === undefined) return undefined;
    const effects = lastOnes(committed);
    return { ...told, effects, effectsOmitted: committed.length - effects.length };
  }
}

function lastOnes(effects: Payload<"error">["effects"]): Payload<"error">["effects"] {
  let from = effects.length;
  for (let bytes = 0; from > 0 && effects.length - from < failureLimits.effects; from -= 1) {
    bytes += encodeCanonical(effects[from - 1]).length;
    if (bytes > failureLimits.effectBytes) break;
  }
  return effects.slice(from);
}
