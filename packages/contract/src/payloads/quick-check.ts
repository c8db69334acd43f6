import type { z } from "zod";

/** True only for what the schema takes as it is; false says nothing. */
export type QuickCheck = (value: unknown) => boolean;

/** What a schema says of itself (`_zod.def`), as far as it is looked at here. */
interface Definition {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface Schema {
  readonly _zod: { readonly def: Definition; readonly traits: ReadonlySet<string> };
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

/** A pattern that remembers where it was (`g`, `y`) answers by what it was asked before. */
function matches(pattern: RegExp): QuickCheck | undefined {
  if (pattern.global || pattern.sticky) return undefined;
  const good = new Set<unknown>();
  return (value) => {
    if (good.has(value)) return true;
    if (!pattern.test(value as string)) return false;
    if (good.size >= maxRemembered) good.clear();
    good.add(value);
    return true;
  };
}

/** Any schema may carry checks of its own: limits, patterns, and refinements, which are not known here. */
function constrained(definition: Definition, base: QuickCheck): QuickCheck | undefined {
  const checks = known(checksOf(definition).map((check) => constraints[String(check["check"])]?.(check)));
  return checks === undefined ? undefined : all([base, ...checks]);
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function objectCheck({ shape, catchall }: Definition): QuickCheck | undefined {
  if (catchall === undefined || definitionOf(catchall).type !== "never") return undefined;
  const fields = new Map<string, { readonly check: QuickCheck; readonly isRequired: boolean }>();
  let required = 0;
  for (const [name, schema] of Object.entries(shape as Readonly<Record<string, Schema>>)) {
    const check = quickCheck(schema);
    if (check === undefined) return undefined;
    const isRequired = definitionOf(schema).type !== "optional";
    if (isRequired) required += 1;
    fields.set(name, { check, isRequired });
  }
  return (value) => {
    if (!isPlain(value)) return false;
    let missing = required;
    for (const name in value) {
      const field = fields.get(name);
      if (field?.check(value[name]) !== true) return false;
      if (field.isRequired) missing -= 1;
    }
    return missing === 0;
  };
}

function arrayCheck(definition: Definition): QuickCheck | undefined {
  const element = quickCheck(definition["element"]);
  if (element === undefined) return undefined;
  return (value) => {
    if (!Array.isArray(value)) return false;
    // By index: `every` passes over holes, which a schema takes for undefined.
    for (let i = 0; i < value.length; i += 1) if (!element(value[i])) return false;
    return true;
  };
}

function recordCheck({ keyType, valueType, partial }: Definition): QuickCheck | undefined {
  const [key, item] = [quickCheck(keyType), quickCheck(valueType)];
  if (key === undefined || item === undefined) return undefined;
  const { type, entries } = definitionOf(keyType);
  const due = type === "enum" && partial !== true ? Object.keys(entries as object).length : undefined;
  return (value) => {
    if (!isPlain(value)) return false;
    // A schema looks at symbols too, and drops a `__proto__`.
    const names = Reflect.ownKeys(value);
    if (due !== undefined && names.length !== due) return false;
    return names.every((name) => name !== "__proto__" && key(name) && item(value[name as string]));
  };
}

const byType: Readonly<Record<string, (definition: Definition) => QuickCheck | undefined>> = {
  object: objectCheck,
  array: arrayCheck,
  record: recordCheck,
  string: ({ format }) => (format === undefined ? (value) => typeof value === "string" : undefined),
  number: ({ format }) => {
    if (format === undefined) return (value) => Number.isFinite(value);
    return format === "safeint" ? (value) => Number.isSafeInteger(value) : undefined;
  },
  boolean: () => (value) => typeof value === "boolean",
  enum: ({ entries }) => {
    const values: readonly unknown[] = Object.values(entries as object);
    // An enumeration of numbers lists its names beside them.
    if (values.some((value) => typeof value !== "string")) return undefined;
    const members = new Set(values);
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
  // One that is exactly optional may be left out, and may not be undefined.
  const isExact = (schema as Schema)._zod.traits.has("$ZodExactOptional");
  if (definition["coerce"] === true || isExact) return undefined;
  const base = byType[definition.type]?.(definition);
  return base === undefined ? undefined : constrained(definition, base);
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
