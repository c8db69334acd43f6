import type { Context } from "./context.js";

/** How `candor` is called by whoever called this, so that the commands that are printed can be copied. */
export function self({ environment }: Pick<Context, "environment">): string {
  const { npm_lifecycle_event: script } = environment;
  return script === "demo" || script === "candor" ? "npx -y pnpm@10 -s candor" : "candor";
}
