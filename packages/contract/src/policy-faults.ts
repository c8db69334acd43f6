interface FaultRow {
  /** What a policy must be like; the sentence of a fault adds what was found instead. */
  readonly must: string;
  /** What whoever writes the policy does about it. */
  readonly todo: string;
}

/** What can be wrong with a policy: closed, with what to do about each. */
export const policyFaultTable = {
  "policy-row-missing": {
    must: "every error type needs a row",
    todo: 'Add the row: a receiver that meets the type would not know what to do. "candor policy explain" shows the default\'s.',
  },
  "policy-finality-missing": {
    must: "every row needs all three finalities",
    todo: "Add recoverable, exhausted or not-mine to the row.",
  },
  "policy-context-missing": {
    must: "every finality needs a cell for a result that is needed and for one that is optional",
    todo: "Add the cell: a severity and an action.",
  },
  "policy-row-unknown": {
    must: "a table of failures holds the names that its vocabulary knows, and no others",
    todo: 'Correct the name; "candor policy explain" shows all of them. A type that this version does not know needs a newer Candor.',
  },
  "policy-rows-identical": {
    must: "no two error types may have the same row",
    todo: "Treat one of them differently somewhere. Types that are treated alike are one type, and tell the receiver nothing.",
  },
  "policy-behaviour-missing": {
    must: "every severity needs a behaviour",
    todo: "Name one: record-and-continue, surface-and-continue, try-alternate, hold-and-ask or halt-and-surface.",
  },
  "policy-behaviour-repeated": {
    must: "no two severities may have the same behaviour",
    todo: "Give each severity a behaviour of its own. Levels that do the same are one level.",
  },
  "policy-action-unfit": {
    must: "an action must fit the behaviour of its severity",
    todo: "Change the severity of the cell, or its action.",
  },
  "policy-version-unknown": {
    must: "a policy must be of a version that this Candor knows",
    todo: "Update Candor on whoever refuses it, or write the policy for the version that it knows.",
  },
  "policy-field": {
    must: "every field must fit its schema",
    todo: 'Correct the field; "candor schema policy" prints what each must look like.',
  },
} as const satisfies Record<string, FaultRow>;

export type PolicyFaultCode = keyof typeof policyFaultTable;
