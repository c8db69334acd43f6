import { existsSync, readFileSync } from "node:fs";
import { sha256 } from "@candor/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyRoot } from "./node-hash.js";
import { verifyConsistency, verifyInclusion } from "./proof.js";
import { consistencyProof, createMerkleTree, inclusionProof, merkleRoot } from "./tree.js";

const folder = new URL("../../../../../shared/vectors/merkle/", import.meta.url);
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const bytes = (hexText: string): Uint8Array => Uint8Array.from(Buffer.from(hexText, "hex"));
const base64 = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "base64"));
const leafOf = (data: Uint8Array): Uint8Array => sha256(Uint8Array.of(0, ...data));

/** Inputs and roots of the Certificate Transparency test tree, by size. */
const inputs = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
const roots = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];
const leaves = inputs.map((input) => leafOf(bytes(input)));
const manyLeaves = Array.from({ length: 70 }, (_, index) => leafOf(Uint8Array.of(index)));

describe("Merkle tree", { timeout: 60_000 }, () => {
  it("B9 has the roots of RFC 6962 at every size", () => {
    const tree = createMerkleTree();
    expect(hexOf(tree.root())).toBe(roots[0]);
    for (const [index, leaf] of leaves.entries()) {
      tree.append(leaf);
      expect(tree.size).toBe(index + 1);
      expect(hexOf(tree.root())).toBe(roots[index + 1]);
    }
    expect(hexOf(emptyRoot())).toBe(roots[0]);
  });

  it("goes on from its state as if it had never stopped", () => {
    fc.assert(
      fc.property(fc.nat({ max: 70 }), (at) => {
        const before = createMerkleTree();
        for (const leaf of manyLeaves.slice(0, at)) before.append(leaf);
        const after = createMerkleTree(before.state());
        expect(after.root()).toEqual(before.root());
        for (const leaf of manyLeaves.slice(at)) after.append(leaf);
        expect(after.root()).toEqual(merkleRoot(manyLeaves));
      }),
    );
  });

  it("keeps a state apart from what is appended later", () => {
    const tree = createMerkleTree();
    for (const leaf of manyLeaves.slice(0, 3)) tree.append(leaf);
    const state = tree.state();
    tree.append(leaves[0] ?? new Uint8Array(32));
    expect(createMerkleTree(state).root()).toEqual(merkleRoot(manyLeaves.slice(0, 3)));
  });

  it.each([
    { size: 3, edge: [new Uint8Array(32)] },
    { size: -1, edge: [] },
    { size: 0.5, edge: [] },
    { size: 1, edge: [new Uint8Array(31)] },
  ])("refuses a state that cannot be: %j", (state) => {
    expect(() => createMerkleTree(state)).toThrow(expect.objectContaining({ code: "bad-argument" }));
  });
});

describe("Merkle proofs", { timeout: 60_000 }, () => {
  it("prove every leaf of every tree, and no other leaf or position", () => {
    for (let size = 1; size <= 20; size++) {
      const tree = manyLeaves.slice(0, size);
      const root = merkleRoot(tree);
      for (const [index, leaf] of tree.entries()) {
        const proof = inclusionProof(tree, index);
        expect(verifyInclusion({ leaf, index, size, root, proof })).toBe(true);
        expect(verifyInclusion({ leaf: leafOf(Uint8Array.of(99)), index, size, root, proof })).toBe(false);
        expect(verifyInclusion({ leaf, index: index + 1, size, root, proof })).toBe(false);
        expect(verifyInclusion({ leaf, index, size, root, proof: [...proof, root] })).toBe(false);
        if (proof.length > 0) expect(verifyInclusion({ leaf, index, size, root, proof: proof.slice(1) })).toBe(false);
      }
    }
  });

  it("prove that a tree only grew, and refuse any other earlier tree", () => {
    for (let size2 = 1; size2 <= 20; size2++) {
      const now = manyLeaves.slice(0, size2);
      const root2 = merkleRoot(now);
      for (let size1 = 1; size1 <= size2; size1++) {
        const root1 = merkleRoot(manyLeaves.slice(0, size1));
        const proof = consistencyProof(now, size1);
        expect(verifyConsistency({ size1, root1, size2, root2, proof })).toBe(true);
        const other = merkleRoot([...manyLeaves.slice(0, size1 - 1), leafOf(Uint8Array.of(99))]);
        expect(verifyConsistency({ size1, root1: other, size2, root2, proof })).toBe(false);
        expect(verifyConsistency({ size1, root1, size2, root2: other, proof })).toBe(false);
        if (size1 < size2) expect(verifyConsistency({ size1: size1 + 1, root1, size2, root2, proof })).toBe(false);
        expect(verifyConsistency({ size1, root1, size2, root2, proof: [...proof, root1] })).toBe(false);
      }
    }
  });

  it("cannot be asked for what is not there", () => {
    const refused = expect.objectContaining({ code: "bad-argument" }) as Error;
    expect(() => inclusionProof(leaves, 8)).toThrow(refused);
    expect(() => inclusionProof(leaves, -1)).toThrow(refused);
    expect(() => consistencyProof(leaves, 0)).toThrow(refused);
    expect(() => consistencyProof(leaves, 9)).toThrow(refused);
  });

  it("agree with the 196 cases of transparency-dev/merkle", (ctx) => {
    if (!existsSync(folder)) ctx.skip("../shared/vectors/merkle is not here");
    interface Case {
      readonly id: string;
      readonly proof: readonly string[] | null;
      readonly wantErr: boolean;
    }
    interface Inclusion extends Case {
      readonly leafIdx: number;
      readonly treeSize: number;
      readonly root: string;
      readonly leafHash: string;
    }
    interface Consistency extends Case {
      readonly size1: number;
      readonly size2: number;
      readonly root1: string;
      readonly root2: string;
    }
    const read = (name: string): unknown[] =>
      readFileSync(new URL(name, folder), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown);
    const proofOf = (test: Case): Uint8Array[] => (test.proof ?? []).map(base64);
    const answers = [
      ...(read("inclusion.jsonl") as Inclusion[]).map((test) => ({
        test,
        valid: verifyInclusion({
          leaf: base64(test.leafHash),
          index: test.leafIdx,
          size: test.treeSize,
          root: base64(test.root),
          proof: proofOf(test),
        }),
      })),
      ...(read("consistency.jsonl") as Consistency[]).map((test) => ({
        test,
        valid: verifyConsistency({
          size1: test.size1,
          root1: base64(test.root1),
          size2: test.size2,
          root2: base64(test.root2),
          proof: proofOf(test),
        }),
      })),
    ];
    expect(answers.filter(({ test, valid }) => valid === test.wantErr).map(({ test }) => test.id)).toEqual([]);
    expect(answers).toHaveLength(196);
  });
});
