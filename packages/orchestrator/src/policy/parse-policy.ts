import { defaultPolicy, readPolicy, type PolicyReading } from "@candor/contract";
import { readPlainYaml } from "./plain-yaml.js";

/**
 * Reads a policy file: YAML 1.2 or JSON. Of the fields beside `failures` those that are left out are the default policy's;
 * a table of failures is given whole or not at all.
 *
 * @param text the whole file
 * @returns the policy, or everything that is wrong with it
 * @throws CandorError `bad-file` with the path of the place for a file that can't be read safely (not YAML, aliases, tags,
 *   duplicate keys, too deep), `too-large` for one of over 64 KiB
 */
export function parsePolicy(text: string): PolicyReading {
  const value = readPlainYaml(text);
  const isMapping = typeof value === "object" && value !== null && !Array.isArray(value);
  return readPolicy(isMapping ? { ...defaultPolicy, ...value } : value);
}
