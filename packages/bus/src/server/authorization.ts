import { CandorError, isId } from "@candor/contract";
import {
  accountOf,
  apiPrefixOf,
  clientApiPrefix,
  exported,
  inboxPrefix,
  logAccount,
  roleTable,
  serverApiPrefix,
  type IdentityRole,
} from "../roles.js";

/** One user of the server: who it is, and the public half of its connection key. */
export interface ServerIdentity {
  readonly role: IdentityRole;
  readonly name: string;
  /** NATS user key, `U…`. */
  readonly connectionKey: string;
}

export interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** What an identity may publish and subscribe, as the server checks it. */
export function permissionsOf(role: IdentityRole, name: string): Permissions {
  const row = roleTable[role];
  const prefix = apiPrefixOf(role);
  return {
    publish: [...row.publish(name), ...row.api(name).map((request) => `${prefix}.${request}`)],
    subscribe: [`${inboxPrefix(role, name)}.>`, ...row.subscribe(name)],
  };
}

const quote = (text: string): string => JSON.stringify(text);

function list(subjects: readonly string[], indent: string): string {
  return `[\n${subjects.map((subject) => `${indent}  ${quote(subject)}\n`).join("")}${indent}]`;
}

function user(identity: ServerIdentity): string {
  const { publish, subscribe } = permissionsOf(identity.role, identity.name);
  return `      # ${identity.role} ${identity.name}
      { nkey: ${identity.connectionKey}, permissions: {
        publish: { allow: ${list(publish, "        ")} }
        subscribe: { allow: ${list(subscribe, "        ")} }
      } }
`;
}

/** Pulled messages answer one request with many. */
function responseType(request: string): string {
  return request.startsWith("CONSUMER.MSG.NEXT.") ? ", response_type: stream" : "";
}

function lines(rows: readonly string[]): string {
  return rows.map((row) => `      ${row}\n`).join("");
}

function exports(): string {
  return lines([
    ...exported.subscribe.map((subject) => `{ stream: ${quote(subject)} }`),
    ...exported.publish.map((subject) => `{ service: ${quote(subject)} }`),
    ...exported.api.map((request) => `{ service: ${quote(`${serverApiPrefix}.${request}`)}${responseType(request)} }`),
  ]);
}

/** Just what this identity may use, so that its account has nothing else to aim a reply at. */
function imports({ role, name }: ServerIdentity): string {
  const row = roleTable[role];
  const from = (subject: string): string => `account: ${logAccount}, subject: ${quote(subject)}`;
  return lines([
    ...row.subscribe(name).map((subject) => `{ stream: { ${from(subject)} } }`),
    ...row.publish(name).map((subject) => `{ service: { ${from(subject)} } }`),
    ...row.api(name).map((request) => {
      const to = quote(`${clientApiPrefix}.${request}`);
      return `{ service: { ${from(`${serverApiPrefix}.${request}`)} }, to: ${to} }`;
    }),
  ]);
}

function clientAccount(identity: ServerIdentity): string {
  return `  ${quote(accountOf(identity.role, identity.name))}: {
    users: [
${user(identity)}    ]
    imports: [
${imports(identity)}    ]
  }
`;
}

function check(identities: readonly ServerIdentity[]): void {
  const seen = new Map<string, string>();
  for (const { role, name, connectionKey } of identities) {
    if (!isId(name)) {
      throw new CandorError("bad-argument", `${JSON.stringify(name)} is no name: use 1–64 of A–Z a–z 0–9 _ -.`, {
        path: "name",
      });
    }
    if (!/^U[A-Z2-7]{55}$/.test(connectionKey)) {
      throw new CandorError(
        "bad-key",
        `The connection key of ${role} ${name} is not a NATS user key (U…, 56 letters).`,
      );
    }
    for (const unique of [connectionKey, `${role} ${name}`]) {
      const other = seen.get(unique);
      if (other !== undefined) {
        throw new CandorError("bad-argument", `${role} ${name} and ${other} can't share a name or a connection key.`);
      }
      seen.set(unique, `${role} ${name}`);
    }
  }
}

/**
 * The server's authorization file: who may connect, and exactly what each may publish, request and subscribe.
 *
 * Streams, guards and operators are in the account LOG. Everybody else has an account of its own without JetStream,
 * which imports just what it may publish and a few read requests, because the server checks no permission on reply
 * subjects: within the streams' account any client could have an acknowledgement or a pulled message stored anywhere,
 * and within an account shared with others it could deliver one as a live verdict. Nobody is in the system account.
 * The text depends on nothing but the set of identities.
 *
 * @param identities everyone who may connect
 * @throws CandorError `bad-argument` for an invalid or repeated name, `bad-key` for something that is no user key
 */
export function authorizationConfig(identities: readonly ServerIdentity[]): string {
  check(identities);
  const sorted = [...identities].sort((a, b) => (`${a.role} ${a.name}` < `${b.role} ${b.name}` ? -1 : 1));
  const inside = sorted.filter(({ role }) => roleTable[role].inLogAccount);
  const outside = sorted.filter(({ role }) => !roleTable[role].inLogAccount);
  return `# Written by candor; "candor auth add" writes it anew.
system_account: SYS
accounts {
  SYS: { users: [] }
  ${logAccount}: {
    jetstream: enabled
    users: [
${inside.map(user).join("")}    ]
    exports: [
${exports()}    ]
  }
${outside.map(clientAccount).join("")}}
`;
}
