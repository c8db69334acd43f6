import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import ts from "typescript";
import { CandorError } from "@candor/contract";
import { root, type Readme } from "./readme.js";

/** A program made of a README's blocks. */
export interface ReadmeProgram {
  /** Of its file, without the extension. */
  readonly name: string;
  readonly source: string;
}

/** Code that a reader is taken to have around a block, or a block by its heading. */
export type Part = string | { readonly block: string; readonly language?: "ts" | "json" };

/** The text of a block that is a part. @throws CandorError `not-found` if there is not exactly one under its heading */
function textOf({ folder, blocks }: Readme, { block, language = "ts" }: Exclude<Part, string>): string {
  const [found, ...others] = blocks.filter((one) => one.heading === block && one.language === language);
  if (found !== undefined && others.length === 0) return found.text;
  throw new CandorError("not-found", `${folder}/README.md has not one block of ${language} under ${block}.`);
}

export function composeProgram(readme: Readme, name: string, parts: readonly Part[]): ReadmeProgram {
  return { name, source: parts.map((part) => (typeof part === "string" ? part : textOf(readme, part))).join("\n") };
}

/** What a program says it prints: the comments right behind a `console.log`. */
export function announced({ source }: ReadmeProgram): string[] {
  return [...source.matchAll(/console\.log\(.*\);\n\s*\/\/ (.*)$/gm)].map(([, line = ""]) => line);
}

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  strict: true,
  skipLibCheck: true,
  types: ["node"],
  typeRoots: [join(root, "node_modules/@types")],
};

/**
 * Checks programs against the built packages, as a reader's compiler would, and writes each as `<name>.mjs` into a folder.
 *
 * @param dir a folder with the packages in its `node_modules`
 * @returns what is wrong: program, line, message
 */
export function compilePrograms(programs: readonly ReadmeProgram[], dir: string): string[] {
  const files = programs.map(({ name, source }) => {
    const file = join(dir, `${name}.mts`);
    writeFileSync(file, source);
    return file;
  });
  const program = ts.createProgram(files, options);
  const wrong = ts.getPreEmitDiagnostics(program).map(describe);
  program.emit();
  return wrong;
}

function describe({ file, start, messageText }: ts.Diagnostic): string {
  const message = ts.flattenDiagnosticMessageText(messageText, " ");
  if (file === undefined) return message;
  const { line } = file.getLineAndCharacterOfPosition(start ?? 0);
  return `${basename(file.fileName)}: ${file.text.split("\n")[line]?.trim() ?? ""}: ${message}`;
}
