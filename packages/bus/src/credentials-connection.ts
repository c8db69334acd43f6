import type { Logger } from "@candor/contract";
import { connectBus, type Bus } from "./connection.js";
import type { IdentityRole } from "./roles.js";

/** What a credentials folder holds of a connection. */
export interface ConnectionCredentials {
  readonly role: IdentityRole;
  readonly name: string;
  readonly connectionSeed: string;
  readonly inboxPrefix: string;
  readonly apiPrefix: string;
  readonly trust: { readonly operator: string };
}

/** As in `BusOptions`; what is undefined counts as not given. */
export interface ConnectWithOptions {
  readonly provisioned?: boolean | undefined;
  readonly connectTimeoutMs?: number | undefined;
  readonly onSlow?: (() => void) | undefined;
  readonly logger?: Logger | undefined;
}

/**
 * Connects with the credentials of a folder, to streams of the operator that they trust.
 *
 * @throws CandorError as `connectBus`
 */
export function connectWith(
  credentials: ConnectionCredentials,
  servers: string | readonly string[],
  { provisioned, connectTimeoutMs, onSlow, logger }: ConnectWithOptions = {},
): Promise<Bus> {
  const { role, name, connectionSeed, inboxPrefix, apiPrefix, trust } = credentials;
  return connectBus({
    servers,
    identity: { role, name },
    connectionSeed,
    inboxPrefix,
    apiPrefix,
    operator: trust.operator,
    ...(provisioned === undefined ? {} : { provisioned }),
    ...(connectTimeoutMs === undefined ? {} : { connectTimeoutMs }),
    ...(onSlow === undefined ? {} : { onSlow }),
    ...(logger === undefined ? {} : { logger }),
  });
}
