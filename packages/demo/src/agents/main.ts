import { once } from "node:events";
import { CandorError, isCandorError } from "@candor/contract";
import { delegateOn } from "./delegator.js";
import { hideRetries } from "./dishonest/retry-hider.js";
import { dropTail } from "./dishonest/tail-dropper.js";
import { fetchStock } from "./fetcher.js";
import { agentNames, jobSchema, type Agent, type AgentName, type Message } from "./messages.js";
import { payInvoices } from "./payer.js";
import { objectToMigrations, reviewMigrations } from "./reviewer.js";
import { restock } from "./restocker.js";

const agents: Readonly<Record<AgentName, Agent>> = {
  reviewer: reviewMigrations,
  "second-reviewer": objectToMigrations,
  fetcher: fetchStock,
  payer: payInvoices,
  "retry-hider": hideRetries,
  "tail-dropper": dropTail,
  restocker: restock,
  planner: delegateOn,
  buyer: delegateOn,
  clerk: fetchStock,
};

function send(message: Message): Promise<void> {
  return new Promise((resolve) => {
    // Whoever started this may be gone; then nobody wants to know.
    if (process.send === undefined || !process.connected) resolve();
    else
      process.send(message, () => {
        resolve();
      });
  });
}

function agentOf(name: string | undefined): Agent {
  const known = agentNames.find((candidate) => candidate === name);
  if (known !== undefined && process.send !== undefined) return agents[known];
  throw new CandorError(
    "bad-argument",
    `This is a subagent of the demo (${agentNames.join(", ")}) and is started by it: run "candor demo".`,
  );
}

/** A subagent as this process: takes its job from whoever started it, and ends with them. */
async function main(): Promise<void> {
  const agent = agentOf(process.argv[2]);
  process.once("disconnect", () => process.exit(1));
  const [job] = (await once(process, "message")) as [unknown];
  const told = await agent(jobSchema.parse(job), (text) => void send({ type: "progress", text }));
  await send({ type: "told", told });
}

try {
  await main();
  process.exit(0);
} catch (error) {
  const code = isCandorError(error) ? error.code : "defect";
  const message = error instanceof Error ? error.message : String(error);
  if (process.send === undefined) process.stderr.write(`${code}: ${message}\n`);
  await send({ type: "failed", code, message });
  process.exit(isCandorError(error) ? error.exit : 70);
}
