import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redact } from "./redact.js";
import { createSeed } from "./signature/signer.js";

// Put together here, so that no scanner takes this file for a leak.
const body = "Zk3".repeat(20);
const join = (...parts: readonly string[]): string => parts.join("");

describe("redaction", { timeout: 60_000 }, () => {
  it.each([
    ["private-key", join("-----BEGIN RSA PRIVATE", " KEY-----\nMIIB\nabc\n-----END RSA PRIVATE", " KEY-----"), ""],
    ["private-key", join("-----BEGIN PRIVATE", " KEY-----\nMIIB cut off"), ""],
    ["delegation-token", join("candor1", ".", body), ""],
    ["jwt", join("eyJ", "hbGciOiJIUzI1NiJ9", ".", body, ".", body), ""],
    ["nkey-seed", createSeed(), ""],
    ["url-password", "hunter22", "postgres://ada:|@db.example/x"],
    ["aws-key", join("AKIA", "IOSFODNN7EXAMPLE"), ""],
    ["google-key", join("AIza", body.slice(0, 35)), ""],
    ["google-token", join("ya29", ".", body), ""],
    ["azure-key", join(body, "=="), "AccountKey=|"],
    ["github-token", join("ghp", "_", body.slice(0, 36)), ""],
    ["github-token", join("github", "_pat_", body.slice(0, 40)), ""],
    ["gitlab-token", join("glpat", "-", body.slice(0, 20)), ""],
    ["slack-token", join("xoxb", "-123456789012-", body.slice(0, 20)), ""],
    ["slack-webhook", join("T0000/B000/", body.slice(0, 20)), "https://hooks.slack.com/services/|"],
    ["stripe-key", join("sk", "_live_", body.slice(0, 24)), ""],
    ["api-key", join("sk", "-ant-api03-", body), ""],
    ["npm-token", join("npm", "_", body.slice(0, 36)), ""],
    ["huggingface-token", join("hf", "_", body.slice(0, 34)), ""],
    ["sendgrid-key", join("SG", ".", body.slice(0, 22), ".", body.slice(0, 43)), ""],
    ["authorization", body, "Authorization: Bearer |"],
    ["authorization", join(body, "=="), "authorization: basic |"],
    ["secret", "hunter22", "password=|"],
    ["secret", "hunter22", "DB_PASSWORD: |"],
    ["secret", "correct horse", '{"client_secret": "|", "n": 1}'],
    ["secret", "abcdef123", "https://x.example/?api_key=|&page=2"],
    ["secret", "it is me", "passphrase = '|'"],
  ])("Q5 takes out a %s", (kind, secret, around) => {
    const [before = "", after = ""] = around === "" ? ["see ", " there"] : around.split("|");
    const text = `x ${before}${secret}${after} y`;
    expect(redact(text)).not.toContain(secret);
    expect(redact(text)).toContain(`[redacted:${kind}]`);
    expect(redact(text).startsWith(`x ${before}`)).toBe(true);
  });

  it.each([
    "The token bucket is empty; retry after 3 s.",
    "upstream inventory-db: 429 Too Many Requests",
    "see https://example.com/a:b@c and http://localhost:4222/x",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "SELECT * FROM users WHERE password IS NULL",
    "run r-0f3a, task payer, epoch 2",
    "U".repeat(56),
  ])("leaves %j alone", (text) => {
    expect(redact(text)).toBe(text);
  });

  it("changes nothing the second time", () => {
    const texts = [
      "password=hunter22",
      "Bearer abcdefghijklmnopqrstuvwxyz",
      "postgres://ada:hunter22@db",
      createSeed(),
    ];
    for (const text of texts) expect(redact(redact(text))).toBe(redact(text));
  });

  it("never throws, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(typeof redact(text)).toBe("string");
      }),
    );
  });

  it.each([
    "eyJaaaaaaaa-",
    "eyJaaaaaaaa.aaaaaaaa",
    "-----BEGIN PRIVATE KEY-----",
    "a://b:c",
    "password=",
    "password='",
    'secret: "',
    "Bearer ",
    "sk-",
    "SG.aaaaaaaaaaaaaaaaa.",
    "aws_secret",
    "A",
    "_",
  ])("takes linear time on many times %j", (part) => {
    const text = part.repeat(Math.ceil(200_000 / part.length));
    const start = process.cpuUsage();
    redact(text);
    // Quadratic time would be minutes; processor time is not stretched by what else the machine does.
    expect(process.cpuUsage(start).user / 1e6).toBeLessThan(3);
  });
});
