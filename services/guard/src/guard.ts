import { CandorError, runTask, silentLogger, stateSubject, type Logger } from "@candor/contract";
import type { Bus } from "@candor/bus";
import { openLanePorts, type BusPorts } from "./bus-ports.js";
import { EvidenceCollector } from "./evidence-collector.js";
import { requireGuardIdentity, type GuardIdentity } from "./guard-identity.js";
import { LaneRunner } from "./lane-runner.js";
import { readQuery, type LaneView, type StateQuery } from "./lane-view.js";
import { startMicroService, type MicroService } from "./micro-service.js";
import { startSignatureThreads } from "./signature-threads.js";

/** Name under which `nats micro ls` lists guards. */
const serviceName = "candor-guard";
/** How often it is said which lanes can't be read yet. */
const reminderMs = 5_000;
const serviceVersion = "0.1.0";

/** A guard's own settings. No verdict depends on them. */
export interface GuardSettings {
  /** A checkpoint is taken every so many events of a lane; 1,000 by default. */
  readonly checkpointEvents: number;
  /** A checkpoint is taken after this long without an event; 1,000 ms by default. */
  readonly checkpointQuietMs: number;
  /** What another guard is given to publish a record or a timer first, while it leads; 20 ms by default. */
  readonly standbyMs: number;
  /** How often it looks for evidence whose retention is over; 60,000 ms by default. */
  readonly collectMs: number;
}

const defaultSettings: GuardSettings = {
  checkpointEvents: 1_000,
  checkpointQuietMs: 1_000,
  standbyMs: 20,
  collectMs: 60_000,
};

export interface GuardOptions {
  /** A connection in the role of a guard; it stays open when the guard stops. */
  readonly connection: Bus;
  readonly identity: GuardIdentity;
  /** Lanes to run; all by default. */
  readonly lanes?: readonly number[];
  /** Name in logs and in the state API; the identity's by default. */
  readonly name?: string;
  readonly logger?: Logger;
  readonly settings?: Partial<GuardSettings>;
}

export interface Guard {
  readonly lanes: readonly number[];
  /** The state of a lane, and of a task of it that is open; undefined for a lane that this guard does not run. */
  readonly view: (lane: number, query?: StateQuery) => LaneView | undefined;
  /** Resolves when every lane has halted, with the error of the first. */
  readonly ended: Promise<CandorError>;
  /** Stores what is decided, takes last checkpoints, and ends. */
  readonly stop: () => Promise<void>;
}

function requireOperator({ operator }: Bus, { operator: trusted }: GuardIdentity): void {
  if (operator === trusted) return;
  throw new CandorError(
    "streams-differ",
    `The streams name the operator ${operator ?? "nobody"} and this guard trusts ${trusted}: check the server's address and the credentials.`,
  );
}

function requireLanes(lanes: readonly number[], count: number): void {
  const wrong = lanes.find((lane) => !Number.isInteger(lane) || lane < 0 || lane >= count);
  if (wrong === undefined && lanes.length > 0) return;
  throw new CandorError("bad-argument", `A guard runs one or more lanes from 0 to ${count - 1}.`, { path: "lanes" });
}

/** Waits until no lane is left that runs. */
async function untilAllEnd(runners: readonly LaneRunner[]): Promise<CandorError> {
  const first = await Promise.race(runners.map((runner) => runner.ended));
  await Promise.all(runners.map((runner) => runner.ended));
  return first;
}

/** Waits until every lane is read, or will never be, and says from time to time which are not, and why. */
async function untilRead(runners: readonly LaneRunner[], logger: Logger): Promise<void> {
  const waiting = new Map(runners.map((runner) => [runner.lane, runner]));
  const remind = setInterval(() => {
    const lanes = [...waiting.keys()];
    const trouble = [...waiting.values()].find((runner) => runner.trouble !== undefined)?.trouble;
    logger.error({ lanes, code: trouble?.code }, `lanes can't be read yet: ${trouble?.message ?? "no answer"}`);
  }, reminderMs);
  try {
    await Promise.all(runners.map((runner) => runner.reading.then(() => waiting.delete(runner.lane))));
  } finally {
    clearInterval(remind);
  }
}

function serveState(
  connection: Bus,
  runners: readonly LaneRunner[],
  { name }: { readonly name: string },
): MicroService {
  return startMicroService(connection.nc, {
    name: serviceName,
    version: serviceVersion,
    description: "Folds lanes of the log and publishes verdicts.",
    metadata: { guard: name, lanes: runners.map(({ lane }) => lane).join(",") },
    endpoints: runners.map((runner) => ({
      name: `state-${runner.lane}`,
      subject: stateSubject(runner.lane),
      queueGroup: serviceName,
      answer: (request) => runner.view(readQuery(request)),
      figures: () => runner.view(),
    })),
  });
}

/**
 * Starts a guard on a connection. Any number of guards may run the same lanes. A lane whose log is not the one that its
 * checkpoint pins halts with a logged error, and the others go on.
 *
 * @returns once every lane is being read
 * @throws CandorError `untrusted-key` or `streams-differ` if the guard is not one of this operator's, `bad-argument` for
 *   lanes that are not there
 */
export async function startGuard(options: GuardOptions): Promise<Guard> {
  const { connection, identity, logger = silentLogger } = options;
  const { name = identity.name } = options;
  requireGuardIdentity(identity);
  requireOperator(connection, identity);
  const count = connection.lanes ?? 0;
  const lanes = options.lanes ?? Array.from({ length: count }, (_, lane) => lane);
  requireLanes(lanes, count);
  const { checkpointEvents, checkpointQuietMs, standbyMs, collectMs } = { ...defaultSettings, ...options.settings };
  const threads = await startSignatureThreads();
  const ports: BusPorts = openLanePorts({ link: connection, identity, logger, standbyMs, threads });
  const runners = lanes.map(
    (lane) =>
      new LaneRunner({
        lane,
        guard: name,
        operator: identity.operator,
        ports: ports.lane(lane),
        logger,
        everyEvents: checkpointEvents,
        quietMs: checkpointQuietMs,
        standbyMs,
      }),
  );
  const service = serveState(connection, runners, { name });
  await Promise.all(runners.map((runner) => runner.start()));
  await untilRead(runners, logger);
  const reading = runners.filter(({ halted }) => halted === undefined).length;
  const collector = new EvidenceCollector({
    link: connection,
    operator: identity.operator,
    laneCount: count,
    lanes: runners,
    readRun: (lane, run) => ports.lane(lane).readHistory({ run, task: runTask }, Number.MAX_SAFE_INTEGER),
    everyMs: collectMs,
    logger,
  });
  collector.start();
  logger.info({ lanes: reading, halted: runners.length - reading }, "guard is ready");
  return {
    lanes,
    view: (lane, query) => runners.find((runner) => runner.lane === lane)?.view(query),
    ended: untilAllEnd(runners),
    stop: async () => {
      service.stop();
      collector.stop();
      await Promise.all(runners.map((runner) => runner.stop()));
      ports.close();
      threads.close();
    },
  };
}
