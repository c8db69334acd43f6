import { utf8 } from "./bytes.js";

/**
 * The lane of a run: FNV-1a (32 bit) of the run id modulo the number of lanes, which is what the server's
 * `{{partition(lanes,3)}}` computes, so that a client can name a stored subject without asking.
 */
export function laneOf(run: string, lanes: number): number {
  let hash = 0x811c9dc5;
  for (const byte of utf8(run)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0) % lanes;
}
