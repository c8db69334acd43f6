import {
  Listr,
  ListrLogger,
  ProcessOutput,
  type ListrBaseClassOptions,
  type ListrDefaultRendererLogLevels,
} from "listr2";
import type { Terminal } from "./terminal.js";

/** Says what a step is at. */
export type Say = (text: string) => void;

/** Where nobody looks on, something is said of a step only if it takes this long, and then as rarely. */
const quietMs = 2_000;

function plainSay(terminal: Terminal, title: string): Say {
  let saidAt = performance.now();
  return (text) => {
    if (performance.now() - saidAt < quietMs) return;
    saidAt = performance.now();
    terminal.note(`${title}: ${text}`);
  };
}

/** How everything live is shown: on stderr, and gone when it is over. Signals are the command's business. */
export function liveOptions(): ListrBaseClassOptions<unknown> {
  return {
    registerSignalListeners: false,
    rendererOptions: {
      clearOutput: true,
      showErrorMessage: false,
      logger: new ListrLogger<ListrDefaultRendererLogLevels>({
        useIcons: true,
        processOutput: new ProcessOutput(process.stderr, process.stderr, { leaveEmptyLine: false }),
      }),
    },
  };
}

/**
 * Runs one long step and shows on stderr how it goes: live on a terminal, else a line now and then. A terminal is as it
 * was when the step has ended.
 *
 * @param title what is done, for people
 * @throws whatever the step throws
 */
export async function withProgress<T>(terminal: Terminal, title: string, step: (say: Say) => Promise<T>): Promise<T> {
  if (!terminal.isLive) return step(plainSay(terminal, title));
  let result: { readonly value: T } | undefined;
  const list = new Listr(
    {
      title,
      task: async (_, task) => {
        const say = (text: string): void => {
          task.title = `${title}: ${text}`;
        };
        result = { value: await step(say) };
      },
    },
    liveOptions(),
  );
  await list.run();
  return (result as unknown as { readonly value: T }).value;
}
