import type { Payload, VerdictBody } from "@candor/contract";
import { mostUpstreams, troubleAt, type Trouble } from "./upstream-trouble.js";

/** How an upstream was used in a window. */
export type UpstreamFigures = NonNullable<VerdictBody["upstreams"]>[number];

type Use = NonNullable<Payload<"report">["upstreams"]>[number];

/** A task that blames an upstream, and whether it was said that nobody bears that out. */
export interface Blame {
  readonly task: string;
  readonly epoch: number;
  readonly seq: number;
  told: boolean;
}

/** The calls of a run's tasks to one upstream in one window, each task's as of its report. */
export interface UpstreamWindow {
  readonly figures: { -readonly [Field in keyof UpstreamFigures]: UpstreamFigures[Field] };
  readonly tasks: Set<string>;
  /** Tasks that had no trouble at all, and their calls. */
  cleanTasks: number;
  cleanCalls: number;
  troubledTasks: number;
  readonly blames: Blame[];
}

/** Tasks of a window that are told apart, and those that blame an upstream in it. */
const mostTasks = 4_096;
const mostBlames = 100;

/** The health of a run's upstreams (D2), as a function of its log. Made once there is something to count. */
export class UpstreamBook {
  readonly #windowMs: number;
  readonly #windows = new Map<string, UpstreamWindow>();
  /** Upstreams that were found degraded, as they stood then. */
  readonly degraded = new Map<string, UpstreamFigures>();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** The present window of each upstream. */
  get figures(): UpstreamFigures[] {
    return [...this.#windows.values()].map(({ figures }) => ({ ...figures }));
  }

  /**
   * A task reports: its calls count in the window of its report.
   *
   * @param first what the task went through
   * @param atMs log time of the report
   * @returns each upstream that it used, with its window and what the task went through there
   */
  report(
    task: string,
    first: Trouble | undefined,
    uses: readonly Use[],
    atMs: number,
  ): { window: UpstreamWindow; trouble: Trouble | undefined }[] {
    const firstTries = new Map(uses.map(({ upstream, firstTry }) => [upstream, firstTry]));
    for (let next = first; next !== undefined; next = next.next)
      if (!firstTries.has(next.upstream)) firstTries.set(next.upstream, 0);
    return [...firstTries].flatMap(([upstream, firstTry]) => {
      const window = this.#windowOf(upstream, atMs);
      const trouble = troubleAt(first, upstream);
      if (window !== undefined) add(window, task, firstTry, trouble);
      return window === undefined ? [] : [{ window, trouble }];
    });
  }

  /** The window of that time, the one before it closed for good. Log time that runs back counts in the last one. */
  #windowOf(upstream: string, atMs: number): UpstreamWindow | undefined {
    const known = this.#windows.get(upstream);
    const fromMs = atMs - (atMs % this.#windowMs);
    if (known !== undefined && known.figures.fromMs >= fromMs) return known;
    if (known === undefined && this.#windows.size >= mostUpstreams) return undefined;
    const window: UpstreamWindow = {
      figures: { upstream, fromMs, calls: 0, firstTry: 0, recovered: 0, failed: 0, tasks: 0 },
      tasks: new Set(),
      cleanTasks: 0,
      cleanCalls: 0,
      troubledTasks: 0,
      blames: [],
    };
    this.#windows.set(upstream, window);
    return window;
  }
}

function add(window: UpstreamWindow, task: string, firstTry: number, trouble: Trouble | undefined): void {
  const { figures, tasks } = window;
  figures.calls += firstTry + (trouble?.troubled ?? 0);
  figures.firstTry += firstTry;
  figures.recovered += trouble?.recovered ?? 0;
  figures.failed += trouble?.failed ?? 0;
  if (tasks.size < mostTasks) tasks.add(task);
  figures.tasks = tasks.size;
  if (trouble !== undefined) window.troubledTasks += 1;
  else if (firstTry > 0) {
    window.cleanTasks += 1;
    window.cleanCalls += firstTry;
  }
}

/** Notes a task's blame on an upstream. */
export function blame(window: UpstreamWindow, blamed: Omit<Blame, "told">): void {
  if (window.blames.length < mostBlames) window.blames.push({ ...blamed, told: false });
}
