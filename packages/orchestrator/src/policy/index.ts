export { parsePolicy } from "./parse-policy.js";
