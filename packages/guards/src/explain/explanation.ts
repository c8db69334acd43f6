/** What a code means, and what whoever meets it does about it. Both are for people. */
export interface Explanation {
  readonly means: string;
  readonly todo: string;
}
