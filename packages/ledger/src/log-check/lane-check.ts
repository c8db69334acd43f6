import { equalBytes, type AuditCode, type StoredMessage } from "@candor/contract";
import type { Checkpoint } from "../checkpoint.js";
import { leafHash } from "../leaf.js";
import { createMerkleTree, type MerkleState } from "../merkle/tree.js";

export interface LogFinding {
  readonly code: Extract<AuditCode, "log-rolled-back" | "log-truncated" | "log-altered">;
  /** Undefined only for a lost message that no checkpoint covers: its lane cannot be told any more. */
  readonly lane: number | undefined;
  /** Stream sequence of the message in question: the most likely one where only the stretch is certain. */
  readonly seq: number;
  /** The stretch that it certainly lies in: first and last sequence. */
  readonly from: number;
  readonly to: number;
  /** For people: what was found and where. */
  readonly sentence: string;
}

export interface LaneCheck {
  add(message: StoredMessage): void;
  /** Ends the lane. @param lastSeq last sequence of the whole stream */
  end(lastSeq: number): {
    readonly finding: LogFinding | undefined;
    readonly tree: MerkleState;
    readonly position: number;
  };
}

/**
 * Follows one lane and compares it with its checkpoints. A root covers all that came before, so only the first difference says
 * anything, and the check of the lane ends with it.
 *
 * @param lane number of the lane
 * @param checkpoints of this lane, in any order
 */
export function createLaneCheck(lane: number, checkpoints: readonly Checkpoint[]): LaneCheck {
  const pending = [...checkpoints].sort((a, b) => a.position - b.position);
  const tree = createMerkleTree();
  let finding: LogFinding | undefined;
  let position = 0;
  let good = 0;
  let leaf: Uint8Array = new Uint8Array();

  const found = (code: LogFinding["code"], seq: number, sentence: string): void => {
    finding ??= { code, lane, seq, from: good + 1, to: seq, sentence: `Lane ${lane}, ${sentence}` };
  };

  const compare = (checkpoint: Checkpoint): void => {
    const { position: pinned, size, root } = checkpoint;
    const stretch = `sequences ${good + 1} to ${pinned}`;
    if (position !== pinned)
      found("log-truncated", pinned, `sequence ${pinned}: the message that a checkpoint pins is gone.`);
    else if (tree.size < size) found("log-truncated", pinned, `${stretch}: ${size - tree.size} messages are gone.`);
    else if (tree.size > size) found("log-altered", pinned, `${stretch}: ${tree.size - size} messages were put in.`);
    else if (!equalBytes(leaf, checkpoint.leaf))
      found("log-altered", pinned, `sequence ${pinned}: the message was changed.`);
    else if (!equalBytes(tree.root(), root)) found("log-altered", pinned, `${stretch}: a message was changed.`);
    good = pinned;
  };

  const compareUpTo = (seq: number): void => {
    for (let next = pending[0]; next !== undefined && next.position <= seq; next = pending[0]) {
      pending.shift();
      compare(next);
    }
  };

  return {
    add(message) {
      compareUpTo(message.seq - 1);
      leaf = leafHash(message);
      tree.append(leaf);
      position = message.seq;
      compareUpTo(position);
    },
    end(lastSeq) {
      compareUpTo(lastSeq);
      const beyond = pending.at(-1);
      if (beyond !== undefined) {
        found(
          "log-rolled-back",
          beyond.position,
          `sequence ${beyond.position}: a checkpoint pins it, and the log ends at ${lastSeq}.`,
        );
      }
      return { finding, tree: tree.state(), position };
    },
  };
}
