export { sha256 } from "#digest";
