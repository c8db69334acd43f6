import { isCandorError } from "@candor/contract";
import type { SubagentTask } from "@candor/subagent";

export interface HonestWork {
  /** Calls of `effect()`. */
  readonly attempted: number;
  /** Keys of the effects that ran. */
  readonly ran: ReadonlySet<string>;
}

const workers = 3;

/** An agent on the SDK itself: calls one effect after the other, from several places at once, until it is stopped. */
export async function workHonestly(task: SubagentTask, intents: readonly string[]): Promise<HonestWork> {
  const ran = new Set<string>();
  const left = [...intents];
  let attempted = 0;
  await task.run(async (context) => {
    const worker = async (): Promise<void> => {
      for (let intent = left.shift(); intent !== undefined; intent = left.shift()) {
        attempted += 1;
        await context.effect({ intent, target: "payments" }, ({ key }) => {
          ran.add(key);
        });
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: workers }, worker));
    const failed = ends.find((end) => end.status === "rejected" && !isCandorError(end.reason, "recalled", "fenced"));
    if (failed?.status === "rejected") throw failed.reason;
    return { claim: "fail", summary: "as far as it got" };
  });
  return { attempted, ran };
}
