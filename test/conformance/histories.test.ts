import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { zeroHash } from "@candor/contract";
import { describe, expect, it } from "vitest";
import { foldHistory, formatHistory, parseHistory } from "../kit/history.js";
import { acceptedTask, operator, type Scenario } from "../kit/scenario.js";

const folder = fileURLToPath(new URL("../histories/", import.meta.url));

/** What was frozen, by name. A history is only ever added: name it here and run this file once with CANDOR_FREEZE=1. */
const frozen: Readonly<Record<string, () => Scenario>> = {
  "v1-disclosure": () => {
    const scenario = acceptedTask({ brief: { critical: true } });
    scenario.retry("t1", 2, scenario.error());
    scenario.outcome("t1", scenario.dispatch());
    scenario.report();
    scenario.probe("confirmed");
    scenario.probe("contradicted", { seq: 2, prev: zeroHash });
    scenario.close("t1");
    scenario.error();
    return scenario;
  },
  "v1-recall": () => {
    const scenario = acceptedTask();
    const dispatch = scenario.dispatch();
    scenario.stop("t1", "recall");
    scenario.stop("t1", "recall");
    const manifest = [{ dispatch, intent: "charge", key: "key-charge", target: "payments" }];
    scenario.agent("t1", "acknowledge", { control: 2, takenAt: dispatch, manifest });
    scenario.tick(10_000);
    scenario.outcome("t1", dispatch);
    scenario.delegate();
    scenario.dispatch("t1", "charge", { epoch: 1 });
    scenario.error("t1");
    return scenario;
  },
  "v1-quarantine": () => {
    const scenario = acceptedTask();
    const at = { task: "t1", actor: "other", epoch: 1, seq: 1, prev: zeroHash };
    scenario.event("error", scenario.errorPayload(), at);
    scenario.event("error", scenario.errorPayload(), { ...at, actor: "agent", epoch: 9 });
    scenario.store("candor.log.0.r1.t1.agent.agent.error", Uint8Array.of(0, 0xc1));
    scenario.intent("_run", "run-close", { state: "failed" });
    return scenario;
  },
  "v1-gaps": () => {
    const scenario = acceptedTask();
    scenario.report();
    scenario.stop("t1", "recall");
    const takenAt = scenario.author("t1").seq - 1;
    const missing = scenario.record("t1", "no-side-effects", { control: 2, takenAt });
    scenario.agent("t1", "acknowledge", { control: 2, takenAt, manifest: [] });
    missing.store();
    scenario.record("t1", "error", scenario.errorPayload());
    scenario.error();
    scenario.tick(2_000).tick(10_000);
    scenario.intent("_run", "run-close", { state: "completed" });
    scenario.delegate();
    return scenario;
  },
  "v1-outcomes": () => {
    const scenario = acceptedTask({ mode: "observe" });
    const dispatch = scenario.dispatch();
    scenario.outcome("t1", dispatch, "in-doubt");
    scenario.outcome("t1", scenario.dispatch("t1", "unminted"), "committed", "unminted");
    const { effects } = scenario.reportPayload();
    scenario.report("t1", { effects: effects.map((effect) => ({ ...effect, phase: "committed" })) });
    scenario.delegate().accept();
    scenario.stop("t1", "recall");
    scenario.outcome("t1", dispatch, "not-run", "charge", 1);
    scenario.outcome("t1", dispatch, "committed", "charge", 1);
    scenario.probe("contradicted", { epoch: 1 });
    scenario.tick(5_000);
    return scenario;
  },
};

describe("B1 B8 frozen histories", () => {
  for (const [name, play] of Object.entries(frozen)) {
    const file = join(folder, `${name}.log`);
    if (existsSync(file) || process.env["CANDOR_FREEZE"] !== "1") continue;
    const { log: messages } = play();
    const history = { operator: operator.publicKey, lane: 0, messages };
    writeFileSync(file, formatHistory({ ...history, records: foldHistory(history) }));
  }
  const names = readdirSync(folder).filter((name) => name.endsWith(".log"));

  it("none that was ever frozen is missing", () => {
    expect(names).toEqual(expect.arrayContaining(Object.keys(frozen).map((name) => `${name}.log`)));
  });

  it.each(names)("%s replays to the records that it was frozen with, byte for byte", (name) => {
    const history = parseHistory(readFileSync(join(folder, name), "utf8"));
    expect(history.records.length).toBeGreaterThan(2);
    expect(foldHistory(history)).toEqual(history.records);
  });

  it("a changed byte of a frozen log is noticed", () => {
    const history = parseHistory(readFileSync(join(folder, "v1-recall.log"), "utf8"));
    const messages = history.messages.map((message, i) => {
      const data = Uint8Array.from(message.data);
      if (i === 3) data[data.length - 1] = (data.at(-1) ?? 0) ^ 1;
      return { ...message, data };
    });
    expect(foldHistory({ ...history, messages })).not.toEqual(history.records);
  });
});
