import type { ExitCode } from "@candor/contract";

/** What a process that a signal ended says, as shells report it: 128 and the signal's number. */
export const exitOfSignal = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

export type Wish = keyof typeof exitOfSignal;

/** Exit codes of this command line; documented in its README. */
export type CliExit = ExitCode | (typeof exitOfSignal)[Wish];
