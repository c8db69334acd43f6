import { Lexer, parseDocument, type Document, type Node } from "yaml";

/** What is read of a text by somebody else, at most. */
export interface YamlBounds {
  /** UTF-16 units. */
  readonly length: number;
  /** Lexemes and escapes: they bound time and memory. */
  readonly marks: number;
  readonly aliases: number;
  /** Brackets inside each other. The package itself stops where the engine's stack ends, which is elsewhere in each. */
  readonly brackets: number;
}

/** What a text holds too much of, if anything does, and the marks that were counted. */
export interface YamlMeasure {
  readonly excess: keyof YamlBounds | undefined;
  readonly marks: number;
}

/** Measures a text without building anything of it, so that a hostile one costs no more than its length. */
export function measureYaml(source: string, bounds: YamlBounds): YamlMeasure {
  let marks = 0;
  if (source.length > bounds.length) return { excess: "length", marks };
  let aliases = 0;
  let brackets = 0;
  for (const lexeme of new Lexer().lex(source)) {
    marks += 1;
    if (lexeme === "[" || lexeme === "{") brackets += 1;
    else if (lexeme === "]" || lexeme === "}") brackets -= 1;
    else if (lexeme.startsWith("*")) aliases += 1;
    // Each wrong escape of a text is an error of its own.
    else if (lexeme.includes("\\")) marks += lexeme.split("\\").length;
    if (brackets > bounds.brackets) return { excess: "brackets", marks };
    if (aliases > bounds.aliases) return { excess: "aliases", marks };
    if (marks > bounds.marks) return { excess: "marks", marks };
  }
  return { excess: undefined, marks };
}

/** YAML 1.2 with the core schema, whatever version the text says: no tags of the text's own, no merging, each key once. */
export function parseCoreYaml(source: string): Document.Parsed<Node & Document.Parsed["contents"]> {
  return parseDocument(source, {
    version: "1.2",
    schema: "core",
    resolveKnownTags: false,
    merge: false,
    uniqueKeys: true,
    prettyErrors: false,
    // With "silent" a second document is passed over without a word; nothing is printed here in any case.
    logLevel: "error",
  });
}
