import { createRequire } from "node:module";
import { dirname } from "node:path";
import type * as PgQuery from "libpg-query";

export type Parser = typeof PgQuery;

const require = createRequire(import.meta.url);
let current: Promise<Parser> | undefined;

async function load(): Promise<Parser> {
  const parser = require("libpg-query") as Parser;
  await parser.loadModule();
  return parser;
}

/** The parser, loaded on first use: whoever imports this package without reviewing anything does not pay for it. */
export function parser(): Promise<Parser> {
  return (current ??= load());
}

/**
 * Makes the next `parser()` a new instance. A call that overflowed the stack was cut off inside
 * WebAssembly and never gave its own stack space back: after some thirty of them the instance would
 * fail on, or misread, texts that are perfectly fine.
 */
export function discardParser(): void {
  const folder = dirname(require.resolve("libpg-query"));
  for (const path of Object.keys(require.cache)) {
    // The module cache is the only place that holds the instance.
    if (path.startsWith(folder)) Reflect.deleteProperty(require.cache, path);
  }
  current = undefined;
}
