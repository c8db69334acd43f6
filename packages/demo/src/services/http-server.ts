import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CandorError } from "@candor/contract";

export interface LocalService {
  /** Like `http://127.0.0.1:40123`, without a slash at the end. */
  readonly url: string;
  /** Stops at once; open connections are cut. */
  close(): Promise<void>;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/**
 * Serves HTTP on 127.0.0.1, on a free port unless one is given.
 *
 * @throws CandorError `port-taken` when the port cannot be had.
 */
export async function serveLocally(handler: Handler, port = 0): Promise<LocalService> {
  const server = createServer((request, response) => {
    void answer(handler, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      const message = `port ${port} of 127.0.0.1 cannot be used (${cause.message}); free it or choose another`;
      reject(new CandorError("port-taken", message, { cause }));
    });
    server.listen({ host: "127.0.0.1", port }, resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${taken}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

async function answer(handler: Handler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    await handler(request, response);
  } catch (error) {
    if (!response.headersSent) sendJson(response, 500, { error: String(error) });
    else response.destroy();
  }
}

/** Answers with a JSON body and closes the connection. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", connection: "close", ...headers });
  response.end(JSON.stringify(body));
}

/** The parts of a request's path, decoded, or undefined when they cannot be decoded. */
export function pathOf(request: IncomingMessage): readonly string[] | undefined {
  const [path = ""] = (request.url ?? "").split("?");
  try {
    return path.split("/").slice(1).map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** The text of a request's body, or undefined when it is longer than `maxBytes`; read to its end, so that an answer gets through. */
export async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += (chunk as Buffer).length;
    if (length <= maxBytes) chunks.push(chunk as Buffer);
  }
  return length > maxBytes ? undefined : Buffer.concat(chunks).toString("utf8");
}
