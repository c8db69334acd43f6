import type { z } from "zod";

/** True only for what the schema takes as it is; false says nothing. */
export type QuickCheck = (value: unknown) => boolean;

/** What a schema says of itself (`_zod.def`), as far as it is looked at here. */
interface Definition {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface Schema {
  readonly _zod: { readonly def: Definition };
}

/** Texts of a pattern that were found good; a regular expression costs ten times a look-up. */
const maxRemembered = 1_000;

function definitionOf(schema: unknown): Definition {
  return (schema as Schema)._zod.def;
}

function checksOf(definition: Definition): readonly Definition[] {
  return ((definition["checks"] ?? []) as readonly Schema[]).map(definitionOf);
}

function all(checks: readonly QuickCheck[]): QuickCheck {
  const [first, second, third] = checks;
  if (first === undefined) return () => true;
  if (second === undefined) return first;
  if (third === undefined) return (value) => first(value) && second(value);
  // No closure for each value: this runs a million times a second.
  return (value) => {
    for (const check of checks) if (!check(value)) return false;
    return true;
  };
}

/** Every one of them, or undefined if one is not known. */
function known<T>(items: readonly (T | undefined)[]): readonly T[] | undefined {
  return items.every((item) => item !== undefined) ? items : undefined;
}

const constraints: Readonly<Record<string, (check: Definition) => QuickCheck | undefined>> = {
  min_length:
    ({ minimum }) =>
    (value) =>
      (value as string).length >= Number(minimum),
  max_length:
    ({ maximum }) =>
    (value) =>
      (value as string).length <= Number(maximum),
  greater_than: ({ value: limit, inclusive }) =>
    inclusive === true ? (value) => (value as number) >= Number(limit) : (value) => (value as number) > Number(limit),
  less_than: ({ value: limit, inclusive }) =>
    inclusive === true ? (value) => (value as number) <= Number(limit) : (value) => (value as number) < Number(limit),
  string_format: ({ format, pattern }) =>
    format === "regex" && pattern instanceof RegExp ? matches(pattern) : undefined,
};

function matches(pattern: RegExp): QuickCheck {
  const good = new Set<unknown>();
  return (value) => {
    if (good.has(value)) return true;
    if (!pattern.test(value as string)) return false;
    if (good.size >= maxRemembered) good.clear();
    good.add(value);
    return true;
  };
}

function constrained(definition: Definition, base: QuickCheck): QuickCheck | undefined {
  const checks = known(checksOf(definition).map((check) => constraints[String(check["check"])]?.(check)));
  return checks === undefined ? undefined : all([base, ...checks]);
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function objectCheck({ shape, catchall }: Definition): QuickCheck | undefined {
  if (catchall === undefined || definitionOf(catchall).type !== "never") return undefined;
  const fields = Object.entries(shape as Readonly<Record<string, Schema>>);
  const names = fields.map(([name]) => name);
  const isOptional = fields.map(([, schema]) => definitionOf(schema).type === "optional");
  const checks = known(fields.map(([, schema]) => quickCheck(schema)));
  if (checks === undefined) return undefined;
  return (value) => {
    if (!isPlain(value)) return false;
    // Lengths of the names that are known, each counted one more: 0 in the end means that there is no other name.
    let unexplained = 0;
    for (let i = 0; i < names.length; i += 1) {
      const name = names[i] as string;
      const field = value[name];
      if (field === undefined) {
        if (isOptional[i] !== true) return false;
      } else {
        if (checks[i]?.(field) !== true) return false;
        unexplained -= name.length + 1;
      }
    }
    for (const name in value) unexplained += name.length + 1;
    return unexplained === 0;
  };
}

function arrayCheck(definition: Definition): QuickCheck | undefined {
  const element = quickCheck(definition["element"]);
  if (element === undefined) return undefined;
  return constrained(definition, (value) => Array.isArray(value) && value.every(element));
}

function recordCheck({ keyType, valueType, partial }: Definition): QuickCheck | undefined {
  const [key, item] = [quickCheck(keyType), quickCheck(valueType)];
  if (key === undefined || item === undefined) return undefined;
  const { type, entries } = definitionOf(keyType);
  const due = type === "enum" && partial !== true ? Object.keys(entries as object).length : undefined;
  return (value) => {
    if (!isPlain(value)) return false;
    const names = Object.keys(value);
    if (due !== undefined && names.length !== due) return false;
    return names.every((name) => key(name) && item(value[name]));
  };
}

const byType: Readonly<Record<string, (definition: Definition) => QuickCheck | undefined>> = {
  object: objectCheck,
  array: arrayCheck,
  record: recordCheck,
  string: (definition) =>
    definition["format"] === undefined ? constrained(definition, (value) => typeof value === "string") : undefined,
  number: (definition) => {
    const { format } = definition;
    if (format === undefined) return constrained(definition, (value) => Number.isFinite(value));
    return format === "safeint" ? constrained(definition, (value) => Number.isSafeInteger(value)) : undefined;
  },
  boolean: (definition) => constrained(definition, (value) => typeof value === "boolean"),
  enum: ({ entries }) => {
    const members = new Set<unknown>(Object.values(entries as object));
    return (value) => members.has(value);
  },
  literal: ({ values }) => {
    const members = new Set(values as readonly unknown[]);
    return (value) => members.has(value);
  },
  custom: ({ fn }) => {
    const accepts = fn as (value: unknown) => unknown;
    return (value) => accepts(value) === true;
  },
  optional: ({ innerType }) => {
    const inner = quickCheck(innerType);
    return inner === undefined ? undefined : (value) => value === undefined || inner(value);
  },
};

/**
 * Makes a check of a schema that only says yes or no, at a third of the cost and without a copy of the value. It reads
 * the schema itself, so that there is one definition; what it does not know of, it leaves to the schema.
 *
 * @returns undefined for a schema with anything in it that changes values or is not known here
 */
export function quickCheck(schema: unknown): QuickCheck | undefined {
  const definition = definitionOf(schema);
  return definition["coerce"] === true ? undefined : byType[definition.type]?.(definition);
}

/** A quick check in front of a schema: true if it takes the value as it is, false if the schema itself must say. */
export function quickChecks<K extends string>(
  schemas: Readonly<Record<K, z.ZodType>>,
): ReadonlyMap<string, QuickCheck> {
  const checks = new Map<string, QuickCheck>();
  for (const [name, schema] of Object.entries(schemas)) {
    const check = quickCheck(schema);
    if (check !== undefined) checks.set(name, check);
  }
  return checks;
}
