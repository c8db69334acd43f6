import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { candor } from "../kit/candor.js";
import { announced, compilePrograms, composeProgram, type Part, type ReadmeProgram } from "../kit/readme-program.js";
import { startReadmeStage, type ReadmeStage } from "../kit/readme-stage.js";
import {
  anchorsOf,
  inlineCode,
  localLinks,
  packageReadmes,
  readReadme,
  root,
  sourceFiles,
  type Block,
  type Readme,
} from "../kit/readme.js";

const top = readReadme("");
const packages = packageReadmes();
const all = [top, ...packages, readReadme("streams"), readReadme("test")];

let stage: ReadmeStage;
beforeAll(async () => {
  stage = await startReadmeStage();
});
afterAll(async () => {
  await stage.close();
});

/** The file that a block says it is, by its first line. */
function fileBlock(name: string): string {
  const found = top.blocks.find(({ text }) => text.startsWith(`// ${name}\n`));
  return found?.text ?? expect.unreachable(`README has no ${name}`);
}

describe("README", () => {
  /** Runs the walk-through in a folder of its own, with this as the agent. */
  async function walkThrough(folder: string, agent: string): Promise<string> {
    const dir = await stage.another(folder);
    await writeFile(join(dir, "orchestrator.mjs"), fileBlock("orchestrator.mjs"));
    await writeFile(join(dir, "agent.mjs"), agent);
    return (await stage.node("orchestrator.mjs", dir)).trim();
  }

  it("runs the walk-through as it stands, and the audit of it", async () => {
    expect(await walkThrough("honest", fileBlock("agent.mjs"))).toBe("FULL_DISCLOSURE_VERIFIED, so: proceed");
    expect(await stage.shell("candor audit --all")).toMatch(/reproduced (\d+) of \1 verdicts/);
  });

  it("catches the same agent once it lies", async () => {
    const honest = fileBlock("agent.mjs");
    const liar = honest
      .replace("maxAttempts: 3", "maxAttempts: 1")
      .replace("return { amount: 100 };\n  });", "return { amount: 100 };\n  }).catch(() => undefined);");
    expect(liar).toContain("maxAttempts: 1");
    expect(liar).toContain(".catch(() => undefined)");
    expect(await walkThrough("lies", liar)).toBe("CONCEALMENT_DETECTED, so: halt");
  });
});

/** Where the blocks of a package's README are parts of a program, or need something around them. */
interface Composition {
  readonly folder: string;
  readonly name: string;
  readonly parts: readonly Part[];
  /** False for one that another one starts, and for one that is only type-checked. */
  readonly runs?: boolean;
}

const compositions: readonly Composition[] = [
  {
    folder: "packages/subagent",
    name: "agent",
    parts: [
      `import { text } from "node:stream/consumers";
      const token = await text(process.stdin);
      const lookup = ({ signal }: { signal: AbortSignal }) => Promise.resolve({ amount: signal.aborted ? 0 : 100 });
      const charge = ({ idempotencyKey, signal }: { idempotencyKey: string; signal: AbortSignal }) =>
        Promise.resolve({ id: signal.aborted ? "none" : idempotencyKey });`,
      { block: "@candor/subagent" },
      `if (result.claim !== "pass" || result.finishReason !== "completed") process.exit(1);`,
    ],
    runs: false,
  },
  {
    // Started by the orchestrator's block.
    folder: "packages/subagent",
    name: "upward-agent",
    parts: [{ block: "Upward reports" }],
    runs: false,
  },
  {
    folder: "packages/orchestrator",
    name: "orchestrator",
    parts: [
      { block: "@candor/orchestrator" },
      "let lastCursor: string | undefined;\nconst signal = AbortSignal.timeout(1_000);",
      { block: "Verdicts" },
      { block: "Results and evidence" },
      { block: "Parallel results" },
      { block: "Probers" },
      `console.log(typeof lastCursor);
      // string
      await prober.close();
      await run.close({ state: "completed" });
      await fleet.close();`,
    ],
  },
  {
    folder: "services/guard",
    name: "guard-state",
    parts: [
      `import type { LaneView } from "@candor/guard";\nexport const lane: LaneView =`,
      { block: "State", language: "json" },
      `;\nimport type { TaskView } from "@candor/guards";\nexport const task: TaskView =`,
      { block: "An open task", language: "json" },
      ";",
    ],
    runs: false,
  },
];

/** What a shell block prints that would not end by itself. */
const endless: Readonly<Record<string, string>> = { "services/guard": "guard is ready" };

/** The programs of a README: those that are composed, and each further TypeScript block by itself. */
function programsOf(readme: Readme): (ReadmeProgram & { readonly runs: boolean })[] {
  const mine = compositions.filter(({ folder }) => folder === readme.folder);
  const isPart = ({ heading }: Block): boolean =>
    mine.some(({ parts }) =>
      parts.some((part) => typeof part !== "string" && part.language !== "json" && part.block === heading),
    );
  const composed = mine.map(({ name, parts, runs = true }) => ({ ...composeProgram(readme, name, parts), runs }));
  const single = readme.blocks
    .filter((block) => block.language === "ts" && !isPart(block))
    .map(({ line, text: source }) => ({ name: `${readme.folder.replace("/", "-")}-line-${line}`, source, runs: true }));
  return [...composed, ...single];
}

describe("READMEs of packages and services", () => {
  const programs = packages.flatMap(programsOf);
  const shellBlocks = packages.flatMap(({ folder, blocks }) =>
    blocks.filter(({ language }) => language === "sh").map((block) => ({ folder, ...block })),
  );

  it("hold only blocks that are checked, or marked as text", () => {
    for (const { folder, blocks } of packages) {
      for (const { language, line, text } of blocks) {
        expect(["ts", "sh", "json", "text"], `${folder}/README.md, line ${line}`).toContain(language);
        if (language === "json") expect(() => JSON.parse(text) as unknown, `${folder}, line ${line}`).not.toThrow();
      }
    }
  });

  let wrong: readonly string[] = [];
  beforeAll(() => {
    const localized = programs.map((program) => ({ ...program, source: stage.localized(program.source) }));
    wrong = compilePrograms(localized, stage.dir);
  });

  it("type-check as a reader's own code", () => {
    expect(wrong).toEqual([]);
  });

  it.each(shellBlocks)("$folder, line $line: the commands run", async ({ folder, text }) => {
    await stage.shell(text, endless[folder]);
  });

  it.concurrent.each(programs.filter(({ runs }) => runs))("$name runs, and prints what it says", async (program) => {
    const printed = (await stage.node(`${program.name}.mjs`)).split("\n");
    const said = announced(program);
    expect(printed.filter((line) => said.includes(line))).toEqual(said);
  });
});

describe("every README", () => {
  const name = ({ folder }: Readme): string => join(folder, "README.md");

  it("names only commands that exist", async () => {
    /** Names in the list of commands of a help text. */
    const commands = async (...group: readonly string[]): Promise<string[]> => {
      const { stdout } = await candor([...group, "--help"]);
      return [...(stdout.split("Commands:")[1] ?? "").matchAll(/^ {2}([a-z]+)\b/gm)].map(([, command = ""]) => command);
    };
    const groups = ["auth", "evidence", "policy", "report", "run", "streams", "task"];
    const [known, ofGroups] = await Promise.all([commands(), Promise.all(groups.map((group) => commands(group)))]);
    const scripts = Object.keys(
      (JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: Record<string, string> }).scripts,
    );
    for (const readme of all) {
      const lines = readme.blocks.filter(({ language }) => language === "sh").flatMap(({ text }) => text.split("\n"));
      for (const line of [...lines, ...inlineCode(readme)]) {
        const [, command, further] = /^candor ([a-z]+)(?: ([a-z]+))?/.exec(line) ?? [];
        if (command !== undefined) expect(known, `${name(readme)}: ${line}`).toContain(command);
        const group = ofGroups[groups.indexOf(command ?? "")];
        if (group !== undefined && further !== undefined) expect(group, `${name(readme)}: ${line}`).toContain(further);
        const [, script] = /^(?:npx -y pnpm@10|pnpm)(?: -s)? ([a-z]+)/.exec(line) ?? [];
        if (script !== undefined) expect(scripts, `${name(readme)}: ${line}`).toContain(script);
      }
    }
  });

  it("links and names only files that exist", () => {
    const sources = sourceFiles();
    for (const readme of all) {
      for (const { path, anchor } of localLinks(readme)) {
        const target = join(root, path === "" ? name(readme) : join(readme.folder, path));
        expect(existsSync(target), `${name(readme)}: ${path}`).toBe(true);
        if (anchor !== undefined)
          expect(anchorsOf(readFileSync(target, "utf8")), `${name(readme)}: ${path}`).toContain(anchor);
      }
      for (const file of inlineCode(readme).filter((code) => /^[\w./-]+\.ts$/.test(code))) {
        expect(
          sources.some((path) => `/${path}`.endsWith(`/${file}`)),
          `${name(readme)}: ${file}`,
        ).toBe(true);
      }
    }
  });

  it("of the guard names every option and variable of its help", async () => {
    const options = (text: string): Set<string> => new Set(text.match(/--[a-z-]+|CANDOR_[A-Z_]+/g));
    const rows = readReadme("services/guard")
      .text.split("\n")
      .filter((line) => line.startsWith("| `--"));
    const help = await stage.shell("node services/guard/dist/main.js --help");
    expect(options(rows.join("\n"))).toEqual(options(help));
  });
});
