import type { Payload } from "@candor/contract";
import type { ApproveOptions } from "./run-options.js";

/** What an approval says on the wire. */
export function approvalOf(options: ApproveOptions): Omit<Payload<"approve">, "standing"> {
  const { person, report, approved = [], refused = [], accept = false, redispatches = 0, authority = [] } = options;
  return {
    person,
    ...(report === undefined ? {} : { report: report.hash }),
    approved: approved.map(({ digest }) => digest),
    refused: refused.map(({ digest }) => digest),
    accept,
    redispatches,
    authority: [...authority],
  };
}
