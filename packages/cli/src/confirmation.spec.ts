import { PassThrough } from "node:stream";
import { exitCodes } from "@candor/contract";
import { describe, expect, it } from "vitest";
import { confirm } from "./confirmation.js";
import { createContext, type Context } from "./context.js";
import { createTerminal } from "./output/terminal.js";

interface Answered {
  readonly yes: boolean;
  readonly exit: Context["exit"];
  readonly said: string;
}

/** Answers a question by typing at a terminal. */
async function answer(typed: string): Promise<Answered> {
  let said = "";
  const stderr = { write: (text: string | Uint8Array) => ((said += String(text)), true) };
  const context = createContext(createTerminal({ stdout: stderr, stderr, environment: {} }), {});
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const asking = confirm(context, "Terminate it?", { input, output: new PassThrough() });
  input.end(typed);
  return { yes: await asking, exit: context.exit, said };
}

describe("Q2 a question before something that can't be undone", () => {
  it.each(["y\n", "Yes\n"])("%j goes on", async (typed) => {
    expect(await answer(typed)).toEqual({ yes: true, exit: exitCodes.ok, said: "Terminate it?\n" });
  });

  it.each(["n\n", "\n", "yesterday\n", ""])("%j changes nothing, and is no mistake in the arguments", async (typed) => {
    expect(await answer(typed)).toEqual({
      yes: false,
      exit: exitCodes.refused,
      said: "Terminate it?\nNot confirmed. Nothing was changed.\n",
    });
  });

  it("Ctrl-C is an interruption and no defect", async () => {
    expect(await answer("\u0003")).toEqual({
      yes: false,
      exit: 130,
      said: "Terminate it?\nInterrupted. Nothing was changed.\n",
    });
  });
});
