import { readLast, type Bus } from "@candor/bus";
import { dataKeySubject, streams } from "@candor/contract";
import type { ProseKey } from "./prose.js";

/**
 * The data key of a run, as far as this identity may read it: the operator may, others may not.
 *
 * @param fleet that opened the run
 */
export async function readProseKey(
  bus: Bus,
  { fleet, run }: { readonly fleet: string; readonly run: string },
): Promise<ProseKey> {
  if (bus.identity.role !== "operator") return { state: "withheld" };
  const found = await readLast(bus, streams.dataKeys, dataKeySubject({ fleet, run }));
  return found === undefined ? { state: "erased" } : { state: "there", key: Uint8Array.from(found.data) };
}
