import {
  CandorError,
  decodeBody,
  decodeDelegationToken,
  decodeFrame,
  decodePayload,
  type Certificate,
  type Payload,
} from "@candor/contract";

/** What a sub-fleet goes by: the delegation of the task whose agent it delegates for. */
export interface ParentDelegation {
  readonly run: string;
  readonly lane: number;
  readonly dataKey: Uint8Array;
  readonly policyHash: Uint8Array;
  /** As each delegation of the sub-fleet says it. */
  readonly parent: NonNullable<Payload<"delegate">["parent"]>;
}

/**
 * Opens the delegation token of a task for the sub-fleet that it names.
 *
 * @throws CandorError `malformed` for a text that is no token, `no-delegation` if it names another sub-fleet or none
 */
export function readParentDelegation(token: string, fleet: Certificate): ParentDelegation {
  const { intent, lane, dataKey } = decodeDelegationToken(token);
  const { kind, run, task, epoch, actor, payload } = decodeBody(decodeFrame(intent).body);
  if (kind !== "delegate") throw new CandorError("no-delegation", `The token holds a ${kind} and no delegation.`);
  const { subFleet, parent, policyHash } = decodePayload(kind, payload);
  if (subFleet?.name !== fleet.name || subFleet.key !== fleet.key) {
    throw new CandorError(
      "no-delegation",
      `The delegation of task ${task} names ${subFleet === undefined ? "no sub-fleet" : `the sub-fleet ${subFleet.name}`}, and these are the credentials of ${fleet.name}: have it delegated with subFleet.`,
      { details: { task, subFleet: subFleet?.name } },
    );
  }
  return {
    run,
    lane,
    dataKey: dataKey.slice(),
    policyHash: policyHash.slice(),
    parent: { task, epoch, fleet: actor, opener: parent?.opener ?? actor },
  };
}
