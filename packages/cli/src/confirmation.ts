import { createInterface } from "node:readline/promises";
import { CandorError } from "@candor/contract";
import type { Context } from "./context.js";

/**
 * Asks a person; goes on only after a yes.
 *
 * @throws CandorError `bad-argument` if the answer is no, or if nobody is there to answer
 */
export async function confirm({ terminal }: Context, question: string): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new CandorError(
      "bad-argument",
      `${question} Nobody is there to answer: pass --yes to go ahead. Nothing was changed.`,
    );
  }
  terminal.note(question);
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await prompt.question("[y/N] ");
    if (/^y(?:es)?$/i.test(answer.trim())) return;
  } finally {
    prompt.close();
  }
  throw new CandorError("bad-argument", "Nothing was changed.");
}
