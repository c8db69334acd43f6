import type { Report, RetryManifest } from "@candor/contract";

type Use = NonNullable<Report["upstreams"]>[number];
type Amplification = NonNullable<RetryManifest["amplification"]>;
type LayerTries = Amplification["layers"][number];

const mostUpstreams = 64;
const mostLayers = 16;

/** One call that may be tried again, with the calls that are made in its course. */
export class CallLayer {
  readonly operation: string;
  readonly upstream: string | undefined;
  readonly #outer: CallLayer | undefined;
  #tries = 0;
  /** Requests that the tries so far came to, and the most that one inner call of the present try came to. */
  #requests = 0;
  #inner = 0;
  #most = 0;
  #innerLayers: readonly LayerTries[] = [];

  constructor(operation: string, upstream: string | undefined, outer: CallLayer | undefined) {
    this.operation = operation;
    this.upstream = upstream;
    this.#outer = outer;
  }

  get tries(): number {
    return this.#tries;
  }

  /** Requests on the way that came to the most: calls side by side in one try are no repetition. */
  get requests(): number {
    return this.#requests;
  }

  /** How often each layer repeated on that way, this one first. */
  get layers(): LayerTries[] {
    return [{ operation: this.operation, tries: this.#tries }, ...this.#innerLayers].slice(0, mostLayers);
  }

  beginTry(): void {
    this.#tries += 1;
    this.#inner = 0;
  }

  endTry(): void {
    this.#requests += Math.max(1, this.#inner);
  }

  /** An inner call is over. */
  take({ requests, layers }: CallLayer): void {
    this.#inner = Math.max(this.#inner, requests);
    if (requests <= this.#most) return;
    this.#most = requests;
    this.#innerLayers = layers;
  }

  /** The call is over. @returns false for one within another call */
  end(): boolean {
    this.#outer?.take(this);
    return this.#outer === undefined;
  }
}

/** What code counts of a task's calls in this process: each upstream's, and what repetition came to (D2). */
export class CallCounts {
  readonly #uses = new Map<string, { calls: number; firstTry: number; tries: number }>();
  #worst: CallLayer | undefined;

  /**
   * Counts a call to an upstream that is over.
   * @param call.isFirst false for one that goes on with a row of tries that began before
   */
  use(upstream: string, call: { readonly isFirst: boolean; readonly tries: number; readonly ok: boolean }): void {
    const use = this.#uses.get(upstream) ?? { calls: 0, firstTry: 0, tries: 0 };
    this.#uses.set(upstream, use);
    if (call.isFirst) use.calls += 1;
    if (call.isFirst && call.ok && call.tries === 1) use.firstTry += 1;
    use.tries += call.tries;
  }

  /** Counts a call that is over. */
  end(layer: CallLayer): void {
    if (layer.end() && layer.requests > (this.#worst?.requests ?? 1)) this.#worst = layer;
  }

  /** Those with the most calls, if they are too many. */
  get upstreams(): Use[] {
    return [...this.#uses]
      .filter(([, { calls }]) => calls > 0)
      .sort(([, a], [, b]) => b.calls - a.calls)
      .slice(0, mostUpstreams)
      .map(([upstream, use]) => ({ upstream, ...use }));
  }

  /** The call that came to the most requests; undefined if none came to more than one. */
  get amplification(): Amplification | undefined {
    return this.#worst && { requests: this.#worst.requests, layers: this.#worst.layers };
  }
}
