import { CandorError, isId } from "@candor/contract";
import {
  accountOf,
  apiPrefixOf,
  clientApiPrefix,
  inboxPrefix,
  publishedByClients,
  requestedByClients,
  roleTable,
  roleWords,
  serverApiPrefix,
  type Account,
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
  /** May publish once on the reply subject of a message it received. */
  readonly answers: boolean;
}

/** What an identity may publish and subscribe, as the server checks it. */
export function permissionsOf(role: IdentityRole, name: string): Permissions {
  const row = roleTable[role];
  const prefix = apiPrefixOf(role);
  return {
    publish: [...row.publish(name), ...row.api(name).map((request) => `${prefix}.${request}`)],
    subscribe: [`${inboxPrefix(role, name)}.>`, ...row.subscribe(name)],
    answers: "answers" in row,
  };
}

const quote = (text: string): string => JSON.stringify(text);

function list(subjects: readonly string[], indent: string): string {
  return `[\n${subjects.map((subject) => `${indent}  ${quote(subject)}\n`).join("")}${indent}]`;
}

function user(identity: ServerIdentity): string {
  const { publish, subscribe, answers } = permissionsOf(identity.role, identity.name);
  const responses = answers ? `\n        allow_responses: { max: 1, expires: "1m" }` : "";
  return `      # ${identity.role} ${identity.name}
      { nkey: ${identity.connectionKey}, permissions: {
        publish: { allow: ${list(publish, "        ")} }
        subscribe: { allow: ${list(subscribe, "        ")} }${responses}
      } }
`;
}

/** Pulled messages answer one request with many. */
function responseType(request: string): string {
  return request.startsWith("CONSUMER.MSG.NEXT.") ? ", response_type: stream" : "";
}

function exports(): string {
  const services = [
    ...publishedByClients.map((subject) => `{ service: ${quote(subject)} }`),
    ...requestedByClients.map((request) => {
      return `{ service: ${quote(`${serverApiPrefix}.${request}`)}${responseType(request)} }`;
    }),
  ];
  return [`{ stream: "candor.live.>" }`, ...services].map((line) => `      ${line}\n`).join("");
}

function imports(): string {
  const services = [
    ...publishedByClients.map((subject) => `{ service: { account: LOG, subject: ${quote(subject)} } }`),
    ...requestedByClients.map((request) => {
      const from = quote(`${serverApiPrefix}.${request}`);
      return `{ service: { account: LOG, subject: ${from} }, to: ${quote(`${clientApiPrefix}.${request}`)} }`;
    }),
  ];
  return [`{ stream: { account: LOG, subject: "candor.live.>" } }`, ...services]
    .map((line) => `      ${line}\n`)
    .join("");
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
 * Streams, guards and operators are in the account LOG. Everybody else is in CLIENTS, which has no JetStream and
 * imports just the subjects that clients publish and a few read requests, because the server checks no permission on
 * reply subjects: within one account any client could have an acknowledgement or a pulled message stored anywhere.
 * Nobody is in the system account. The text depends on nothing but the identities, in the order of role and name.
 *
 * @param identities everyone who may connect
 * @throws CandorError `bad-argument` for an invalid or repeated name, `bad-key` for something that is no user key
 */
export function authorizationConfig(identities: readonly ServerIdentity[]): string {
  check(identities);
  const sorted = [...identities].sort((a, b) => {
    const [left, right] = [`${roleWords[a.role]} ${a.name}`, `${roleWords[b.role]} ${b.name}`];
    return left < right ? -1 : Number(left > right);
  });
  const users = (account: Account): string => {
    const text = sorted.filter(({ role }) => accountOf(role) === account).map(user);
    return text.length === 0 ? "[]" : `[\n${text.join("")}    ]`;
  };
  return `# Written by candor; "candor auth add" writes it anew.
system_account: SYS
accounts {
  SYS: { users: [] }
  LOG: {
    jetstream: enabled
    users: ${users("LOG")}
    exports: [
${exports()}    ]
  }
  CLIENTS: {
    users: ${users("CLIENTS")}
    imports: [
${imports()}    ]
  }
}
`;
}
