export { parseUpwardReport } from "./parse.js";
export { maxBlockLength } from "./report-yaml.js";
