import { describe, expect, it } from "vitest";
import { requireAddresses } from "./server-address.js";

describe("addresses of servers", () => {
  it.each([
    "nats://127.0.0.1:4222",
    "127.0.0.1:4222",
    "localhost",
    "tls://nats.example.org",
    "nats://[::1]:4222",
    "[::1]",
    "nats://user:pass@host:4222",
    "nats://host:4222/",
  ])("takes %s", (server) => {
    expect(() => {
      requireAddresses([server]);
    }).not.toThrow();
  });

  it.each(["", " ", "http://x y", "http://host:80", "host:99999", "host:port", "nats://", "nats://a/b", "a,b:1"])(
    "refuses %j at once",
    (server) => {
      expect(() => {
        requireAddresses(["nats://good:4222", server]);
      }).toThrow(expect.objectContaining({ code: "bad-argument", path: "servers" }));
    },
  );

  it("wants one at least", () => {
    expect(() => {
      requireAddresses([]);
    }).toThrow(expect.objectContaining({ code: "bad-argument" }));
  });
});
