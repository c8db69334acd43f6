import { errors, type NatsConnection } from "@nats-io/transport-node";

export interface ConnectionListener {
  readonly disconnected?: () => void;
  readonly reconnected?: () => void;
  /** The server refused a message published on this subject. */
  readonly refused?: (subject: string) => void;
  readonly closed?: () => void;
}

interface Watch {
  readonly listeners: Set<ConnectionListener>;
  connected: boolean;
}

const watches = new WeakMap<NatsConnection, Watch>();

async function follow(nc: NatsConnection, watch: Watch): Promise<void> {
  for await (const status of nc.status()) {
    if (status.type === "disconnect") {
      watch.connected = false;
      for (const listener of [...watch.listeners]) listener.disconnected?.();
    } else if (status.type === "reconnect") {
      watch.connected = true;
      for (const listener of [...watch.listeners]) listener.reconnected?.();
    } else if (status.type === "error" && status.error instanceof errors.PermissionViolationError) {
      const { operation, subject } = status.error;
      if (operation === "publish") for (const listener of [...watch.listeners]) listener.refused?.(subject);
    }
  }
  watch.connected = false;
  for (const listener of [...watch.listeners]) listener.closed?.();
  watch.listeners.clear();
}

function watchOf(nc: NatsConnection): Watch {
  const known = watches.get(nc);
  if (known !== undefined) return known;
  const watch: Watch = { listeners: new Set(), connected: !nc.isClosed() };
  watches.set(nc, watch);
  if (watch.connected) void follow(nc, watch);
  return watch;
}

/**
 * Tells of interruptions. All listeners of a connection share one iterator, since the client keeps an iterator until
 * its connection closes.
 *
 * @returns ends it
 */
export function watchConnection(nc: NatsConnection, listener: ConnectionListener): () => void {
  const { listeners } = watchOf(nc);
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** False while the client reconnects. What is published then may be dropped without a word. */
export function isConnected(nc: NatsConnection): boolean {
  return watchOf(nc).connected && !nc.isClosed();
}

/** Resolves once connected again, or after `timeoutMs`, or when the connection closes. */
export function untilConnected(nc: NatsConnection, timeoutMs: number): Promise<void> {
  if (isConnected(nc) || nc.isClosed()) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const timer = setTimeout(done, timeoutMs);
    const stop = watchConnection(nc, { reconnected: done, closed: done });
  });
}
