import { foldVersion } from "@candor/contract";
import type { LaneFold } from "@candor/guards";
import type { Checkpoint } from "@candor/ledger";
import type { LaneTree } from "./lane-tree.js";
import type { LogPlace } from "./log-place.js";

/** A lane as it is folded now, as a checkpoint pins it. */
export function snapshotLane(
  lane: number,
  { seq, timeMs, leaf }: LogPlace,
  tree: LaneTree,
  fold: Pick<LaneFold, "policyHashes">,
): Checkpoint {
  return {
    lane,
    size: tree.size,
    root: tree.root(),
    position: seq,
    timeMs,
    leaf,
    fold: foldVersion,
    policies: fold.policyHashes().map((text) => Uint8Array.from(Buffer.from(text, "hex"))),
  };
}
