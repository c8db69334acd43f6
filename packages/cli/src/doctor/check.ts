/** One thing that was looked at. */
export interface Check {
  readonly what: string;
  /** `warn` is something that may be meant so; `fail` keeps Candor from working. */
  readonly state: "ok" | "warn" | "fail";
  readonly found: string;
  /** What to do; undefined where nothing is to be done. */
  readonly todo?: string;
}

export function ok(what: string, found: string): Check {
  return { what, state: "ok", found };
}

export function warn(what: string, found: string, todo: string): Check {
  return { what, state: "warn", found, todo };
}

export function fail(what: string, found: string, todo: string): Check {
  return { what, state: "fail", found, todo };
}
