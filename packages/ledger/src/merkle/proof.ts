import { equalBytes } from "@candor/contract";
import { nodeHash } from "./node-hash.js";

function isSize(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

function areHashes(hashes: readonly Uint8Array[]): boolean {
  return hashes.every((hash) => hash.length === 32);
}

/** A position and the last position of its level, both moved up the tree together. */
interface Climb {
  readonly at: number;
  readonly last: number;
}

const up = ({ at, last }: Climb): Climb => ({ at: Math.floor(at / 2), last: Math.floor(last / 2) });

/** Up while the node has no sibling at its right, that is to the level where it is a right child or the root. */
function upToRightChild(climb: Climb): Climb {
  let reached = climb;
  while (reached.at % 2 === 0 && reached.at !== 0) reached = up(reached);
  return reached;
}

export interface InclusionClaim {
  readonly leaf: Uint8Array;
  /** Zero-based. */
  readonly index: number;
  readonly size: number;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/**
 * Checks that a leaf is in a tree (RFC 9162, 2.1.3.2, over RFC 6962 hashes).
 *
 * @returns false for a wrong proof and for sizes or hashes that cannot be; it never throws
 */
export function verifyInclusion({ leaf, index, size, root, proof }: InclusionClaim): boolean {
  if (!isSize(size) || !Number.isSafeInteger(index) || index < 0 || index >= size) return false;
  if (!areHashes([leaf, root, ...proof])) return false;
  let climb: Climb = { at: index, last: size - 1 };
  let hash = leaf;
  for (const sibling of proof) {
    if (climb.last === 0) return false;
    if (climb.at % 2 === 1 || climb.at === climb.last) {
      hash = nodeHash(sibling, hash);
      climb = upToRightChild(climb);
    } else {
      hash = nodeHash(hash, sibling);
    }
    climb = up(climb);
  }
  return climb.last === 0 && equalBytes(hash, root);
}

export interface ConsistencyClaim {
  readonly size1: number;
  readonly root1: Uint8Array;
  readonly size2: number;
  readonly root2: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

function isPowerOfTwo(size: number): boolean {
  let rest = size;
  while (rest % 2 === 0) rest /= 2;
  return rest === 1;
}

/**
 * Checks that the second tree is the first one grown (RFC 9162, 2.1.4.2, over RFC 6962 hashes). Nothing is proven about an
 * empty tree, so size 0 is refused.
 *
 * @returns false for a wrong proof and for sizes or hashes that cannot be; it never throws
 */
export function verifyConsistency({ size1, root1, size2, root2, proof }: ConsistencyClaim): boolean {
  if (!isSize(size1) || !isSize(size2) || size1 > size2) return false;
  if (size1 === size2) return proof.length === 0 && equalBytes(root1, root2);
  if (!areHashes([root1, root2, ...proof])) return false;
  const [seed, ...rest] = isPowerOfTwo(size1) ? [root1, ...proof] : proof;
  if (seed === undefined) return false;
  let climb: Climb = { at: size1 - 1, last: size2 - 1 };
  while (climb.at % 2 === 1) climb = up(climb);
  let first = seed;
  let second = seed;
  for (const hash of rest) {
    if (climb.last === 0) return false;
    if (climb.at % 2 === 1 || climb.at === climb.last) {
      first = nodeHash(hash, first);
      second = nodeHash(hash, second);
      climb = upToRightChild(climb);
    } else {
      second = nodeHash(second, hash);
    }
    climb = up(climb);
  }
  return climb.last === 0 && equalBytes(first, root1) && equalBytes(second, root2);
}
