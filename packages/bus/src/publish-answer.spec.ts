import type { Msg } from "@nats-io/transport-node";
import { describe, expect, it } from "vitest";
import { readAnswer, type PublishAnswer } from "./publish-answer.js";

function reply(text: string, code?: number): Msg {
  const headers = code === undefined ? undefined : { code };
  const message = { data: new TextEncoder().encode(text), headers, json: () => JSON.parse(text) as unknown };
  return message as unknown as Msg;
}

const refused = (number: number, description: string): string =>
  JSON.stringify({ stream: "S", seq: 0, error: { code: 400, err_code: number, description } });

describe("answers to a published message", () => {
  it.each<[string, Msg, PublishAnswer | Partial<PublishAnswer>]>([
    ["stored", reply('{"stream":"S","seq":7}'), { type: "stored", seq: 7 }],
    ["lost, with the last sequence", reply(refused(10071, "wrong last sequence: 42")), { type: "lost", last: 42 }],
    ["lost to an empty subject", reply(refused(10071, "wrong last sequence: 0")), { type: "lost", last: 0 }],
    ["collision", reply(refused(10164, "wrong last sequence")), { type: "collision" }],
    ["write-once", reply(refused(10077, "maximum messages per subject exceeded")), { type: "taken" }],
    ["stream full", reply(refused(10077, "maximum bytes exceeded")), { type: "later", code: "store-full" }],
    ["server full", reply(refused(10047, "insufficient storage resources")), { type: "later", code: "store-full" }],
    ["account full", reply(refused(10002, "resource limits exceeded")), { type: "later", code: "store-full" }],
    [
      "too large",
      reply(refused(10054, "message size exceeds maximum allowed")),
      { type: "refused", code: "too-large" },
    ],
    ["no leader", reply(refused(10008, "temporarily unavailable")), { type: "later", code: "server-unreachable" }],
    ["nobody there", reply("", 503), { type: "later", code: "server-unreachable" }],
    ["a number we don't know", reply(refused(19999, "new")), { type: "refused", code: "server-failed" }],
    ["no answer at all", reply(""), { type: "silence" }],
    ["not JSON", reply("+OK"), { type: "silence" }],
    ["JSON of another kind", reply('{"ok":true}'), { type: "silence" }],
  ])("%s", (_, message, answer) => {
    expect(readAnswer(message)).toMatchObject(answer);
  });
});
