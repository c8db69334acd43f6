import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256, utf8 } from "@candor/contract";
import { merkleRoot } from "@candor/ledger";
import { LaneTree } from "./lane-tree.js";

const leaves = Array.from({ length: 9_000 }, (_, i) => sha256(utf8(`leaf ${i}`)));

describe("B9 the lane's tree", () => {
  it("tells its root at any size within the window, as if it had stopped there", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: leaves.length }), fc.nat(3_500), (size, back) => {
        const tree = new LaneTree();
        for (const leaf of leaves.slice(0, size)) tree.append(leaf);
        const at = Math.max(0, size - back);
        expect(tree.rootAt(at)).toEqual(merkleRoot(leaves.slice(0, at)));
      }),
      { numRuns: 10 },
    );
  });

  it("says nothing about sizes to come or too long ago", () => {
    const tree = new LaneTree();
    for (const leaf of leaves) tree.append(leaf);
    expect(tree.rootAt(leaves.length + 1)).toBeUndefined();
    expect(tree.rootAt(100)).toBeUndefined();
    expect(tree.root()).toEqual(merkleRoot(leaves));
  });
});
