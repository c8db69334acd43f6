import { connectWith, type Bus, type ConnectWithOptions } from "@candor/bus";
import type { Credentials } from "@candor/ledger/files";

export type ConnectAsOptions = ConnectWithOptions;

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
  return connectWith(credentials, servers, options);
}
