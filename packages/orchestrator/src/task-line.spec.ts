import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256, utf8, zeroHash, type IntentKind, type VerdictBody } from "@candor/contract";
import {
  emptyLine,
  intentLost,
  isPending,
  judgementOf,
  nextPosition,
  standingOf,
  withJudgement,
  withRefusal,
  withStored,
  type StoredIntent,
  type TaskLine,
} from "./task-line.js";

function stored(sequence: number, control: number, kind: IntentKind = "delegate", epoch = 1): StoredIntent {
  const hash = sha256(utf8(`${sequence} ${control} ${kind}`));
  return { sequence, control, kind, epoch, hash, actor: "f1", atMs: 1_000 + sequence };
}

function judged(line: TaskLine, intent: StoredIntent, accepted: boolean): TaskLine {
  const body: Pick<VerdictBody, "verdict" | "epoch" | "intent" | "cause"> = {
    verdict: accepted ? "INTENT_ACCEPTED" : "INTENT_REJECTED",
    epoch: intent.epoch,
    intent: { control: intent.control, kind: intent.kind, hash: intent.hash },
    cause: { first: intent.sequence, last: intent.sequence },
  };
  return withJudgement(line, body);
}

describe("R2 the next intent of a task", () => {
  it("begins at control number 1, with nothing before it", () => {
    expect(nextPosition(emptyLine)).toEqual({ control: 1, prev: zeroHash, expectedSequence: 0 });
    expect(standingOf(emptyLine)).toBeUndefined();
  });

  it("follows the last accepted one", () => {
    const first = stored(7, 1);
    const line = judged(withStored(emptyLine, first), first, true);
    expect(nextPosition(line)).toEqual({ control: 2, prev: first.hash, expectedSequence: 7 });
    expect(standingOf(line)).toEqual({ epoch: 1, state: "delegated" });
  });

  it("re-uses the number of a rejected one, behind its sequence", () => {
    const first = stored(7, 1);
    const second = stored(9, 2, "recall");
    let line = judged(withStored(emptyLine, first), first, true);
    line = judged(withStored(line, second), second, false);
    expect(nextPosition(line)).toEqual({ control: 2, prev: first.hash, expectedSequence: 9 });
    expect(standingOf(line)).toEqual({ epoch: 1, state: "delegated" });
  });

  it("re-uses the number of one that was put into quarantine, whichever news comes first", () => {
    const first = stored(7, 1);
    const before = withStored(withRefusal(emptyLine, 7), first);
    const after = withRefusal(withStored(emptyLine, first), 7);
    for (const line of [before, after]) {
      expect(isPending(line)).toBe(false);
      expect(nextPosition(line)).toEqual({ control: 1, prev: zeroHash, expectedSequence: 7 });
      expect(judgementOf(line, first)).toBe(false);
    }
  });

  it("takes one that is not judged yet to hold", () => {
    const first = stored(7, 1);
    const line = withStored(emptyLine, first);
    expect(isPending(line)).toBe(true);
    expect(nextPosition(line)).toEqual({ control: 2, prev: first.hash, expectedSequence: 7 });
  });

  it("is not moved by a repeat of an accepted one that is rejected", () => {
    const first = stored(7, 1);
    const second = stored(8, 2, "recall");
    let line = judged(judged(withStored(emptyLine, first), first, true), second, true);
    line = withStored(line, { ...first, sequence: 12 });
    line = judged(line, first, false);
    expect(nextPosition(line)).toEqual({ control: 3, prev: second.hash, expectedSequence: 12 });
    expect(standingOf(line)).toEqual({ epoch: 1, state: "recalled" });
  });

  it("follows what the guard judged of other replicas, though their intents were not seen", () => {
    const first = stored(7, 1);
    const [theirs, rejected] = [stored(9, 2, "recall"), stored(11, 3, "recall")];
    let line = judged(withStored(emptyLine, first), first, true);
    line = judged(judged(line, theirs, true), rejected, false);
    expect(nextPosition(line)).toEqual({ control: 3, prev: theirs.hash, expectedSequence: 11 });
    expect(standingOf(line)).toEqual({ epoch: 1, state: "recalled" });
    expect(isPending(line)).toBe(false);
  });

  it("follows the guard's word for every history of accepted and rejected intents", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 20 }), (verdicts) => {
        let line = emptyLine;
        let accepted = 0;
        for (const [index, good] of verdicts.entries()) {
          const position = nextPosition(line);
          expect(position.control).toBe(accepted + 1);
          expect(position.expectedSequence).toBe(line.last?.sequence ?? 0);
          const intent = stored(index * 3 + 1, position.control);
          line = judged(withStored(line, intent), intent, good);
          if (good) accepted += 1;
          expect(judgementOf(line, intent)).toBe(good);
        }
      }),
    );
  });
});

describe("R2 the loser of a race", () => {
  it("gets a typed error that names the winner", () => {
    const error = intentLost("t1", "recall", stored(9, 2, "terminate"));
    expect(error).toMatchObject({
      code: "intent-lost",
      action: "look-up",
      details: {
        winner: { kind: "terminate", control: 2, epoch: 1, actor: "f1", atMs: 1_009, sequence: 9 },
      },
    });
  });
});
