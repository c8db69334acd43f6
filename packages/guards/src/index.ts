export { decision } from "./decision.js";
export type { Decision } from "./decision.js";
export { LaneFold } from "./lane-fold.js";
export type { HistoryNeed, LaneFoldOptions } from "./lane-fold.js";
export type { Output, TimerRequest, Verify } from "./output.js";
export type { TaskView } from "./task-view.js";
