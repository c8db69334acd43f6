import type { Context } from "./context.js";

/** The data folder that is meant when none is named. */
export function defaultDataDir({ environment }: Context): string {
  const { CANDOR_DATA: dir = "" } = environment;
  return dir === "" ? "candor-data" : dir;
}
