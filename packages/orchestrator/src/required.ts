import { CandorError } from "@candor/contract";

/**
 * What a caller must pass, as callers without types may not.
 *
 * @param path of the option, as in `options.timeoutMs`
 * @param wanted what it should be, for people
 * @throws CandorError `bad-argument` with the path
 */
export function refuse(path: string, wanted: string): CandorError {
  return new CandorError("bad-argument", `${path} is missing or wrong: it must be ${wanted}.`, { path });
}

/** Checks that there are options at all. @throws CandorError `bad-argument` */
export function requireOptions(options: unknown): void {
  if (typeof options !== "object" || options === null) throw refuse("options", "an object with the options");
}

/** Checks a length of time in ms. @throws CandorError `bad-argument` */
export function requireMs(value: unknown, path: string): void {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) throw refuse(path, "a number of milliseconds");
}

/** Checks a text that is not empty. @throws CandorError `bad-argument` */
export function requireText(value: unknown, path: string): void {
  if (typeof value !== "string" || value === "") throw refuse(path, "a text");
}

/** Checks that there is a certificate; whether it is one to trust is checked later. @throws CandorError `bad-argument` */
export function requireCertificate(value: unknown, path: string): void {
  const isOne = typeof value === "object" && value !== null && "key" in value && "name" in value && "role" in value;
  if (!isOne) throw refuse(path, 'a certificate, as "readCertificateFile" of @candor/ledger/files reads it');
}

/** Checks a verifier before anything goes by it: once a report is there it is too late. @throws CandorError `bad-argument` */
export function requireVerifier(value: unknown, path: string): void {
  if (typeof value !== "object" || value === null) throw refuse(path, "a command or a probe");
  const { kind, argv, probe, timeLimitMs } = value as Readonly<Record<string, unknown>>;
  if (kind === "command") {
    const isRunnable = Array.isArray(argv) && argv.length > 0 && argv.every(isArgument) && argv[0] !== "";
    if (!isRunnable) throw refuse(`${path}.argv`, "a program and its arguments, texts without NUL");
  } else if (kind === "probe") requireText(probe, `${path}.probe`);
  else throw refuse(`${path}.kind`, "command or probe");
  if (typeof timeLimitMs !== "number" || !(timeLimitMs >= 1))
    throw refuse(`${path}.timeLimitMs`, "milliseconds from 1");
}

function isArgument(value: unknown): boolean {
  return typeof value === "string" && !value.includes("\0");
}
