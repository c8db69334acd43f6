import { CandorError, runTask, type Judge, type VerdictBody, type VerdictName } from "@candor/contract";
import type { Run } from "@candor/orchestrator";

/** How long a verdict that one reader has seen may take to reach the other. */
const patienceMs = 10_000;

/** Every verdict of a run as it came. */
export class VerdictStory {
  readonly #bodies: VerdictBody[] = [];
  readonly #end = new AbortController();
  readonly #following: Promise<void>;
  #wake: () => void = () => undefined;

  /** @param onVerdict told of each that is not about an intent alone */
  constructor(run: Run, onVerdict: (verdict: VerdictBody) => void) {
    this.#following = this.#follow(run, onVerdict);
    // Whoever ends the story gets the rejection.
    this.#following.catch(() => undefined);
  }

  /**
   * Names of a judge's verdicts on a task up to this one, in order and without repeats.
   *
   * @throws CandorError `undecided` if the story does not get there
   */
  async upTo({ judge, ordinal, task }: VerdictBody): Promise<readonly VerdictName[]> {
    const limit = AbortSignal.timeout(patienceMs);
    limit.addEventListener("abort", () => {
      this.#wake();
    });
    for (;;) {
      const names = this.#names(task, judge, ordinal);
      if (names !== undefined) return names;
      if (limit.aborted) throw new CandorError("undecided", `The verdicts on ${task} can't be read: ask again.`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Upstreams of the run that were found degraded, as the guard said last. */
  get degraded(): NonNullable<VerdictBody["upstreams"]> {
    const said = this.#bodies.filter(({ judge, task }) => judge === "upstream" && task === runTask).at(-1);
    return said?.upstreams ?? [];
  }

  /** @throws CandorError `log-rolled-back` if what was read was replaced */
  async end(): Promise<void> {
    this.#end.abort();
    await this.#following;
  }

  #names(task: string, judge: Judge, ordinal: number): readonly VerdictName[] | undefined {
    const own = this.#bodies.filter((body) => body.task === task && body.judge === judge && body.ordinal <= ordinal);
    if (own.at(-1)?.ordinal !== ordinal) return undefined;
    return own.map(({ verdict }) => verdict).filter((verdict, index, all) => verdict !== all[index - 1]);
  }

  async #follow(run: Run, onVerdict: (verdict: VerdictBody) => void): Promise<void> {
    for await (const { verdict } of run.verdicts({ signal: this.#end.signal })) {
      if (verdict.judge === "intent") continue;
      this.#bodies.push(verdict);
      onVerdict(verdict);
      this.#wake();
    }
  }
}
