import { createMerkleTree, type MerkleState } from "@candor/ledger";

const leafBytes = 32;
/** Leaves whose tree can still be told, and how often the tree's state is kept among them. */
const windowLeaves = 4096;
const stride = 512;

/** The Merkle tree of a lane, which also knows its root at any size within the last few thousand leaves. */
export class LaneTree {
  readonly #tree = createMerkleTree();
  #leaves: Uint8Array | undefined;
  readonly #states: MerkleState[] = [{ size: 0, edge: [] }];

  get size(): number {
    return this.#tree.size;
  }

  append(leaf: Uint8Array): void {
    const leaves = (this.#leaves ??= new Uint8Array(windowLeaves * leafBytes));
    leaves.set(leaf, (this.#tree.size % windowLeaves) * leafBytes);
    this.#tree.append(leaf);
    if (this.#tree.size % stride !== 0) return;
    this.#states.push(this.#tree.state());
    if (this.#states.length > windowLeaves / stride) this.#states.shift();
  }

  root(): Uint8Array {
    return this.#tree.root();
  }

  /** The root that the tree had at a size; undefined for one to come, or too long ago. */
  rootAt(size: number): Uint8Array | undefined {
    if (size === this.#tree.size) return this.root();
    const leaves = this.#leaves;
    const from = this.#states.findLast((state) => state.size <= size);
    if (size > this.#tree.size || from === undefined || leaves === undefined) return undefined;
    const tree = createMerkleTree(from);
    while (tree.size < size) {
      const offset = (tree.size % windowLeaves) * leafBytes;
      tree.append(leaves.slice(offset, offset + leafBytes));
    }
    return tree.root();
  }
}
