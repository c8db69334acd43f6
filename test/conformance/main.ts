import { fileURLToPath } from "node:url";
import { conformance } from "./command.js";

// This file runs as test/dist/conformance/main.js; the vectors stay where they are kept.
const defaultFolder = fileURLToPath(new URL("../../conformance/vectors", import.meta.url));
const { exit, stdout, stderr } = conformance(process.argv.slice(2), defaultFolder);
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = exit;
