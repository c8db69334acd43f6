import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { WireScan } from "./wire-scan.js";

export interface EffectWireOptions {
  /** Port of the server on this machine. */
  readonly port: number;
  /** Whether a publish on this subject never reaches the server. */
  readonly drops: (subject: string) => boolean;
  /** From the first publish on such a subject on, nothing that the server says gets through. */
  readonly deafFrom: (subject: string) => boolean;
}

/** A TCP relay between one payer and the server that loses what it is told to. */
export interface EffectWire {
  readonly url: string;
  readonly close: () => Promise<void>;
}

function relay(client: Socket, server: Socket, { drops, deafFrom }: EffectWireOptions): void {
  const scan = new WireScan();
  let deaf = false;
  client.on("data", (piece: Buffer) => {
    let sent = 0;
    for (const { subject, end } of scan.take(piece)) {
      deaf ||= deafFrom(subject);
      if (!drops(subject)) server.write(piece.subarray(sent, end));
      sent = end;
    }
    if (sent < piece.length) server.write(piece.subarray(sent));
  });
  server.on("data", (piece: Buffer) => {
    if (!deaf) client.write(piece);
  });
  const end = (): void => {
    client.destroy();
    server.destroy();
  };
  for (const socket of [client, server]) {
    socket.setNoDelay(true);
    socket.on("error", end);
    socket.on("close", end);
  }
}

/** Starts a relay on a free port. A publish that comes in two pieces is not told apart, and passes. */
export async function openEffectWire(options: EffectWireOptions): Promise<EffectWire> {
  const open = new Set<Socket>();
  const listener = createServer((client) => {
    open.add(client);
    client.on("close", () => open.delete(client));
    relay(client, connect(options.port, "127.0.0.1"), options);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  return {
    url: `nats://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
