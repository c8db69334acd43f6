import { CandorError } from "@candor/contract";

/** Oldest nats-server that honours every header and stream setting that Candor depends on; older ones ignore them silently. */
export const oldestServer = "2.12.0";

function numbers(version: string): number[] {
  return version
    .replace(/^v/, "")
    .split(/[.+-]/)
    .slice(0, 3)
    .map((part) => Number.parseInt(part, 10) || 0);
}

/** True if `version`, like `2.15.1` or `v2.12.0-beta.2`, is at least `oldest`. */
export function isAtLeast(version: string, oldest: string): boolean {
  const [have, need] = [numbers(version), numbers(oldest)];
  for (const [index, wanted] of need.entries()) {
    const part = have[index] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}

/**
 * @param version as the server states it
 * @param where the server's address or the program's path, for the message
 * @throws CandorError `server-too-old`
 */
export function requireVersion(version: string, where: string): void {
  if (isAtLeast(version, oldestServer)) return;
  throw new CandorError(
    "server-too-old",
    `nats-server ${version} at ${where} is too old: Candor needs ${oldestServer} or newer, since older ones silently ignore settings it depends on. Upgrade it, or let Candor fetch its own.`,
    { details: { version, oldest: oldestServer } },
  );
}
