import { relative } from "node:path";

export interface ClusterConfig {
  readonly name: string;
  readonly port: number;
  /** Ports of all members on the same host. */
  readonly members: readonly number[];
}

export interface StoreLimits {
  /** What JetStream may store on disk, in bytes. */
  readonly maxFileBytes?: number;
  /** What JetStream may hold in memory, in bytes. */
  readonly maxMemoryBytes?: number;
}

export interface ServerConfig {
  readonly serverName: string;
  readonly host: string;
  readonly port: number;
  /** Folder of the configuration, the store, the log and the pid file. */
  readonly dataDir: string;
  /** Authorization file to include; without it anybody may do anything. */
  readonly authFile?: string;
  readonly cluster?: ClusterConfig;
  readonly limits?: StoreLimits;
  /** Flush to disk before every acknowledgement, instead of every two minutes. */
  readonly syncAlways: boolean;
  /** False for a server without JetStream. */
  readonly jetstream: boolean;
}

const quote = (text: string): string => JSON.stringify(text);

function jetstream({ dataDir, limits = {}, syncAlways }: ServerConfig): string {
  const { maxFileBytes, maxMemoryBytes } = limits;
  const lines = [
    `  store_dir: ${quote(dataDir)}`,
    ...(maxFileBytes === undefined ? [] : [`  max_file_store: ${maxFileBytes}`]),
    ...(maxMemoryBytes === undefined ? [] : [`  max_memory_store: ${maxMemoryBytes}`]),
    ...(syncAlways ? ["  sync_interval: always"] : []),
  ];
  return `jetstream {\n${lines.join("\n")}\n}\n`;
}

function cluster({ cluster: config, host }: ServerConfig): string {
  if (config === undefined) return "";
  const routes = config.members.map((member) => quote(`nats://${host}:${member}`)).join(", ");
  return `cluster {
  name: ${quote(config.name)}
  listen: ${quote(`${host}:${config.port}`)}
  routes: [${routes}]
}
`;
}

/** Text of a server's configuration file. */
export function serverConfigText(config: ServerConfig): string {
  // An included path is always read as relative to the including file.
  const include = config.authFile === undefined ? "" : `include ${quote(relative(config.dataDir, config.authFile))}\n`;
  return `# Written by candor at every start.
server_name: ${quote(config.serverName)}
listen: ${quote(`${config.host}:${config.port}`)}
${config.jetstream ? jetstream(config) : ""}${cluster(config)}${include}`;
}
