import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { streams, type DoubtPolicy } from "@candor/contract";
import { startPaymentService, type PaymentService } from "@candor/demo";
import { connectOrchestrator, type Delegation, type Fleet } from "@candor/orchestrator";
import { startPayer, type PayerProcess } from "../faults/payer-process.js";
import type { EffectPoint } from "../faults/effect-points.js";
import { candor } from "../kit/candor.js";
import { storedMessages } from "../kit/stored-messages.js";
import { startWorld, type GuardProcess, type World } from "../kit/world.js";

interface Case {
  readonly task: string;
  /** Where its payer waits when everything is killed. */
  readonly hold: NonNullable<EffectPoint["hold"]>;
  readonly inDoubt: DoubtPolicy;
  /** What comes after: a process with its spool, or a new epoch without. */
  readonly restart: "spool" | "epoch";
}

const cases: readonly Case[] = [
  { task: "begun", hold: "before", inDoubt: "halt", restart: "spool" },
  { task: "dispatched", hold: "dispatched", inDoubt: "reissue", restart: "spool" },
  { task: "paid", hold: "answered", inDoubt: "reissue", restart: "spool" },
  { task: "paid-epoch", hold: "answered", inDoubt: "probe", restart: "epoch" },
  { task: "settled", hold: "done", inDoubt: "halt", restart: "spool" },
  { task: "settled-epoch", hold: "done", inDoubt: "halt", restart: "epoch" },
];

/** The payment service alone lives on: it is somebody else's. */
describe("F7 Q1 everything is killed in the midst of effects: agents, guard, server and orchestrator", () => {
  let world: World;
  let guard: GuardProcess;
  let service: PaymentService;
  let fleet: Fleet | undefined;
  const payers: PayerProcess[] = [];

  beforeAll(async () => {
    world = await startWorld({ lanes: 2 });
    service = await startPaymentService();
    guard = await world.startGuard();
  });
  afterAll(async () => {
    for (const payer of payers) payer.kill();
    await fleet?.close();
    await service.close();
    await world.close();
  });

  const connect = (): Promise<Fleet> =>
    connectOrchestrator({
      servers: world.urls,
      credentials: world.folder("orchestrator", "fleet"),
      memoryDir: join(world.dir, "memory"),
    });

  function start(delegation: Delegation, spoolDir: string, hold?: Case["hold"]): PayerProcess {
    const tokenFile = join(world.dir, `${delegation.task}-${delegation.epoch}.token`);
    writeFileSync(tokenFile, delegation.token, { mode: 0o600 });
    const credentials = world.folder("agent", "payer");
    const job = { servers: world.urls, credentials, spoolDir, tokenFile, service: service.url };
    const payer = startPayer(hold === undefined ? job : { ...job, hold });
    payers.push(payer);
    return payer;
  }

  const verdictsStored = async (): Promise<string[]> => {
    const auditor = await world.connect("auditor", "auditor");
    const stored = await storedMessages(auditor, streams.verdicts, "candor.vd.>");
    return stored.map(({ subject, data }) => `${subject} ${Buffer.from(data).toString("base64")}`);
  };

  it("started again on the same folders each intent has one payment, its first result, and the verdicts are the log's", async () => {
    fleet = await connect();
    const run = await fleet.openRun();
    const optionsOf = ({ inDoubt }: Case) => ({
      agent: world.certificate("agent", "payer"),
      brief: { keyTasks: ["pay"] },
      intents: [{ name: "charge", target: "payments", inDoubt }],
    });
    const begun = [];
    for (const one of cases) {
      const delegation = await run.delegate({ task: one.task, ...optionsOf(one) });
      const spoolDir = mkdtempSync(join(world.dir, "spool-"));
      begun.push({ one, delegation, spoolDir, payer: start(delegation, spoolDir, one.hold) });
    }
    await Promise.all(begun.map(({ payer }) => payer.holds));
    expect(service.book().payments).toHaveLength(4);
    const before = await verdictsStored();

    for (const { payer } of begun) payer.kill();
    const [server] = world.nodes;
    await Promise.all([guard.kill("SIGKILL"), server?.kill("SIGKILL"), ...begun.map(({ payer }) => payer.ended)]);
    await fleet.close().catch(() => undefined);
    fleet = undefined;

    await server?.restart();
    guard = await world.startGuard();
    fleet = await connect();
    const attached = await fleet.attach(run.id);
    const ended = begun.map(async ({ one, delegation, spoolDir }) => {
      const isSame = one.restart === "spool";
      const again = isSame
        ? delegation
        : await attached.redelegate(one.task, { ...optionsOf(one), predecessor: "payer" });
      const payer = start(again, isSame ? spoolDir : mkdtempSync(join(world.dir, "spool-")));
      await payer.ended;
      return payer.words;
    });
    const words = await Promise.all(ended);

    for (const [index, { one, delegation }] of begun.entries()) {
      const key = delegation.intentKeys["charge"] ?? "";
      const payments = service.book().payments.filter((payment) => payment.key === key);
      expect([one.task, payments.map(({ state }) => state)]).toEqual([one.task, ["booked"]]);
      expect([one.task, words[index]]).toEqual([one.task, [`paid ${payments[0]?.id ?? ""}`]]);
      const decision = await attached.decision(one.task, { timeoutMs: 20_000 });
      expect([one.task, decision.kind === "decided" ? decision.action : decision.why]).toEqual([one.task, "proceed"]);
    }
    expect(service.book().payments).toHaveLength(cases.length);
    expect((await verdictsStored()).slice(0, before.length)).toEqual(before);
    const place = ["--server", world.urls.join(","), "--credentials", world.folder("auditor", "auditor")];
    const audit = await candor(["audit", "--all", ...place]);
    expect([audit.exit, audit.stdout]).toEqual([0, expect.stringMatching(/reproduced (\d+) of \1 verdicts/)]);
  });
});
