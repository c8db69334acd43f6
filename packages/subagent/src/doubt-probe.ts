/** What a look-up of an effect came to, where it goes. */
export type DoubtAnswer =
  /** It happened. `result` is what the effect would have returned. */
  | {
      readonly outcome: "committed";
      readonly result?: unknown;
      readonly identifiers?: Readonly<Record<string, string>>;
    }
  /** It certainly did not happen and will not: nothing that was sent can still arrive. */
  | { readonly outcome: "absent" }
  | { readonly outcome: "inconclusive" };

/** Looks up where the effect goes whether it happened under its key. */
export type DoubtProbe = (question: {
  readonly key: string;
  readonly signal: AbortSignal;
}) => Promise<DoubtAnswer> | DoubtAnswer;
