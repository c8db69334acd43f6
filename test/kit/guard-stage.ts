import { startGuard, type Guard, type GuardIdentity, type GuardOptions, type GuardSettings } from "@candor/guard";
import { applyStreams, isConnected, Publisher, type Bus } from "@candor/bus";
import {
  decodeQuarantineBody,
  decodeSigned,
  decodeVerdictBody,
  laneOf,
  parseStoredSubject,
  parseVerdictSubject,
  streams,
  type Logger,
  type QuarantineBody,
  type StoredMessage,
  type VerdictBody,
} from "@candor/contract";
import { createSigner, issueCertificate } from "@candor/ledger";
import { keys, Scenario } from "./scenario.js";
import { startServer, type StartServerOptions, type TestServer } from "./start-server.js";

/** A server whose operator, fleet, agent and prober are those of the scenarios, so that their events can be published. */
export interface GuardStage {
  readonly server: TestServer;
  readonly lanes: number;
  /** Starts a guard in this process. */
  readonly guard: (name?: string, options?: Partial<GuardOptions>) => Promise<Guard>;
  readonly guardIdentity: (name: string) => GuardIdentity;
  /** Publishes the log of a scenario from where the last call left off, one message after the other. */
  readonly play: (scenario: Scenario) => Promise<void>;
  /** Publishes one message of a log. */
  readonly publish: (message: Pick<StoredMessage, "subject" | "data">) => Promise<void>;
  readonly verdicts: (run?: string) => Promise<StoredVerdict[]>;
  readonly quarantined: () => Promise<QuarantineBody[]>;
  /** Everything on the verdict stream. */
  readonly records: () => Promise<StoredMessage[]>;
  /** Waits until a run has so many verdicts. */
  readonly untilVerdicts: (run: string, count: number) => Promise<StoredVerdict[]>;
  readonly operator: Bus;
  /** Stops every guard that was started here. */
  readonly stopGuards: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface StoredVerdict extends VerdictBody {
  readonly guard: string;
}

const actors = {
  orch: ["orchestrator", "fleet"],
  agent: ["agent", "agent"],
  probe: ["prober", "prober"],
  guard: ["guard", "g1"],
} as const;

/** Settings with which a test does not wait for seconds. */
export const quickSettings: Partial<GuardSettings> = { checkpointEvents: 1_000, checkpointQuietMs: 100, standbyMs: 20 };

/** Repeats until the condition holds; the test's own time limit ends it otherwise. */
export async function until<T>(condition: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** All messages of a stream in order. */
async function readStream(operator: Bus, stream: string): Promise<StoredMessage[]> {
  await until(() => isConnected(operator.nc));
  const { state } = await operator.jsm.streams.info(stream);
  const found: StoredMessage[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq && state.messages > 0; seq += 1) {
    const message = await operator.jsm.streams.getMessage(stream, { seq });
    if (message === null) continue;
    found.push({ seq, timeMs: message.time.getTime(), subject: message.subject, data: message.data });
  }
  return found;
}

export async function startGuardStage(
  options: StartServerOptions & { readonly logger?: Logger } = {},
): Promise<GuardStage> {
  const { lanes = 4, logger } = options;
  const server = await startServer({
    ...options,
    provisioned: false,
    identities: { orchestrator: ["fleet"], agent: ["agent", "other"], prober: ["prober"], ...options.identities },
  });
  const operator = await server.connect("operator", undefined, { provisioned: false });
  await applyStreams(operator.nc, {
    operator: keys.operator.publicKey,
    lanes,
    replicas: options.nodes ?? 1,
  });
  const published = new WeakMap<Scenario, number>();
  const publishers = new Map<string, Promise<Publisher>>();
  const publisherOf = (role: keyof typeof actors, actor: string): Promise<Publisher> => {
    const [identityRole, name] = actors[role];
    const key = `${role} ${actor}`;
    const known =
      publishers.get(key) ??
      server.connect(identityRole, role === "agent" ? actor : name).then((bus) => new Publisher(bus));
    publishers.set(key, known);
    return known;
  };

  const publish: GuardStage["publish"] = async ({ subject, data }) => {
    const address = parseStoredSubject(subject);
    if (address === undefined) return;
    const { role, actor, run, task, kind } = address;
    const publisher = await publisherOf(role, actor);
    await publisher.publish({ subject: `candor.in.${role}.${actor}.${run}.${task}.${kind}`, bytes: data });
  };
  const records = (): Promise<StoredMessage[]> => readStream(operator, streams.verdicts);

  const verdicts: GuardStage["verdicts"] = async (run) => {
    const found = (await records()).filter(({ subject }) => parseVerdictSubject(subject) !== undefined);
    const bodies = found.map(({ data }) => {
      const { body, certificate } = decodeSigned(data);
      return { ...decodeVerdictBody(body), guard: certificate.name };
    });
    return bodies.filter((body) => run === undefined || body.run === run);
  };
  const guards: Guard[] = [];

  const guardIdentity = (name: string): GuardIdentity => {
    const signer = createSigner(server.identity("guard", name).signingSeed);
    const certificate = issueCertificate(keys.operator, { role: "guard", name, key: signer.publicKey });
    return { name, signer, certificate, operator: keys.operator.publicKey };
  };

  return {
    server,
    lanes,
    guardIdentity,
    operator,
    publish,
    records,
    play: async (scenario) => {
      for (const message of scenario.log.slice(published.get(scenario) ?? 0)) await publish(message);
      published.set(scenario, scenario.log.length);
    },
    guard: async (name = "g1", more = {}) => {
      const connection = await server.connect("guard", name);
      const guard = await startGuard({
        connection,
        identity: guardIdentity(name),
        settings: quickSettings,
        ...(logger === undefined ? {} : { logger }),
        ...more,
      });
      guards.push(guard);
      return guard;
    },
    verdicts,
    untilVerdicts: (run, count) =>
      until(async () => {
        const found = await verdicts(run);
        return found.length >= count && found;
      }),
    quarantined: async () => {
      const found = (await records()).filter(({ subject }) => subject.startsWith("candor.quarantine."));
      return found.map(({ data }) => decodeQuarantineBody(decodeSigned(data).body));
    },
    stopGuards: async () => {
      await Promise.all(guards.splice(0).map((guard) => guard.stop()));
    },
    close: () => server.close(),
  };
}

/** Honest tasks, each from its delegation to its report, with an error on the way that a retry recovers. */
export function honestTask(run: string, tasks: readonly string[] = ["t1"]): Scenario {
  const scenario = new Scenario({ run }).open();
  for (const task of tasks) {
    scenario.delegate(task).accept(task);
    const failed = scenario.error(task);
    scenario.retry(task, 2, failed);
    scenario.report(task);
  }
  return scenario;
}

type Gist = Pick<VerdictBody, "task" | "judge" | "ordinal" | "verdict" | "action" | "final">;

/** What a reader acts on, by subject and number. */
export function gist(verdicts: readonly Gist[]): Gist[] {
  const place = ({ task, judge, ordinal }: Gist): string => `${task} ${judge} ${String(ordinal).padStart(6)}`;
  return verdicts
    .map(({ task, judge, verdict, action, final, ordinal }) => ({ task, judge, ordinal, verdict, action, final }))
    .sort((a, b) => place(a).localeCompare(place(b)));
}

/** The lane that a run of a stage with so many lanes is in. */
export function laneOfRun(stage: Pick<GuardStage, "lanes">, run: string): number {
  return laneOf(run, stage.lanes);
}
