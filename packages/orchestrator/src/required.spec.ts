import { describe, expect, it } from "vitest";
import { connectOrchestrator } from "./connect.js";
import { requireCertificate, requireMs, requireOptions, requireText } from "./required.js";

describe("Q2 what a caller without types left out", () => {
  it.each([
    [
      "options",
      () => {
        requireOptions(undefined);
      },
    ],
    [
      "options.timeoutMs",
      () => {
        requireMs(undefined, "options.timeoutMs");
      },
    ],
    [
      "options.graceMs",
      () => {
        requireMs(Number.NaN, "options.graceMs");
      },
    ],
    [
      "options.reason",
      () => {
        requireText("", "options.reason");
      },
    ],
    [
      "options.agent",
      () => {
        requireCertificate(undefined, "options.agent");
      },
    ],
    [
      "options.agent",
      () => {
        requireCertificate("agent.json", "options.agent");
      },
    ],
  ])("%s is told by its path", (path, check) => {
    expect(check).toThrow(expect.objectContaining({ code: "bad-argument", path }) as Error);
  });

  it("credentials in an environment variable that is not set", async () => {
    const connecting = connectOrchestrator({ credentials: { env: "CANDOR_NO_SUCH_VARIABLE" } });
    await expect(connecting).rejects.toMatchObject({ code: "not-found", path: "credentials" });
  });
});
