import { randomUUID } from "node:crypto";
import { serviceErrorHeaders, type Bus } from "@candor/bus";
import { isCandorError } from "@candor/contract";

type Connection = Bus["nc"];
type Subscription = ReturnType<Connection["subscribe"]>;
type Message = Awaited<ReturnType<Connection["request"]>>;

/** One subject that the service answers. */
export interface Endpoint {
  readonly name: string;
  readonly subject: string;
  /** Of all who answer in one group, one gets a request. */
  readonly queueGroup: string;
  /** Answers the request's text with an object. What it throws is answered as an error of ADR-32 and counted. */
  readonly answer: (request: string) => object | Promise<object>;
  /** Figures that STATS shows beside the counts of requests. */
  readonly figures: () => object;
}

export interface MicroServiceOptions {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  /** Semantic version. */
  readonly version: string;
  readonly description: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly endpoints: readonly Endpoint[];
}

export interface MicroService {
  readonly id: string;
  readonly stop: () => void;
}

class EndpointStats {
  requests = 0;
  errors = 0;
  lastError = "";
  nanoseconds = 0;

  report({ name, subject, queueGroup, figures }: Endpoint): object {
    return {
      name,
      subject,
      queue_group: queueGroup,
      num_requests: this.requests,
      num_errors: this.errors,
      last_error: this.lastError,
      processing_time: this.nanoseconds,
      average_processing_time: this.requests === 0 ? 0 : Math.round(this.nanoseconds / this.requests),
      data: figures(),
    };
  }
}

/**
 * Answers requests on endpoints and the discovery of the NATS service protocol (NATS ADR-32), so that `nats micro ls`,
 * `info` and `stats` show it. The client's own services package has no release that fits the client.
 */
export function startMicroService(nc: Connection, options: MicroServiceOptions): MicroService {
  const { name, version, description, metadata, endpoints } = options;
  const id = randomUUID().replaceAll("-", "").toUpperCase();
  const started = new Date().toISOString();
  const stats = new Map(endpoints.map((endpoint) => [endpoint, new EndpointStats()]));
  const identity = { name, id, version, metadata };
  const verbs: Readonly<Record<string, () => object>> = {
    PING: () => ({ ...identity, type: "io.nats.micro.v1.ping_response" }),
    INFO: () => ({
      ...identity,
      type: "io.nats.micro.v1.info_response",
      description,
      endpoints: endpoints.map(({ name: endpoint, subject, queueGroup }) => ({
        name: endpoint,
        subject,
        queue_group: queueGroup,
        metadata: {},
      })),
    }),
    STATS: () => ({
      ...identity,
      type: "io.nats.micro.v1.stats_response",
      started,
      endpoints: [...stats].map(([endpoint, counts]) => counts.report(endpoint)),
    }),
  };
  const subscriptions: Subscription[] = Object.entries(verbs).flatMap(([verb, respond]) =>
    [`$SRV.${verb}`, `$SRV.${verb}.${name}`, `$SRV.${verb}.${name}.${id}`].map((subject) =>
      nc.subscribe(subject, {
        callback: (error, message) => {
          if (error === null) message.respond(JSON.stringify(respond()));
        },
      }),
    ),
  );
  for (const [endpoint, counts] of stats) subscriptions.push(serve(nc, endpoint, counts));
  return {
    id,
    stop: () => {
      for (const subscription of subscriptions) subscription.unsubscribe();
    },
  };
}

async function answerTo(endpoint: Endpoint, counts: EndpointStats, message: Message): Promise<void> {
  const startedAt = process.hrtime.bigint();
  try {
    const answer = await endpoint.answer(message.string());
    message.respond(JSON.stringify(answer));
  } catch (error) {
    counts.errors += 1;
    counts.lastError = error instanceof Error ? error.message : "unknown";
    const code = isCandorError(error, "bad-argument") ? 400 : 500;
    const headers = serviceErrorHeaders(code, counts.lastError);
    message.respond(JSON.stringify({ error: counts.lastError }), { headers });
  }
  counts.requests += 1;
  counts.nanoseconds += Number(process.hrtime.bigint() - startedAt);
}

function serve(nc: Connection, endpoint: Endpoint, counts: EndpointStats): Subscription {
  return nc.subscribe(endpoint.subject, {
    queue: endpoint.queueGroup,
    callback: (error, message) => {
      if (error === null) void answerTo(endpoint, counts, message);
    },
  });
}
