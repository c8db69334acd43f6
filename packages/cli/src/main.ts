#!/usr/bin/env node
import { runCli } from "./cli.js";
import { createTerminal, endWithReader } from "./output/terminal.js";
import { wholeWrites } from "./output/whole-writes.js";

const { stdout, stderr, env: environment } = process;
endWithReader([stdout, stderr]);
const terminal = createTerminal({ stdout: wholeWrites(stdout), stderr, environment });
const code = await runCli(process.argv.slice(2), terminal, environment);
// A pipe takes what is written in its own time; whatever is still open must not keep the process from ending.
stdout.write("", () => stderr.write("", () => process.exit(code)));
