import { join, resolve } from "node:path";
import { exportCredentials } from "@candor/ledger/files";
import { Argument, type Command } from "commander";
import {
  addedRoles,
  addIdentity,
  authorizationFile,
  credentialsFolder,
  initAuth,
  listIdentities,
  renewIdentity,
  type AddedRole,
} from "../auth/auth-folder.js";
import { dataFolderOf, reloadFor } from "../auth/reload.js";
import { present, type CommonOptions, type Context } from "../context.js";
import { examples } from "../help.js";
import { table } from "../output/table.js";
import { defaultDataDir } from "../place-options.js";

interface DirOptions extends CommonOptions {
  readonly dir?: string;
}

const defaultDir = (context: Context): string => join(defaultDataDir(context), "auth");

function addInit(auth: Command, context: Context): void {
  auth
    .command("init")
    .description("make an operator's folder: the operator's keys and the server's authorization file")
    .argument("<dir>", "where to; what is there is kept")
    .option("--servers <urls>", "addresses to write into every credentials folder, with commas between")
    .option("--json", "print JSON")
    .addHelpText("after", examples("candor auth init /etc/candor --servers nats://nats:4222"))
    .action(async (dir: string, options: CommonOptions & { readonly servers?: string }) => {
      const servers = options.servers?.split(",").map((url) => url.trim());
      const { operator, made } = await initAuth(dir, servers === undefined ? {} : { servers });
      const result = {
        dir: resolve(dir),
        operator: operator.trust.operator,
        credentials: resolve(dir, "operator"),
        authorization: resolve(authorizationFile(dir)),
        made,
      };
      present(context, options, result, () =>
        [
          made
            ? `The operator's folder ${dir} is ready.`
            : `${dir} was an operator's folder before; nothing was changed.`,
          `  operator's public key  ${result.operator}`,
          `  include in the server's configuration  ${result.authorization}`,
          `Next: candor auth add guard guard-1 --dir ${dir}`,
        ].join("\n"),
      );
    });
}

function addAdd(auth: Command, context: Context): void {
  auth
    .command("add")
    .description("make an identity: its credentials folder, its certificate, and its permissions on the server")
    .addArgument(new Argument("<role>", "what it may do").choices(addedRoles))
    .argument("<name>", "1–64 of A–Z a–z 0–9 _ -")
    .option("--renew", "make new keys for one whose keys are lost or known to others; the server takes the old no more")
    .option("--dir <dir>", "the operator's folder (default: auth within the data folder)")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      examples(
        "candor auth add agent payer",
        "candor auth add prober checker --dir /etc/candor",
        "candor auth add orchestrator fleet --renew",
      ),
    )
    .action(async (role: AddedRole, name: string, options: DirOptions & { readonly renew?: boolean }) => {
      const dir = options.dir ?? defaultDir(context);
      const renewed = options.renew === true ? await renewIdentity(dir, { role, name }) : undefined;
      const { folder, credentials } = renewed ?? (await addIdentity(dir, { role, name }));
      const reloaded = await reloadFor(dir, credentials);
      const result = {
        role,
        name,
        credentials: resolve(folder),
        signingKey: credentials.signer.publicKey,
        reloaded,
        ...(renewed === undefined ? {} : { renewed: true, replaced: renewed.replaced }),
      };
      present(context, options, result, () => {
        const server = reloaded
          ? "The running server knows it already."
          : dataFolderOf(dir) === undefined
            ? `A server that includes ${authorizationFile(dir)} knows it after a reload (SIGHUP).`
            : "No server runs on this data folder; it will know it when it starts.";
        return [
          `${role} ${name}: ${result.credentials}`,
          server,
          ...(renewed === undefined ? [] : renewalText(role, renewed.replaced)),
          "The folder holds secret keys: hand it to its process alone.",
        ].join("\n");
      });
    });
}

/** What a new signing key means for what the old one began. */
const afterRenewal: Readonly<Record<AddedRole, string>> = {
  agent: "Tasks that were delegated to the old key take nothing from the new one: delegate them again.",
  orchestrator: "Runs that the old key opened take no intents of the new one: open new runs.",
  prober: "Runs that name the old certificate take no receipts of the new one: add it to them with addKey.",
  guard: "What the old key signed stays valid.",
  auditor: "It signs nothing, so nothing else changes.",
};

function renewalText(role: AddedRole, replaced: string | undefined): readonly string[] {
  return [
    ...(replaced === undefined ? [] : [`The old folder is ${replaced} now: its connection key is refused. Remove it.`]),
    afterRenewal[role],
  ];
}

function addList(auth: Command, context: Context): void {
  auth
    .command("list")
    .description("list the identities of an operator's folder")
    .option("--dir <dir>", "the operator's folder (default: auth within the data folder)")
    .option("--json", "print JSON")
    .addHelpText("after", examples("candor auth list", "candor auth list --dir /etc/candor --json"))
    .action((options: DirOptions) => {
      const dir = options.dir ?? defaultDir(context);
      present(context, options, listIdentities(dir), (all) =>
        table(
          context.terminal,
          ["ROLE", "NAME", "SIGNING KEY", "FOLDER"],
          all.map(({ role, name, signingKey, folder }) => [role, name, signingKey, folder ?? "(not here)"]),
        ),
      );
    });
}

function addExport(auth: Command, context: Context): void {
  auth
    .command("export")
    .description(
      "print a credentials folder as one text for an environment variable; it is as secret as the keys in it",
    )
    .addArgument(new Argument("<role>", "role of the identity").choices(addedRoles))
    .argument("<name>", "name of the identity")
    .option("--dir <dir>", "the operator's folder (default: auth within the data folder)")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      examples("candor auth export agent payer", 'CANDOR_AGENT="$(candor auth export agent payer)" node agent.js'),
    )
    .action((role: AddedRole, name: string, options: DirOptions) => {
      const dir = options.dir ?? defaultDir(context);
      const text = exportCredentials(credentialsFolder(dir, { role, name }));
      present(context, options, { role, name, text }, () => text);
    });
}

export function addAuth(program: Command, context: Context): void {
  const auth = program
    .command("auth")
    .description("make and list identities: operator, agents, orchestrators, probers, guards, auditors");
  addInit(auth, context);
  addAdd(auth, context);
  addList(auth, context);
  addExport(auth, context);
}
