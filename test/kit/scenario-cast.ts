import type { Brief, Scope } from "@candor/contract";
import { createSeed, createSigner } from "@candor/ledger";

export const plainBrief: Brief = {
  keyTasks: ["work"],
  critical: false,
  directlyVerifiable: false,
  retryBudget: 5,
  authority: [],
  needs: [],
};

export const fullScope: Scope = {
  dimensions: {
    toolCalls: "enforced",
    toolErrors: "enforced",
    modelAttempts: "observed",
    transportAttempts: "observed",
    effects: "enforced",
    abort: "enforced",
    children: "observed",
  },
  adapter: "kit",
};

export const operator = createSigner(createSeed());
const fleet = createSigner(createSeed());
const stranger = createSigner(createSeed());
const deployment = createSigner(createSeed());
const prober = createSigner(createSeed());

export const keys = { operator, fleet, stranger, deployment, prober } as const;
