export { startGuard } from "./guard.js";
export type { Guard, GuardOptions, GuardSettings } from "./guard.js";
export type { GuardIdentity } from "./guard-identity.js";
export { readLanes } from "./lane-list.js";
export type { LaneMetrics } from "./lane-metrics.js";
export type { LaneState, LaneView, StateQuery } from "./lane-view.js";
