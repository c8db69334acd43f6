import { CandorError, errorCodes, exitCodes, type ErrorCode } from "@candor/contract";
import { CommanderError } from "commander";
import { describe, expect, it } from "vitest";
import { toFailure } from "./failure.js";

describe("Q2 what is said of an error", () => {
  it.each(Object.keys(errorCodes) as ErrorCode[])("%s keeps its code and exit code", (code) => {
    const failure = toFailure(new CandorError(code, "It went wrong here: do that."));
    expect(failure).toMatchObject({ code, message: "It went wrong here: do that.", exit: errorCodes[code].exit });
    expect(failure.json).toMatchObject({ code, action: errorCodes[code].action });
  });

  it("names path and details for programs, in a form that JSON holds", () => {
    const details = { winner: { seq: 3n, hash: Uint8Array.of(1, 255) }, cause: new CandorError("defect", "inner") };
    const { json } = toFailure(new CandorError("intent-lost", "Lost.", { path: "control", details }));
    expect(json).toMatchObject({
      path: "control",
      details: { winner: { seq: "3", hash: "01ff" }, cause: "inner" },
    });
  });

  it("makes one sentence of what commander says, and usage of its exit code", () => {
    const error = new CommanderError(1, "commander.unknownOption", "error: unknown option '--x'\n(Did you mean --y?)");
    expect(toFailure(error)).toMatchObject({
      code: "bad-argument",
      message: "unknown option '--x' (Did you mean --y?) See --help.",
      exit: exitCodes.usage,
    });
  });

  it("knows the file system's own errors", () => {
    const missing = Object.assign(new TypeError("no"), { code: "ENOENT", path: "/nowhere" });
    expect(toFailure(missing)).toMatchObject({ code: "bad-file" });
    expect(toFailure(missing).message).toContain("/nowhere");
  });

  it.each([["a text"], [undefined], [{}], [new TypeError("x\u001b[2J\nstack")]])(
    "has one safe line for anything else: %o",
    (thrown) => {
      const failure = toFailure(thrown);
      expect(failure).toMatchObject({ code: "defect", exit: exitCodes.defect });
      expect(failure.message).not.toMatch(/\p{Cc}/u);
      expect(failure.message).toContain("DEBUG=candor");
    },
  );
});
