import { parentPort } from "node:worker_threads";
import { verifySignature } from "@candor/ledger";
import { answerBatch, threadWords } from "./check-batch.js";

/** A thread that verifies signatures. It says when it is ready, and when a batch is answered. */
parentPort?.on("message", (memory: SharedArrayBuffer) => {
  answerBatch(memory, verifySignature);
  parentPort?.postMessage(threadWords.answered);
});
parentPort?.postMessage(threadWords.ready);
