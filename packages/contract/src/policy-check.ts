import { isLabel } from "./identifiers.js";
import { behaviourActions, failureVocabulary, planContexts, severities, type FailurePolicy } from "./failure-policy.js";
import { policySchema, type Policy } from "./policy.js";
import { policyFaultTable, type PolicyFaultCode } from "./policy-faults.js";
import { errorTypes, finalities } from "./vocabulary.js";

export interface PolicyFault {
  readonly code: PolicyFaultCode;
  /** The offending field, like `failures.rows.denied.exhausted.needed`; empty for the document as a whole. */
  readonly path: string;
  /** What is wrong, for people. */
  readonly sentence: string;
}

/** A policy that holds, or everything that is wrong with it. */
export type PolicyReading =
  { readonly ok: true; readonly policy: Policy } | { readonly ok: false; readonly faults: readonly PolicyFault[] };

/** As many as are listed; a policy that is wrong everywhere is not more wrong for it. */
const mostFaults = 100;

/**
 * Checks a run's policy as an object (F1): every field, and that the table of failures is total, that no two error types
 * have the same row (one would be no type of its own), and that each severity has a behaviour that no other has. Pure; it
 * runs no code of the value beyond reading its own properties.
 */
export function readPolicy(value: unknown): PolicyReading {
  const found = [...versionFaults(value), ...holes(value)];
  if (found.length > 0) return { ok: false, faults: found.slice(0, mostFaults) };
  const parsed = policySchema.safeParse(value);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message, code }) => {
      const where = pathText(path);
      const isRow = code === "unrecognized_keys" && where.startsWith("failures");
      return fault(isRow ? "policy-row-unknown" : "policy-field", where, message);
    });
    return { ok: false, faults: faults.slice(0, mostFaults) };
  }
  const faults = policyFaults(parsed.data);
  return faults.length === 0 ? { ok: true, policy: parsed.data } : { ok: false, faults: faults.slice(0, mostFaults) };
}

/** What is wrong with a policy that fits its schema; guards refuse a run that is opened with one. */
export function policyFaults({ failures, severity }: Policy): PolicyFault[] {
  if (failures === undefined) {
    return severity === undefined ? [fault("policy-row-missing", "failures", "there is no table of failures")] : [];
  }
  if (severity !== undefined) {
    return [fault("policy-field", "severity", "a policy with failures has its severities there, and not here too")];
  }
  return [...behaviourFaults(failures), ...sameRows(failures), ...unfitActions(failures)];
}

function fault(code: PolicyFaultCode, path: string, what: string): PolicyFault {
  return { code, path, sentence: `${policyFaultTable[code].must}: ${what}` };
}

/** A field's path as text; a name that is none is left out, since it may be of any length. */
function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "string" && !isLabel(part) ? "?" : String(part)))
    .join(".")
    .slice(0, 256);
}

function own(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.getOwnPropertyDescriptor(value, name)?.value;
}

function shown(value: unknown): string {
  return typeof value === "number" || typeof value === "string" ? JSON.stringify(value).slice(0, 40) : typeof value;
}

function versionFaults(value: unknown): PolicyFault[] {
  const failures = own(value, "failures");
  const versions = [
    ["version", own(value, "version"), 1],
    ["failures.vocabulary", own(failures, "vocabulary"), failureVocabulary],
  ] as const;
  return versions
    .filter(([, found, known]) => found !== undefined && found !== known)
    .map(([path, found, known]) =>
      fault("policy-version-unknown", path, `this one says ${shown(found)}, and this Candor knows ${known}: update it`),
    );
}

/** Every cell that is missing, named as far as the table is there. */
function holes(value: unknown): PolicyFault[] {
  const failures = own(value, "failures");
  if (failures === undefined) return [];
  const rows = own(failures, "rows");
  const levels = own(failures, "severities");
  const faults: PolicyFault[] = [];
  for (const level of severities) {
    if (own(levels, level) !== undefined) continue;
    faults.push(fault("policy-behaviour-missing", `failures.severities.${level}`, `severity ${level} has none`));
  }
  for (const type of errorTypes) {
    const row = own(rows, type);
    const path = `failures.rows.${type}`;
    if (row === undefined) {
      faults.push(fault("policy-row-missing", path, `error type ${type} has no row`));
      continue;
    }
    for (const finality of finalities) {
      const cells = own(row, finality);
      if (cells === undefined) {
        faults.push(fault("policy-finality-missing", `${path}.${finality}`, `${type} says nothing of ${finality}`));
        continue;
      }
      for (const context of planContexts) {
        if (own(cells, context) !== undefined) continue;
        const what = `${type}, ${finality}, says nothing of a result that is ${context}`;
        faults.push(fault("policy-context-missing", `${path}.${finality}.${context}`, what));
      }
    }
  }
  return faults;
}

function behaviourFaults({ severities: levels }: FailurePolicy): PolicyFault[] {
  return severities.flatMap((level, index) => {
    const twin = severities.slice(0, index).find((other) => levels[other] === levels[level]);
    if (twin === undefined) return [];
    const what = `severities ${twin} and ${level} are both ${levels[level]}`;
    return [fault("policy-behaviour-repeated", `failures.severities.${level}`, what)];
  });
}

function sameRows({ rows }: FailurePolicy): PolicyFault[] {
  const textOf = (type: (typeof errorTypes)[number]): string =>
    finalities
      .flatMap((finality) => planContexts.map((context) => rows[type][finality][context]))
      .map(({ severity, action }) => `${severity} ${action}`)
      .join("\n");
  return errorTypes.flatMap((type, index) => {
    const twin = errorTypes.slice(0, index).find((other) => textOf(other) === textOf(type));
    if (twin === undefined) return [];
    return [fault("policy-rows-identical", `failures.rows.${type}`, `${twin} and ${type} have the same row`)];
  });
}

function unfitActions({ rows, severities: levels }: FailurePolicy): PolicyFault[] {
  return errorTypes.flatMap((type) =>
    finalities.flatMap((finality) =>
      planContexts.flatMap((context) => {
        const { severity, action } = rows[type][finality][context];
        const admitted: readonly string[] = behaviourActions[levels[severity]];
        if (admitted.includes(action)) return [];
        const what = `${severity} is ${levels[severity]}, which goes with ${admitted.join(", ")} and not with ${action}`;
        return [fault("policy-action-unfit", `failures.rows.${type}.${finality}.${context}.action`, what)];
      }),
    ),
  );
}
