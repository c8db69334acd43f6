import { CandorError } from "@candor/contract";

/** Host and port, with or without the scheme of a NATS server, and with nothing behind them. */
const addressPattern = /^(?:(?:nats|tls):\/\/)?(?:[^\s/@]*@)?(?:\[[0-9a-fA-F:.]+\]|[^\s/:@,[\]]+)(?::(\d{1,5}))?\/?$/;
const lastPort = 65_535;

/** @throws CandorError `bad-argument` for what can't be a server's address, which would be tried until the time is up */
export function requireAddresses(servers: readonly string[]): void {
  const wrong = servers.find((server) => !isAddress(server));
  if (wrong === undefined && servers.length > 0) return;
  const what = wrong === undefined ? "No server is named" : `${JSON.stringify(wrong)} is no address of a NATS server`;
  throw new CandorError("bad-argument", `${what}: name one like nats://127.0.0.1:4222.`, { path: "servers" });
}

function isAddress(server: string): boolean {
  const found = addressPattern.exec(server);
  return found !== null && Number(found[1] ?? 0) <= lastPort;
}
