import { describe, expect, it } from "vitest";
import { essence, serverFailure } from "./server-log.js";

const log = (line: string): string => `[1] 2026/01/01 10:00:00.000000 [INF] Starting nats-server\n${line}\n`;

describe("Q2 what a server said before it ended", () => {
  it.each([
    [
      '[1] 2026/01/01 10:00:00.0 [FTL] Error listening on port: 1, "listen tcp: bind: address already in use"',
      "port-taken",
    ],
    ["[1] 2026/01/01 10:00:00.0 [FTL] Can't start JetStream: mkdir /x: permission denied", "folder-not-writable"],
    ["[1] 2026/01/01 10:00:00.0 [FTL] Can't start JetStream: write /x: no space left on device", "store-full"],
    ['nats-server: /x/server.conf:3:1: unknown field "nonsense"', "server-failed"],
    ["", "server-failed"],
  ] as const)("%s: %s", (line, code) => {
    const failure = serverFailure(log(line), "/x/server.log", "ended at once");
    expect(failure).toMatchObject({ code });
    expect(failure.message).toContain("/x/server.log");
    expect(failure.message).toContain(line === "" ? "no reason" : essence(log(line)));
  });

  it("is told once, without process id, time and level", () => {
    const line = "[7] 2026/01/01 10:00:00.000000 [ERR] it broke";
    expect(essence(`${log(line)}${line}\n`)).toBe("it broke");
  });
});
