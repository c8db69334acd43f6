import { createInterface } from "node:readline";
import { CandorError, exitCodes } from "@candor/contract";
import type { Context } from "./context.js";
import { endInterrupted } from "./interruption.js";

/** Where the answer comes from. */
export interface Asked {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream;
}

type Answer = "yes" | "no" | "interrupted";

function ask({ input, output }: Asked): Promise<Answer> {
  return new Promise((resolve) => {
    const prompt = createInterface({ input, output, terminal: true });
    const end = (answer: Answer): void => {
      resolve(answer);
      prompt.close();
    };
    prompt.on("SIGINT", () => {
      // The cursor stands behind the question.
      output.write("\n");
      end("interrupted");
    });
    // The end of the input is no yes.
    prompt.on("close", () => {
      resolve("no");
    });
    prompt.question("[y/N] ", (text) => {
      end(/^y(?:es)?$/i.test(text.trim()) ? "yes" : "no");
    });
  });
}

/**
 * Asks a person whether to go on. After any answer but yes it has said that nothing was changed and set the exit code: that of
 * something refused after a no, that of the signal after Ctrl-C.
 *
 * @returns true only after a yes; otherwise the command is over
 * @throws CandorError `bad-argument` if nobody is there to answer
 */
export async function confirm(
  context: Context,
  question: string,
  asked: Asked = { input: process.stdin, output: process.stderr },
): Promise<boolean> {
  if (asked.input.isTTY !== true) {
    throw new CandorError(
      "bad-argument",
      `${question} Nobody is there to answer: pass --yes to go ahead. Nothing was changed.`,
    );
  }
  context.terminal.note(question);
  const answer = await ask(asked);
  if (answer === "yes") return true;
  if (answer === "interrupted") endInterrupted(context, "SIGINT", "Nothing was changed.");
  else {
    context.exit = exitCodes.refused;
    context.terminal.note("Not confirmed. Nothing was changed.");
  }
  return false;
}
