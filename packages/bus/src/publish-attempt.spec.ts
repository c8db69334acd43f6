import { describe, expect, it } from "vitest";
import { publishHeaders } from "./publish-attempt.js";

describe("R2 headers of a publish", () => {
  it("name what must be last, beside others", () => {
    const headers = publishHeaders({ sequence: 7, subject: "candor.log.0.r.t.orch.f.intent" }, { "X-Other": "y" });
    expect(headers?.get("Nats-Expected-Last-Subject-Sequence")).toBe("7");
    expect(headers?.get("Nats-Expected-Last-Subject-Sequence-Subject")).toBe("candor.log.0.r.t.orch.f.intent");
    expect(headers?.get("X-Other")).toBe("y");
    expect(publishHeaders({ sequence: 0 }, undefined)?.keys()).toEqual(["Nats-Expected-Last-Subject-Sequence"]);
  });

  it("are none where there is nothing to say", () => {
    expect(publishHeaders(undefined, undefined)).toBeUndefined();
    expect(publishHeaders(undefined, {})).toBeUndefined();
  });

  it("refuse a subject of several lines, which would add a header", () => {
    const subject = "a\r\nNats-Rollup: all";
    expect(() => publishHeaders({ sequence: 0, subject }, undefined)).toThrow(
      expect.objectContaining({ code: "bad-argument" }),
    );
  });
});
