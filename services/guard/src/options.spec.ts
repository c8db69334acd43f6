import { describe, expect, it } from "vitest";
import { readOptions } from "./options.js";

describe("options of the guard", () => {
  it("takes the command line before the environment", () => {
    const env = { CANDOR_CREDENTIALS: "/e", CANDOR_SERVERS: "nats://a:1, nats://b:2", CANDOR_LANES: "1" };
    expect(readOptions([], env)).toMatchObject({
      credentials: "/e",
      servers: ["nats://a:1", "nats://b:2"],
      lanes: "1",
      logLevel: "info",
      parentWatch: false,
    });
    expect(readOptions(["--credentials", "/c", "--lanes", "all", "--parent-watch"], env)).toMatchObject({
      credentials: "/c",
      lanes: "all",
      parentWatch: true,
    });
  });

  it.each([
    [[], "credentials"],
    [["--credentials", "x", "--log-level", "loud"], "log-level"],
    [["--credentials", "x", "--nonsense"], "options"],
    [["--credentials"], "options"],
  ])("Q2 refuses %j and says where", (args, path) => {
    expect(() => readOptions(args, {})).toThrow(expect.objectContaining({ code: "bad-argument", path }));
  });

  it("needs no credentials to show its help", () => {
    expect(readOptions(["--help"], {})).toMatchObject({ help: true });
  });
});
