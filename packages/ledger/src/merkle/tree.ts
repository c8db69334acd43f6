import { CandorError } from "@candor/contract";
import { emptyRoot, nodeHash } from "./node-hash.js";

/** All that is needed to go on appending: the roots of the full subtrees along the right edge, the largest first. */
export interface MerkleState {
  readonly size: number;
  readonly edge: readonly Uint8Array[];
}

/** A Merkle tree of RFC 6962 that grows at the right and keeps only its right edge. */
export interface MerkleTree {
  readonly size: number;
  /** Appends a leaf hash (32 bytes). */
  append(leaf: Uint8Array): void;
  /** The root over all leaves so far. */
  root(): Uint8Array;
  state(): MerkleState;
}

function countOnes(size: number): number {
  let ones = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2;
  return ones;
}

/**
 * Makes a tree, empty or grown already.
 *
 * @param from state of an earlier tree
 * @throws CandorError `bad-argument` if the edge does not belong to the size
 */
export function createMerkleTree(from: MerkleState = { size: 0, edge: [] }): MerkleTree {
  const edge: Uint8Array[] = from.edge.map((hash) => hash.slice());
  let size = from.size;
  if (!Number.isSafeInteger(size) || size < 0 || edge.length !== countOnes(size) || edge.some((h) => h.length !== 32)) {
    throw new CandorError(
      "bad-argument",
      `A Merkle tree of ${size} leaves has another edge; build it anew from the log.`,
    );
  }
  return {
    get size() {
      return size;
    },
    append(leaf) {
      let hash = leaf;
      for (let full = size; full % 2 === 1; full = (full - 1) / 2) hash = nodeHash(edge.pop() ?? hash, hash);
      edge.push(hash);
      size++;
    },
    root() {
      const last = edge.at(-1);
      if (last === undefined) return emptyRoot();
      return edge.slice(0, -1).reduceRight<Uint8Array>((right, left) => nodeHash(left, right), last);
    },
    state: () => ({ size, edge: [...edge] }),
  };
}

/** The largest power of two below `size` (2 or more): where RFC 6962 splits a tree. */
function split(size: number): number {
  let left = 1;
  while (left * 2 < size) left *= 2;
  return left;
}

/**
 * The root over leaf hashes (RFC 6962, 2.1).
 *
 * @param leaves leaf hashes in order
 */
export function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  const tree = createMerkleTree();
  for (const leaf of leaves) tree.append(leaf);
  return tree.root();
}

/**
 * The audit path of a leaf (RFC 6962, 2.1.1), nearest sibling first.
 *
 * @param leaves all leaf hashes of the tree
 * @param index zero-based
 * @throws CandorError `bad-argument` if there is no such leaf
 */
export function inclusionProof(leaves: readonly Uint8Array[], index: number): Uint8Array[] {
  if (!Number.isSafeInteger(index) || index < 0 || index >= leaves.length) {
    throw new CandorError("bad-argument", `There is no leaf ${index} in a tree of ${leaves.length}.`, {
      path: "index",
    });
  }
  if (leaves.length === 1) return [];
  const at = split(leaves.length);
  const [left, right] = [leaves.slice(0, at), leaves.slice(at)];
  return index < at
    ? [...inclusionProof(left, index), merkleRoot(right)]
    : [...inclusionProof(right, index - at), merkleRoot(left)];
}

/**
 * The proof that a tree only grew (RFC 6962, 2.1.2).
 *
 * @param leaves all leaf hashes of the tree now
 * @param size how many leaves it had before, from 1 to all
 * @throws CandorError `bad-argument` if it never had that size
 */
export function consistencyProof(leaves: readonly Uint8Array[], size: number): Uint8Array[] {
  if (!Number.isSafeInteger(size) || size < 1 || size > leaves.length) {
    throw new CandorError("bad-argument", `A tree of ${leaves.length} never had size ${size}.`, { path: "size" });
  }
  return subproof(leaves, size, true);
}

function subproof(leaves: readonly Uint8Array[], size: number, known: boolean): Uint8Array[] {
  if (size === leaves.length) return known ? [] : [merkleRoot(leaves)];
  const at = split(leaves.length);
  const [left, right] = [leaves.slice(0, at), leaves.slice(at)];
  return size <= at
    ? [...subproof(left, size, known), merkleRoot(right)]
    : [...subproof(right, size - at, false), merkleRoot(left)];
}
