import { apiRequest, checkStreams, type Bus } from "@candor/bus";
import { isCandorError, streams } from "@candor/contract";
import { formatDuration } from "../duration.js";
import { askLanes, type LaneState } from "../embedded/guard-ready.js";
import { bytes } from "../output/bytes.js";
import { fail, ok, warn, type Check } from "./check.js";

const worstClockMs = 5_000;
/** A guard that has this many messages before it is late, not busy. */
const worstLag = 10_000;

/** Difference of the clocks: half of what the answer took is the error of it. */
async function checkClock({ nc, apiPrefix }: Bus): Promise<Check> {
  const what = "clock";
  const before = Date.now();
  const answer = await apiRequest(nc, `${apiPrefix}.STREAM.INFO.${streams.verdicts}`, undefined, 5_000);
  const tookMs = Date.now() - before;
  const theirs = answer.ok ? Date.parse(String(answer.body["ts"])) : Number.NaN;
  if (Number.isNaN(theirs)) return warn(what, "the server does not tell its time", "Compare the clocks yourself.");
  const offMs = theirs - (before + tookMs / 2);
  const found = `${formatDuration(Math.abs(offMs))} ${offMs < 0 ? "behind" : "ahead of"} ours, answered in ${formatDuration(tookMs)}`;
  return Math.abs(offMs) < worstClockMs
    ? ok(what, `server ${found}`)
    : warn(what, `server ${found}`, "Set both clocks (NTP): deadlines count in the server's time.");
}

async function checkStore({ nc, apiPrefix }: Bus): Promise<Check | undefined> {
  const answer = await apiRequest(nc, `${apiPrefix}.INFO`, undefined, 5_000).catch(() => undefined);
  if (answer?.ok !== true) return undefined;
  const used = Number(answer.body["storage"]);
  const limits = answer.body["limits"] as Readonly<Record<string, number>> | undefined;
  const most = limits?.["max_storage"] ?? -1;
  if (most <= 0) return ok("store", `${bytes(used)}, no limit of its own`);
  const found = `${bytes(used)} of ${bytes(most)}`;
  return used < most * 0.8
    ? ok("store", found)
    : warn("store", found, "Raise the limit before nothing more is stored.");
}

async function checkStreamSettings(
  { nc }: Bus,
  operator: string,
): Promise<{ readonly check: Check; readonly lanes?: number }> {
  try {
    const { changes, lanes, replicas } = await checkStreams(nc, { operator });
    const check =
      changes.length === 0
        ? ok("streams", `${lanes} lanes, ${replicas} ${replicas === 1 ? "replica" : "replicas"}`)
        : fail("streams", `${changes.length} settings differ`, '"candor streams apply" shows and mends them.');
    return { check, lanes };
  } catch (error) {
    if (!isCandorError(error)) throw error;
    return { check: fail("streams", error.code, error.message) };
  }
}

function laneList(lanes: readonly number[]): string {
  return lanes.length > 8 ? `${lanes.slice(0, 8).join(", ")}, …` : lanes.join(", ");
}

/** Every lane has a guard that goes on and keeps up. */
function checkGuards(states: readonly LaneState[], lanes: number): readonly Check[] {
  const what = "guard";
  const there = new Set(states.map(({ lane }) => lane));
  const alone = Array.from({ length: lanes }, (_, lane) => lane).filter((lane) => !there.has(lane));
  const checks: Check[] = [];
  if (alone.length > 0) {
    const which = alone.length === lanes ? "nobody runs any lane" : `nobody runs lanes ${laneList(alone)}`;
    checks.push(
      fail(what, which, 'Start one ("candor up", or the guard of your deployment): nothing is judged without.'),
    );
  }
  for (const { lane, halted } of states) {
    if (halted !== undefined) checks.push(fail(`guard, lane ${lane}`, halted.code, halted.message));
  }
  const late = states.filter(({ lag }) => lag > worstLag);
  if (late.length > 0) {
    const most = Math.max(...late.map(({ lag }) => lag));
    checks.push(
      warn(
        what,
        `up to ${most} messages behind on lanes ${laneList(late.map(({ lane }) => lane))}`,
        "Wait, or start another guard for these lanes.",
      ),
    );
  }
  if (checks.length > 0) return checks;
  const names = [...new Set(states.map(({ guard }) => guard))].join(", ");
  const open = states.reduce((sum, { openTasks }) => sum + openTasks, 0);
  return [ok(what, `${names}: all ${lanes} lanes, ${open} open tasks`)];
}

/** What can be seen of the server and its guards over a connection of the operator or an auditor. */
export async function checkServer(bus: Bus, operator: string): Promise<readonly Check[]> {
  const checks: Check[] = [ok("server", `${bus.nc.getServer()}, nats-server ${bus.serverVersion}, JetStream on`)];
  let { lanes } = bus;
  if (bus.identity.role === "operator") {
    const settings = await checkStreamSettings(bus, operator);
    lanes = settings.lanes;
    checks.push(settings.check);
    const store = await checkStore(bus);
    if (store !== undefined) checks.push(store);
  }
  checks.push(await checkClock(bus));
  if (lanes !== undefined) checks.push(...checkGuards(await askLanes(bus, lanes, 1_000), lanes));
  return checks;
}
