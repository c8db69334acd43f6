export { decision } from "./decision.js";
export type { Decision } from "./decision.js";
export { explain, explainedCodes } from "./explain.js";
export type { Explained, ExplanationFamily } from "./explain.js";
export { LaneFold } from "./lane-fold.js";
export type { HistoryNeed, LaneFoldOptions } from "./lane-fold.js";
export type { Output, TimerRequest, Verify } from "./output.js";
export type { TaskView } from "./task-view.js";
