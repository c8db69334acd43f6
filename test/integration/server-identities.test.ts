import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Bus } from "@candor/bus";
import { writeAuthorization } from "@candor/bus/server";
import { CandorError } from "@candor/contract";
import { startServer, type TestServer } from "../kit/start-server.js";

describe("B7 identities of a running server", () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startServer();
  });
  afterEach(() => server.close());
  const roles = ["operator", "guard", "prober", "orchestrator", "agent", "auditor"] as const;

  it("a new one is taken up, no connection is dropped, and everybody goes on as before", async () => {
    const buses = new Map(await Promise.all(roles.map(async (role) => [role, await server.connect(role)] as const)));
    const as = (role: (typeof roles)[number]): Bus => {
      const bus = buses.get(role);
      if (bus === undefined) throw new CandorError("defect", `${role} is not connected.`);
      return bus;
    };
    const interruptions: string[] = [];
    for (const { nc, identity } of buses.values()) {
      void (async () => {
        for await (const { type } of nc.status()) interruptions.push(`${identity.role} ${type}`);
      })();
    }
    const seen: string[] = [];
    const listen = ({ nc, identity }: Bus): void => {
      nc.subscribe("candor.live.log.*.*.*.orch.*.intent", { callback: () => void seen.push(identity.name) });
    };
    listen(as("agent"));
    const clientIds = [...buses.values()].map(({ nc }) => nc.info?.client_id);

    let isReloaded = false;
    let acknowledged = 0;
    let failed = 0;
    const publish = (): Promise<unknown> => as("agent").nc.request("candor.in.agent.a1.r.t.error", "");
    const publishing = (async () => {
      const isDone = (): boolean => isReloaded && acknowledged > 20;
      while (!isDone()) {
        await publish().then(
          () => acknowledged++,
          () => failed++,
        );
      }
    })();
    await server.addIdentity("agent", "late");
    isReloaded = true;
    await publishing;
    // Each of the two reloads may catch a request or two.
    expect(failed).toBeLessThanOrEqual(8);

    const late = await server.connect("agent", "late");
    listen(late);
    await late.nc.flush();
    expect((await late.nc.request("candor.in.agent.late.r.t.error", "")).string()).toContain("CANDOR_LOG");
    await as("orchestrator").nc.request("candor.in.orch.f1.r.t.intent", "");
    await expect.poll(() => [...seen].sort()).toEqual(["a1", "late"]);
    const consumer = await as("auditor").js.consumers.get("CANDOR_LOG", {
      filter_subjects: "candor.log.>",
    });
    expect((await consumer.next({ expires: 2_000 }))?.subject).toContain("agent.a1.error");
    expect(interruptions).toEqual([]);
    expect([...buses.values()].map(({ nc }) => nc.info?.client_id)).toEqual(clientIds);
    const { state } = await as("operator").jsm.streams.info("CANDOR_LOG");
    expect(state.messages).toBeGreaterThanOrEqual(acknowledged + 2);
  });

  it("one that is taken away loses its connection, and the others keep theirs", async () => {
    const [gone, kept] = [await server.connect("agent", "a1"), await server.connect("agent", "a2")];
    await writeAuthorization(
      server.dir,
      server.identities.filter(({ name }) => name !== "a1"),
    );
    await server.server.reload();
    await expect(gone.nc.closed()).resolves.toBeInstanceOf(Error);
    await expect(server.connect("agent", "a1")).rejects.toMatchObject({ code: "permission-denied" });
    expect((await kept.nc.request("candor.in.agent.a2.r.t.error", "")).string()).toContain("CANDOR_LOG");
  });

  it("a broken file is refused, and the server goes on with the old one", async () => {
    await writeFile(join(server.dir, "auth.conf"), "accounts { broken");
    await expect(server.server.reload()).rejects.toMatchObject({ code: "server-failed" });
    expect((await server.connect("agent")).identity.role).toBe("agent");
  });
});
