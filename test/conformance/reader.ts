import { CandorError } from "@candor/contract";

export type Fields = Readonly<Record<string, unknown>>;

/** Doubles that JSON cannot carry stand as these texts. */
const doubleWords = new Map([
  ["NaN", NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
  ["-0", -0],
]);

/** Reads the fields of one object of a vector line; every method throws CandorError `malformed` with the field's path. */
export class Reader {
  readonly fields: Fields;
  readonly #path: string;

  constructor(value: unknown, path = "") {
    this.#path = path;
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(path, "an object", value);
    this.fields = value as Fields;
  }

  child(key: string): Reader {
    return new Reader(this.fields[key], this.#at(key));
  }

  children(key: string): readonly Reader[] {
    return this.#list(key).map((value, index) => new Reader(value, `${this.#at(key)}[${index}]`));
  }

  texts(key: string): readonly string[] {
    return this.#list(key).map((value, index) => {
      if (typeof value !== "string") throw wrong(`${this.#at(key)}[${index}]`, "a text", value);
      return value;
    });
  }

  /** A number or null, which stands for what is not known. */
  doubleOrNull(key: string): number | null {
    return this.fields[key] === null ? null : this.double(key);
  }

  text(key: string): string {
    const value = this.fields[key];
    if (typeof value !== "string") throw wrong(this.#at(key), "a text", value);
    return value;
  }

  textOrNull(key: string): string | null {
    return this.fields[key] === null ? null : this.text(key);
  }

  flag(key: string): boolean {
    const value = this.fields[key];
    if (typeof value !== "boolean") throw wrong(this.#at(key), "true or false", value);
    return value;
  }

  flagOrNull(key: string): boolean | null {
    return this.fields[key] === null ? null : this.flag(key);
  }

  double(key: string): number {
    const value = this.fields[key];
    const double = typeof value === "string" ? doubleWords.get(value) : value;
    if (typeof double !== "number")
      throw wrong(this.#at(key), 'a number, "NaN", "Infinity", "-Infinity" or "-0"', value);
    return double;
  }

  /** A whole number without a bound, written as decimal digits in a text. */
  whole(key: string): bigint {
    const value = this.fields[key];
    if (typeof value !== "string" || !/^-?\d+$/.test(value))
      throw wrong(this.#at(key), "decimal digits in a text", value);
    return BigInt(value);
  }

  #list(key: string): readonly unknown[] {
    const value: unknown = this.fields[key];
    if (!Array.isArray(value)) throw wrong(this.#at(key), "a list", value);
    return value;
  }

  #at(key: string): string {
    return this.#path === "" ? key : `${this.#path}.${key}`;
  }
}

function wrong(path: string, wanted: string, value: unknown): CandorError {
  const found = value === undefined ? "missing" : JSON.stringify(value).slice(0, 60);
  return new CandorError("malformed", `${path === "" ? "the line" : path} must be ${wanted}, but is ${found}`, {
    path,
  });
}
