import type { NatsConnection } from "@nats-io/transport-node";
import { CandorError, silentLogger, streams, type Logger } from "@candor/contract";
import { apiRequest, refusal, streamNotFound } from "./jetstream-api.js";
import { serverApiPrefix } from "./roles.js";
import { requireVersion } from "./server/version.js";
import { lanesOf, metadataOf, streamDocuments, type StreamDocument, type StreamSettings } from "./stream-documents.js";
import { planStreams, type StreamChange } from "./stream-plan.js";

const defaultLanes = 16;

/** What is asked for; lanes and replicas that are not stay as they are, or become 16 and 1. */
export interface ProvisioningOptions {
  readonly operator: string;
  readonly lanes?: number;
  readonly replicas?: number;
  readonly logger?: Logger;
}

export interface ProvisioningReport extends StreamSettings {
  readonly changes: readonly StreamChange[];
}

/** A stream's configuration as the server states it, undefined if there is no such stream. */
async function readStream(nc: NatsConnection, name: string): Promise<StreamDocument | undefined> {
  const answer = await apiRequest(nc, `${serverApiPrefix}.STREAM.INFO.${name}`);
  if (answer.ok) return answer.body["config"] as StreamDocument;
  if (answer.failure.errCode === streamNotFound) return undefined;
  throw refusal(answer.failure, `describe the stream ${name}`);
}

async function readStreams(nc: NatsConnection): Promise<StreamDocument[]> {
  const found = await Promise.all(Object.values(streams).map((name) => readStream(nc, name)));
  return found.filter((stream) => stream !== undefined);
}

function settle(existing: readonly StreamDocument[], options: ProvisioningOptions): StreamSettings {
  const log = existing.find(({ name }) => name === streams.log) ?? existing[0];
  const replicas = Number(log?.["num_replicas"] ?? 1);
  return {
    operator: options.operator,
    lanes: options.lanes ?? (log === undefined ? undefined : lanesOf(log)) ?? defaultLanes,
    replicas: options.replicas ?? replicas,
  };
}

function describe(change: StreamChange): string {
  return `${change.stream} ${change.field} is ${JSON.stringify(change.from)} instead of ${JSON.stringify(change.to)}`;
}

/** The error for streams that are not as they should be. */
export function streamsDiffer(changes: readonly StreamChange[], advice: string): CandorError {
  return new CandorError("streams-differ", `${changes.map(describe).join("; ")}. ${advice}`, { details: { changes } });
}

async function write(nc: NatsConnection, verb: "CREATE" | "UPDATE", stream: StreamDocument): Promise<StreamDocument> {
  const answer = await apiRequest(nc, `${serverApiPrefix}.STREAM.${verb}.${stream.name}`, stream);
  if (!answer.ok) throw refusal(answer.failure, `${verb.toLowerCase()} the stream ${stream.name}`);
  return answer.body["config"] as StreamDocument;
}

/**
 * Compares the streams on the server with the files in `streams/`, and changes nothing.
 *
 * @throws CandorError `not-provisioned` if there are none at all
 */
export async function checkStreams(nc: NatsConnection, options: ProvisioningOptions): Promise<ProvisioningReport> {
  const existing = await readStreams(nc);
  if (existing.length === 0) throw notProvisioned();
  const settings = settle(existing, options);
  return { ...settings, changes: planStreams(existing, streamDocuments(settings)) };
}

/** A server of its own takes a request for replicas, and never answers it. */
function requireCluster(nc: NatsConnection, replicas = 1): void {
  if (replicas === 1 || nc.info?.cluster !== undefined) return;
  throw new CandorError(
    "bad-argument",
    `The server at ${nc.getServer()} is not one of a cluster, so it can't keep ${replicas} replicas: ask for 1, or name a cluster.`,
    { path: "replicas" },
  );
}

/** The error for a server without our streams. */
export function notProvisioned(cause?: unknown): CandorError {
  return new CandorError(
    "not-provisioned",
    'The server has no Candor streams yet: the operator makes them with "candor streams apply".',
    { cause },
  );
}

/**
 * Makes the streams, or changes what may be changed, so that they are like the files in `streams/`.
 * With `dryRun` it only tells. A second call finds nothing to do.
 *
 * @returns what it changed, or would change
 * @throws CandorError `streams-differ` if something differs that can't be changed, like the number of lanes or the
 *   operator's key, or if the server did not take over all it was asked for; `bad-argument` for replicas without a
 *   cluster; `server-too-old`; `store-full`
 */
export async function applyStreams(
  nc: NatsConnection,
  options: ProvisioningOptions & { readonly dryRun?: boolean },
): Promise<ProvisioningReport> {
  const { logger = silentLogger, dryRun = false } = options;
  requireVersion(nc.info?.version ?? "0", nc.getServer());
  const existing = await readStreams(nc);
  const settings = settle(existing, options);
  const wanted = streamDocuments(settings);
  const changes = planStreams(existing, wanted);
  const fixed = changes.filter(({ change }) => change === "immutable");
  if (fixed.length > 0) {
    throw streamsDiffer(fixed, "These were fixed when the streams were made: use another server, or the old settings.");
  }
  if (dryRun) return { ...settings, changes };
  requireCluster(nc, options.replicas);
  const touched = wanted.filter(({ name }) => changes.some(({ stream }) => stream === name));
  const echoes = await Promise.all(
    touched.map((stream) => {
      const verb = existing.some(({ name }) => name === stream.name) ? "UPDATE" : "CREATE";
      logger.info({ stream: stream.name }, `${verb.toLowerCase()} stream`);
      return write(nc, verb, stream);
    }),
  );
  // A server that does not know a field drops it without a word.
  const dropped = planStreams(echoes, touched);
  if (dropped.length > 0) throw streamsDiffer(dropped, "The server did not take this over: upgrade it.");
  return { ...settings, changes };
}

/** Lanes and operator that a stream's metadata names. @throws CandorError `streams-differ` if it names none */
export function identityOfStreams(stream: StreamDocument): { readonly lanes: number; readonly operator: string } {
  const lanes = lanesOf(stream);
  const operator = metadataOf(stream, "candor-operator");
  if (lanes !== undefined && operator !== undefined) return { lanes, operator };
  throw new CandorError(
    "streams-differ",
    `The stream ${stream.name} does not say its lanes and operator: it was not made by "candor streams apply".`,
  );
}
