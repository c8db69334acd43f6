export { sha256, sha256Text } from "#digest";
