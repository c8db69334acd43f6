import { connectBus, type Bus } from "@candor/bus";
import type { Logger } from "@candor/contract";
import type { Credentials } from "@candor/ledger/files";

export interface ConnectAsOptions {
  /** False for whoever is about to make the streams. */
  readonly provisioned?: boolean;
  readonly connectTimeoutMs?: number;
  readonly logger?: Logger;
}

/**
 * Connects with the credentials of a folder.
 *
 * @throws CandorError as `connectBus`
 */
export function connectAs(
  credentials: Credentials,
  servers: string | readonly string[],
  options: ConnectAsOptions = {},
): Promise<Bus> {
  const { role, name, connectionSeed, inboxPrefix, apiPrefix, trust } = credentials;
  return connectBus({
    servers,
    identity: { role, name },
    connectionSeed,
    inboxPrefix,
    apiPrefix,
    operator: trust.operator,
    ...options,
  });
}
