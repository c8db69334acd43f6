import { tmpdir } from "node:os";
import { EvidenceBody, openEvidenceSource, putEvidence, type EvidenceInput, type EvidencePort } from "@candor/bus";
import {
  CandorError,
  evidenceAddress,
  evidenceLimits,
  hex,
  isLabel,
  utf8,
  type EvidenceHandle,
  type PropagatedFailure,
} from "@candor/contract";

/** Evidence of one run, as its orchestrator sees it (T2). */
export interface RunEvidence {
  /**
   * A piece of evidence of this run, whoever stored it. It is read when it is iterated or asked for its bytes, and its
   * hash checked then.
   *
   * @throws CandorError `bad-argument` for what is no handle, or one of another run
   */
  get(handle: EvidenceHandle): EvidenceBody;
  /**
   * What a task had stored by the time it failed, so that whoever goes on with the work need not find it anew (F6). Labels
   * stay sealed; `run.result` has them.
   */
  of(failure: PropagatedFailure): readonly EvidenceHandle[];
  /**
   * Stores evidence of the orchestrator's own, such as what a verifier printed.
   *
   * @param label one line for people, up to 128 characters; sealed
   * @param source bytes, text or stream, up to 64 MiB
   * @throws CandorError `too-large`, `bad-argument`; `store-full`, `server-unreachable` or `publish-unconfirmed`, after
   *   which it may be put again; `evidence-altered`
   */
  put(label: string, source: EvidenceInput): Promise<EvidenceHandle>;
}

/** @param seal under the run's data key */
export function runEvidence(
  port: EvidencePort,
  { run, fleet, seal }: { readonly run: string; readonly fleet: string; readonly seal: (text: string) => Uint8Array },
): RunEvidence {
  return {
    get: (handle) => new EvidenceBody(port, evidenceAddress(handle, run)),
    of: ({ evidence = [] }) =>
      evidence.map(({ actor, hash, size }) => ({ run, actor, sha256: hex(hash), size, label: "(sealed)" })),
    put: async (label, input) => {
      if (!isLabel(label) || utf8(label).length > evidenceLimits.maxLabelBytes) {
        throw new CandorError("bad-argument", "A label of evidence is one line of 1 to 128 characters.", {
          path: "label",
        });
      }
      const sealed = seal(label);
      const source = await openEvidenceSource(input, tmpdir());
      try {
        const { hash, size } = await putEvidence(port, { actor: fleet, run }, source, sealed);
        return { run, actor: fleet, sha256: hex(hash), size, label };
      } finally {
        await source.close();
      }
    },
  };
}
