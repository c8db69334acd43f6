import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout. */
export const root = fileURLToPath(new URL("../../", import.meta.url));

/** A fenced block of a README. */
export interface Block {
  readonly language: string;
  /** Heading that it stands under. */
  readonly heading: string;
  /** Line of its fence, from 1. */
  readonly line: number;
  readonly text: string;
}

export interface Readme {
  /** Its folder as seen from the checkout, empty for the checkout's own. */
  readonly folder: string;
  readonly text: string;
  readonly blocks: readonly Block[];
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let heading = "";
  let open: { readonly language: string; readonly line: number; readonly lines: string[] } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (open !== undefined && line === "```") {
      blocks.push({ language: open.language, heading, line: open.line, text: `${open.lines.join("\n")}\n` });
      open = undefined;
    } else if (open !== undefined) open.lines.push(line);
    else if (line.startsWith("```")) open = { language: line.slice(3), line: index + 1, lines: [] };
    else heading = /^#+ (?<title>.*)$/.exec(line)?.groups?.["title"] ?? heading;
  }
  return blocks;
}

/** @param folder as seen from the checkout */
export function readReadme(folder: string): Readme {
  const text = readFileSync(join(root, folder, "README.md"), "utf8");
  return { folder, text, blocks: blocksOf(text) };
}

/** The README of every package and service. @throws if one has none */
export function packageReadmes(): Readme[] {
  return ["packages", "services"].flatMap((kind) =>
    readdirSync(join(root, kind)).map((name) => readReadme(`${kind}/${name}`)),
  );
}

/** What stands between backticks outside of blocks, and links. */
export function inlineCode({ text }: Readme): string[] {
  return [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
}

/** A link within the checkout. */
interface LocalLink {
  /** As seen from the README's folder; empty for a place in the README itself. */
  readonly path: string;
  /** Name of the heading that it leads to. */
  readonly anchor: string | undefined;
}

export function localLinks({ text }: Readme): LocalLink[] {
  return [...text.matchAll(/\]\(([^)#]*)(?:#([^)]*))?\)/g)]
    .map(([, path = "", anchor]) => ({ path, anchor }))
    .filter(({ path }) => !path.includes("://"));
}

/** The names that headings of a text can be linked to by, as GitHub forms them. */
export function anchorsOf(text: string): string[] {
  return [...text.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Every TypeScript file of packages, services and tests, as seen from the checkout. */
export function sourceFiles(): string[] {
  const folders = ["packages", "services"].flatMap((kind) =>
    readdirSync(join(root, kind)).map((name) => `${kind}/${name}/src`),
  );
  const ofTests = readdirSync(join(root, "test"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== "node_modules" && entry.name !== "dist")
    .map(({ name }) => `test/${name}`);
  return [...folders, ...ofTests].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => `${folder}/${path}`),
  );
}
