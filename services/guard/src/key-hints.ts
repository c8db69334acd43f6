import type { AdmittedEvent, AdmittedOf } from "@candor/contract";

interface RunKeys {
  readonly fleet: Set<string>;
  readonly probers: Map<string, Set<string>>;
}

interface EpochKeys {
  readonly actor: string;
  readonly deployment: string;
  taskKey: string | undefined;
}

const maxRuns = 4_096;
const maxEpochs = 8_192;
/** More keys than this for one name are not tried ahead. */
const maxKeysEach = 4;

/** Keeps the last few entries of a map. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value, limit: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= limit) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

function addTo(keys: Set<string>, key: string): void {
  if (keys.size < maxKeysEach) keys.add(key);
}

/**
 * Which keys an event is likely to be signed with, from what was read but maybe not folded yet. Hints only: they say
 * what is worth verifying ahead, and the fold alone says which key is trusted.
 */
export class KeyHints {
  readonly #runs = new Map<string, RunKeys>();
  readonly #epochs = new Map<string, EpochKeys>();

  /** Takes in the keys that an event brings. */
  learn(entry: AdmittedEvent): void {
    if (entry.kind === "run-open") this.#learnRun(entry);
    else if (entry.kind === "key-added") this.#learnKey(entry);
    else if (entry.kind === "delegate") {
      const { actor, key: deployment } = entry.payload.agent;
      keep(this.#epochs, epochOf(entry), { actor, deployment, taskKey: undefined }, maxEpochs);
    } else if (entry.kind === "accept") {
      const epoch = this.#epochs.get(epochOf(entry));
      if (epoch?.actor === entry.event.actor) epoch.taskKey = entry.payload.taskKey;
    }
  }

  /** Keys that may have signed an intent of this run's fleet. */
  fleetKeys(entry: AdmittedEvent): Iterable<string> {
    return this.#runs.get(entry.event.run)?.fleet ?? [];
  }

  proberKeys(entry: AdmittedEvent): Iterable<string> {
    return this.#runs.get(entry.event.run)?.probers.get(entry.event.actor) ?? [];
  }

  /** The deployment identity and the task key of an agent's event; undefined if the epoch isn't its own. */
  agentKeys(entry: AdmittedEvent): EpochKeys | undefined {
    const epoch = this.#epochs.get(epochOf(entry));
    return epoch?.actor === entry.event.actor ? epoch : undefined;
  }

  #learnRun({ event, payload }: AdmittedOf<"run-open">): void {
    const probers = new Map(payload.probers.map(({ name, key }) => [name, new Set([key])]));
    keep(this.#runs, event.run, { fleet: new Set([payload.fleet.key]), probers }, maxRuns);
  }

  #learnKey({ event, payload }: AdmittedOf<"key-added">): void {
    const { role, name, key } = payload.certificate;
    const run = this.#runs.get(event.run);
    if (run === undefined) return;
    if (role === "orch") addTo(run.fleet, key);
    else if (role === "probe") addTo(run.probers.get(name) ?? newSet(run.probers, name), key);
  }
}

function newSet(map: Map<string, Set<string>>, name: string): Set<string> {
  const set = new Set<string>();
  map.set(name, set);
  return set;
}

function epochOf({ event: { run, task, epoch } }: AdmittedEvent): string {
  return `${run}/${task}/${epoch}`;
}
