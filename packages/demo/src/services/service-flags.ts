import { parseArgs } from "node:util";
import { CandorError } from "@candor/contract";

export type Flags = Readonly<Record<string, readonly string[]>>;

/**
 * The values of each `--name value` on the command line, in order.
 *
 * @throws CandorError `bad-argument` for a flag that is not in `names`, or one without a value.
 */
export function readFlags(args: readonly string[], names: readonly string[]): Flags {
  try {
    const options = Object.fromEntries(names.map((name) => [name, { type: "string", multiple: true } as const]));
    const { values } = parseArgs({ args: [...args], options, allowPositionals: false });
    return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value ?? []]));
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new CandorError("bad-argument", `${message}; flags are ${names.map((name) => `--${name}`).join(", ")}`, {
      cause,
    });
  }
}

/** The last value of a flag, as a property to spread; nothing when the flag was not given. */
export function textFlag<K extends string>(flags: Flags, name: string, property: K): Partial<Record<K, string>> {
  const value = flags[name]?.at(-1);
  return value === undefined ? {} : ({ [property]: value } as Record<K, string>);
}

/** Like `textFlag`, for a whole number of 0 or more. */
export function numberFlag<K extends string>(flags: Flags, name: string, property: K): Partial<Record<K, number>> {
  const value = flags[name]?.at(-1);
  if (value === undefined) return {};
  if (!/^\d{1,9}$/.test(value)) {
    throw new CandorError("bad-argument", `--${name}: "${value}" is not a whole number of 0 or more`);
  }
  return { [property]: Number(value) } as Record<K, number>;
}
