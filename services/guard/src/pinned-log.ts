import { CandorError, equalBytes, foldVersion } from "@candor/contract";
import type { Checkpoint } from "@candor/ledger";
import type { LaneTree } from "./lane-tree.js";
import { logFault } from "./log-place.js";

/** A newer fold decides otherwise, so an older guard must not go on where it left off. @throws CandorError `unknown-version` */
export function requireKnownFold({ lane, fold, position }: Checkpoint): void {
  if (fold <= foldVersion) return;
  throw new CandorError(
    "unknown-version",
    `Lane ${lane}, sequence ${position}: the checkpoint is of fold version ${fold} and this guard knows ${foldVersion}: update it.`,
    { details: { lane, seq: position } },
  );
}

/**
 * Compares a lane with what its checkpoint pins, once the message at the checkpoint's position or one after it was read.
 *
 * @param seq of the message read last, which is the tree's last leaf
 * @throws CandorError `log-truncated` if messages are missing, `log-altered` if others were added or any was changed
 */
export function requirePinnedLog(pinned: Checkpoint, seq: number, tree: LaneTree): void {
  const { lane, position } = pinned;
  const { size } = tree;
  if (seq > position || size < pinned.size) {
    const left = seq > position ? size - 1 : size;
    const what = `the checkpoint counts ${pinned.size} messages up to here and ${left} are left.`;
    throw logFault("log-truncated", lane, position, what);
  }
  if (size > pinned.size) {
    const what = `the checkpoint counts ${pinned.size} messages up to here and there are ${size}.`;
    throw logFault("log-altered", lane, position, what);
  }
  if (equalBytes(tree.root(), pinned.root)) return;
  const what = "this message or one before it was changed: the lane's Merkle root is not the checkpoint's.";
  throw logFault("log-altered", lane, position, what);
}
