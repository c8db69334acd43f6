import type { IncomingMessage, ServerResponse } from "node:http";
import { failureScript, type FailureScript, type LookupFailure } from "./failure-script.js";
import { callerHeader, type LookupRecord } from "./inventory.js";
import { pathOf, sendJson, serveLocally, type LocalService } from "./http-server.js";

/** What the shop has in store unless told otherwise. */
export const defaultStock: Readonly<Record<string, number>> = {
  "MUG-0001": 41,
  "MUG-0002": 7,
  "TEE-0001": 120,
  "TEE-0002": 0,
  "CAP-0001": 15,
  "CAP-0002": 3,
  "BAG-0001": 64,
  "BAG-0002": 8,
  "PEN-0001": 500,
  "PEN-0002": 230,
};

export interface InventoryOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** Quantity of each item; an item that is not in it does not exist. */
  readonly stock?: Readonly<Record<string, number>>;
  /** How lookups fail; made from `seed` unless given. An item that is not in it never fails. */
  readonly script?: FailureScript;
  readonly seed?: string;
  /** What a throttled caller is told to wait, in milliseconds. */
  readonly retryAfterMs?: number;
}

export interface InventoryService extends LocalService {
  /** Every lookup so far; also at `GET /book`. */
  book(): readonly LookupRecord[];
}

interface Lookup {
  readonly item: string;
  readonly quantity: number;
  readonly retryAfterMs: number;
}

const answers: Readonly<Record<LookupFailure, (response: ServerResponse, lookup: Lookup) => void>> = {
  unavailable: (response) => {
    sendJson(response, 503, { error: "the inventory database is restarting" });
  },
  throttled: (response, { retryAfterMs }) => {
    // Retry-After has whole seconds only; the second header is for callers that can do better.
    sendJson(
      response,
      429,
      { error: "too many lookups" },
      {
        "retry-after": String(Math.ceil(retryAfterMs / 1000)),
        "retry-after-ms": String(retryAfterMs),
      },
    );
  },
  reset: (response) => {
    response.socket?.resetAndDestroy();
  },
  hang: () => {
    // No answer: the caller has to give up by itself.
  },
  truncated: (response, { item, quantity }) => {
    const body = JSON.stringify({ item, quantity });
    response.writeHead(200, { "content-type": "application/json", connection: "close" });
    response.end(body.slice(0, body.length / 2));
  },
};

/**
 * The inventory of the demo's shop: `GET /items/ITEM` answers `{ item, quantity }`, or fails as the
 * script says; `GET /book` answers every lookup so far. Deterministic for each caller and item.
 *
 * @throws CandorError `port-taken` when the port cannot be had.
 */
export async function startInventoryService(options: InventoryOptions = {}): Promise<InventoryService> {
  const { port, retryAfterMs = 50, seed = "candor", stock = defaultStock } = options;
  const script = new Map(Object.entries(options.script ?? failureScript(seed, Object.keys(stock))));
  const quantities = new Map(Object.entries(stock));
  const records: LookupRecord[] = [];
  const attempts = new Map<string, number>();

  const record = (item: string, caller: string): LookupRecord["answer"] => {
    const key = JSON.stringify([caller, item]);
    const attempt = (attempts.get(key) ?? 0) + 1;
    attempts.set(key, attempt);
    const answer = quantities.has(item) ? (script.get(item)?.[attempt - 1] ?? "ok") : "unknown-item";
    records.push({ number: records.length + 1, caller, item, attempt, answer });
    return answer;
  };

  const lookUp = (item: string, request: IncomingMessage, response: ServerResponse): void => {
    const caller = request.headers[callerHeader];
    const answer = record(item, typeof caller === "string" ? caller : "");
    const quantity = quantities.get(item) ?? 0;
    if (answer === "ok") sendJson(response, 200, { item, quantity });
    else if (answer === "unknown-item") sendJson(response, 404, { error: `there is no item ${item}` });
    else answers[answer](response, { item, quantity, retryAfterMs });
  };

  const service = await serveLocally((request, response) => {
    const [place, item, ...rest] = pathOf(request) ?? [];
    if (request.method !== "GET" || rest.length > 0)
      sendJson(response, 404, { error: "not a resource of this service" });
    else if (place === "items" && item !== undefined) lookUp(item, request, response);
    else if (place === "book" && item === undefined) sendJson(response, 200, { lookups: records });
    else sendJson(response, 404, { error: "not a resource of this service" });
  }, port);

  return { ...service, book: () => [...records] };
}
