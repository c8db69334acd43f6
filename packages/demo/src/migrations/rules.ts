/** How much harm a statement does: `high` loses data or opens access, `medium` blocks or breaks running code, `low` is worth a look. */
export const severities = ["low", "medium", "high"] as const;
export type Severity = (typeof severities)[number];

export interface Rule {
  readonly severity: Severity;
  /** One sentence for a person: why the statement is dangerous, and the safe way where there is one. */
  readonly why: string;
}

/** Every rule of the reviewer, for PostgreSQL. A table created by the same file is new and empty, so lock rules spare it. */
export const rules = {
  // loses data
  "drop-database": { severity: "high", why: "Deletes a whole database with everything in it." },
  "drop-schema": { severity: "high", why: "Deletes a schema; with it goes every table it holds." },
  "drop-table": { severity: "high", why: "Deletes the table and all its rows." },
  "drop-column": { severity: "high", why: "Deletes the column's data, and running code that still reads it fails." },
  "drop-owned": { severity: "high", why: "Deletes every object a role owns, whatever it is." },
  cascade: { severity: "high", why: "CASCADE also deletes whatever depends on this, without naming it." },
  truncate: { severity: "high", why: "Deletes every row of the table." },
  "delete-without-where": { severity: "high", why: "Deletes every row, since no condition limits it." },
  "update-without-where": { severity: "high", why: "Overwrites every row, since no condition limits it." },
  "set-unlogged": { severity: "high", why: "An unlogged table is emptied after a crash and is not replicated." },
  // opens access
  "grant-all": { severity: "high", why: "Grants every privilege there is instead of those that are needed." },
  "grant-public": { severity: "medium", why: "Grants to PUBLIC, that is to every role there is and will be." },
  "role-above-rules": { severity: "high", why: "Makes a role that no privilege or row rule binds." },
  "row-security-off": { severity: "high", why: "Row rules no longer apply: everybody with access sees all rows." },
  "triggers-off": {
    severity: "medium",
    why: "Checks and bookkeeping done by triggers, foreign keys among them, do not run.",
  },
  "drop-constraint": { severity: "low", why: "Rows that break the rule can be written from now on." },
  // blocks others, rewrites, or fails on a table in use
  "alter-column-type": {
    severity: "medium",
    why: "May rewrite the whole table under an exclusive lock, and fails on the first value that does not convert.",
  },
  "add-not-null-column": {
    severity: "medium",
    why: "Fails as soon as the table has a row, since a NOT NULL column without a default cannot be filled.",
  },
  "add-column-rewrites": {
    severity: "medium",
    why: "The new column has a value of its own in each row, so the whole table is rewritten under an exclusive lock.",
  },
  "set-not-null": {
    severity: "medium",
    why: "Scans the table under an exclusive lock and fails on one NULL; validate a CHECK (… IS NOT NULL) first.",
  },
  "create-index-locks": {
    severity: "medium",
    why: "Blocks all writes to the table until the index is built; use CREATE INDEX CONCURRENTLY.",
  },
  "drop-index-locks": {
    severity: "low",
    why: "Waits for and then blocks every query on the table; use DROP INDEX CONCURRENTLY.",
  },
  "reindex-locks": { severity: "medium", why: "Blocks writes while it rebuilds; use REINDEX CONCURRENTLY." },
  "add-foreign-key-validates": {
    severity: "medium",
    why: "Checks every row while writes to both tables wait; add it NOT VALID and validate it later.",
  },
  "add-check-validates": {
    severity: "medium",
    why: "Checks every row under an exclusive lock; add it NOT VALID and validate it later.",
  },
  "add-unique-locks": {
    severity: "medium",
    why: "Builds its index under an exclusive lock; build it CONCURRENTLY first, then add it USING INDEX.",
  },
  "lock-table": { severity: "medium", why: "Holds writers, or everybody, off the table until the transaction ends." },
  "vacuum-full": { severity: "medium", why: "Rewrites the whole table under an exclusive lock." },
  "rewrite-table": { severity: "medium", why: "Moves or rewrites the whole table under an exclusive lock." },
  // breaks running code, or itself
  "rename-table": { severity: "medium", why: "Code that still uses the old name fails the moment this runs." },
  "rename-column": { severity: "medium", why: "Code that still uses the old name fails the moment this runs." },
  "not-in-transaction": {
    severity: "medium",
    why: "PostgreSQL refuses this statement inside a transaction, so the migration fails here.",
  },
  // not visible to a review
  "dynamic-sql": { severity: "low", why: "The statement is put together while it runs, so no review can see it." },
  "opaque-block": { severity: "low", why: "The block is not plain PL/pgSQL, so what it does was not reviewed." },
} as const satisfies Record<string, Rule>;

export type RuleId = keyof typeof rules;
