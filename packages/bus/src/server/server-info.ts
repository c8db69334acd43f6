import { connect } from "node:net";

/** What a server says of itself to whoever connects, before anyone is authorized. */
export interface ServerInfo {
  readonly serverName: string;
  readonly version: string;
  readonly jetstream: boolean;
  readonly authRequired: boolean;
}

function read(line: string): ServerInfo | undefined {
  const [, text] = /^INFO (\{.*\})\s*$/.exec(line) ?? [];
  if (text === undefined) return undefined;
  const fields = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const { server_name: name, version, jetstream, auth_required: auth } = fields;
  if (typeof version !== "string") return undefined;
  return {
    serverName: typeof name === "string" ? name : "",
    version,
    jetstream: jetstream === true,
    authRequired: auth === true,
  };
}

/**
 * Asks whatever listens there who it is.
 *
 * @returns undefined if nobody listens, or it is no NATS server, or it says nothing within `timeoutMs`
 */
export function serverInfo(host: string, port: number, timeoutMs = 1_000): Promise<ServerInfo | undefined> {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect({ host, port, timeout: timeoutMs });
    const end = (info: ServerInfo | undefined): void => {
      socket.destroy();
      resolve(info);
    };
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      received += chunk;
      const newline = received.indexOf("\n");
      if (newline >= 0) end(read(received.slice(0, newline)));
      else if (received.length > 64 * 1024) end(undefined);
    });
    for (const event of ["error", "timeout", "close"]) {
      socket.on(event, () => {
        end(undefined);
      });
    }
  });
}
