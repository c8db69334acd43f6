import type { Payload, VerdictBody } from "@candor/contract";

/** How an upstream was used in a window. */
export type UpstreamFigures = NonNullable<VerdictBody["upstreams"]>[number];

type ErrorEvent = Payload<"error">;
type Use = NonNullable<Payload<"report">["upstreams"]>[number];

/** What a task's own events say of one upstream: calls that failed at first, and what came of them. */
export interface Trouble {
  readonly upstream: string;
  troubled: number;
  recovered: number;
  failed: number;
  /** Log sequence of the last error that it was given up over as the upstream's own fault; 0 if there is none. */
  blamedAt: number;
  /** What the same task went through at another one: most have trouble with one alone. */
  readonly next: Trouble | undefined;
}

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

/** Upstreams of a run beyond these are not counted: their names are the agents' choice. */
const mostUpstreams = 64;
/** Tasks of a window that are told apart, and those that blame an upstream in it. */
const mostTasks = 4_096;
const mostBlames = 100;

/** Types with which a task says that the upstream is at fault, and not what was asked of it. */
const faults: ReadonlySet<string> = new Set(["transient", "unavailable"]);

/** The health of a run's upstreams (D2), as a function of its log. Made once there is something to count. */
export class UpstreamBook {
  readonly #windowMs: number;
  /** What tasks that have not reported went through. */
  readonly #pending = new Map<string, Trouble>();
  readonly #windows = new Map<string, UpstreamWindow>();
  /** Upstreams that were found degraded, as they stood then. */
  readonly degraded = new Map<string, UpstreamFigures>();

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** @param seq log sequence of the error */
  error(task: string, upstream: string, { type, attempt, finality, recovered }: ErrorEvent, seq: number): void {
    const trouble = this.#troubleOf(task, upstream);
    if (trouble === undefined) return;
    if (attempt === 1) trouble.troubled += 1;
    if (recovered || finality === "recoverable") return;
    trouble.failed += 1;
    if (faults.has(type)) trouble.blamedAt = seq;
  }

  recovered(task: string, upstream: string): void {
    const trouble = this.#troubleOf(task, upstream);
    if (trouble === undefined) return;
    trouble.recovered += 1;
    trouble.blamedAt = 0;
  }

  /** The present window of each upstream. */
  get figures(): UpstreamFigures[] {
    return [...this.#windows.values()].map(({ figures }) => ({ ...figures }));
  }

  /** A task's epoch is over: what it went through counts no more, unless it reports. */
  forget(task: string): void {
    this.#pending.delete(task);
  }

  /**
   * A task reports: its calls count in the window of its report.
   *
   * @param atMs log time of the report
   * @returns each upstream that it used, with its window and what the task went through there
   */
  report(task: string, uses: readonly Use[], atMs: number): { window: UpstreamWindow; trouble: Trouble | undefined }[] {
    const first = this.#pending.get(task);
    this.#pending.delete(task);
    const firstTries = new Map(uses.map(({ upstream, firstTry }) => [upstream, firstTry]));
    for (let next = first; next !== undefined; next = next.next)
      if (!firstTries.has(next.upstream)) firstTries.set(next.upstream, 0);
    return [...firstTries].flatMap(([upstream, firstTry]) => {
      const window = this.#windowOf(upstream, atMs);
      const trouble = find(first, upstream);
      if (window !== undefined) add(window, task, firstTry, trouble);
      return window === undefined ? [] : [{ window, trouble }];
    });
  }

  #troubleOf(task: string, upstream: string): Trouble | undefined {
    const first = this.#pending.get(task);
    const known = find(first, upstream);
    if (known !== undefined || lengthOf(first) >= mostUpstreams) return known;
    const trouble = { upstream, troubled: 0, recovered: 0, failed: 0, blamedAt: 0, next: first };
    this.#pending.set(task, trouble);
    return trouble;
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

function find(first: Trouble | undefined, upstream: string): Trouble | undefined {
  let next = first;
  while (next !== undefined && next.upstream !== upstream) next = next.next;
  return next;
}

function lengthOf(first: Trouble | undefined): number {
  let length = 0;
  for (let next = first; next !== undefined; next = next.next) length += 1;
  return length;
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
