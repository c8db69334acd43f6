import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** A TCP relay in front of a server, with which a test loses what was sent or answered. */
export interface FaultyWire {
  /** What clients connect to instead of the server. */
  readonly url: string;
  /** Holds back what the server sends: requests arrive, answers don't. */
  readonly holdAnswers: () => void;
  /** Holds back what clients send. */
  readonly holdRequests: () => void;
  /** Lets everything through again, what was held back first. */
  readonly release: () => void;
  /** Closes all connections; new ones are taken. What was held back is lost. */
  readonly cut: () => void;
  readonly close: () => Promise<void>;
}

/** Relays to a port of this machine. */
export async function faultyWire(port: number): Promise<FaultyWire> {
  const pairs = new Set<{ readonly client: Socket; readonly server: Socket }>();
  let answersHeld = false;
  let requestsHeld = false;
  const relay = createServer((client) => {
    const server = connect(port, "127.0.0.1");
    const pair = { client, server };
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on("error", end);
      socket.on("close", end);
    }
    client.pipe(server);
    server.pipe(client);
    if (answersHeld) server.unpipe(client).pause();
    if (requestsHeld) client.unpipe(server).pause();
  });
  await new Promise<void>((resolve) => relay.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    answersHeld = false;
    requestsHeld = false;
    for (const { client, server } of pairs) {
      client.destroy();
      server.destroy();
    }
    pairs.clear();
  };
  return {
    url: `nats://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    holdAnswers: () => {
      answersHeld = true;
      for (const { client, server } of pairs) server.unpipe(client).pause();
    },
    holdRequests: () => {
      requestsHeld = true;
      for (const { client, server } of pairs) client.unpipe(server).pause();
    },
    release: () => {
      for (const { client, server } of pairs) {
        if (answersHeld) server.pipe(client);
        if (requestsHeld) client.pipe(server);
      }
      answersHeld = false;
      requestsHeld = false;
    },
    cut,
    close: async () => {
      cut();
      await new Promise((resolve) => relay.close(resolve));
    },
  };
}
