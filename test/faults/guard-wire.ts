import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { WireScan } from "./wire-scan.js";

/** What becomes of a verdict that a guard is sending. */
export type Fate =
  | "pass"
  /** It reaches the server; nothing that the server says reaches the guard any more. */
  | "unanswered"
  /** It waits here, and all that the guard sends behind it, until `release`. */
  | "held";

export interface GuardWireOptions {
  /** Ports of the servers on this machine, tried in turn. */
  readonly ports: readonly number[];
  /** Asked at the very moment for each verdict that the guard sends. */
  readonly onVerdict: () => Fate;
  /** The server's answer to an unanswered verdict came, and was kept back. */
  readonly onKeptBack: () => void;
}

/** A TCP relay between one guard and the server that knows verdicts when it sees them. */
export interface GuardWire {
  readonly url: string;
  /** Lets go of what is held. */
  readonly release: () => void;
  readonly close: () => Promise<void>;
}

/** With these a client would go to the other servers by itself, past the relay. The same length, but no name it knows. */
const addresses = Buffer.from('"connect_urls"');
const noAddresses = Buffer.from('"connect_none"');
const verdictAnswer = '"stream":"CANDOR_VERDICTS"';
const verdicts = "candor.vd.";
/** How long an unanswered verdict may take to be answered. */
const answerMs = 5_000;

/** Connects to the first server that takes it. */
async function dial(ports: readonly number[]): Promise<Socket | undefined> {
  for (const port of ports) {
    const socket = connect(port, "127.0.0.1");
    const open = await new Promise<boolean>((resolve) => {
      socket.once("connect", () => {
        resolve(true);
      });
      socket.once("error", () => {
        resolve(false);
      });
    });
    if (open) return socket;
  }
  return undefined;
}

class Relay {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #options: GuardWireOptions;
  readonly #scan = new WireScan();
  #held: Buffer[] | undefined;
  #unanswered = false;

  constructor(client: Socket, server: Socket, options: GuardWireOptions) {
    this.#client = client;
    this.#server = server;
    this.#options = options;
    client.on("data", (piece: Buffer) => {
      this.#fromGuard(piece);
    });
    server.on("data", (piece: Buffer) => {
      this.#fromServer(piece);
    });
    client.on("close", () => {
      // An orderly end, so that the server gets all that was sent before it.
      if (!this.#unanswered) server.end();
    });
    server.on("close", () => {
      client.destroy();
    });
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      socket.on("error", () => socket.destroy());
    }
  }

  release(): void {
    const [first, ...rest] = this.#held ?? [];
    this.#held = undefined;
    if (first !== undefined) this.#server.write(first);
    for (const piece of rest) this.#fromGuard(piece);
  }

  close(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  #fromGuard(piece: Buffer): void {
    if (this.#unanswered) return;
    if (this.#held !== undefined) {
      this.#held.push(piece);
      return;
    }
    let sent = 0;
    for (const { subject, end } of this.#scan.take(piece)) {
      const fate = subject.startsWith(verdicts) ? this.#options.onVerdict() : "pass";
      if (fate === "held") {
        this.#held = [piece.subarray(sent)];
        return;
      }
      this.#server.write(piece.subarray(sent, end));
      sent = end;
      if (fate === "unanswered") {
        this.#unanswered = true;
        setTimeout(() => this.#server.end(), answerMs).unref();
        return;
      }
    }
    if (sent < piece.length) this.#server.write(piece.subarray(sent));
  }

  #fromServer(piece: Buffer): void {
    if (!this.#unanswered) {
      const at = piece.indexOf(addresses);
      if (at >= 0) noAddresses.copy(piece, at);
      this.#client.write(piece);
    } else if (piece.includes(verdictAnswer)) {
      this.#options.onKeptBack();
      this.#server.end();
    }
  }
}

/** Starts a relay on a free port. */
export async function openGuardWire(options: GuardWireOptions): Promise<GuardWire> {
  const relays = new Set<Relay>();
  const listener = createServer((client) => {
    client.pause();
    void dial(options.ports).then((server) => {
      if (server === undefined) {
        client.destroy();
        return;
      }
      const relay = new Relay(client, server, options);
      relays.add(relay);
      client.on("close", () => relays.delete(relay));
      client.resume();
    });
    client.on("error", () => client.destroy());
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  return {
    url: `nats://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    release: () => {
      for (const relay of relays) relay.release();
    },
    close: async () => {
      for (const relay of relays) relay.close();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
