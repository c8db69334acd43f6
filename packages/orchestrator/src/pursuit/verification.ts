import { cutText, type EvidenceHandle } from "@candor/contract";
import { verifierDigest, type Verification, type Verifier, type VerifierOutcome } from "@candor/guards";
import type { Prober } from "../prober.js";
import type { RunEvidence } from "../run-evidence.js";
import { runVerifier, type VerifierRun, type VerifierSurroundings } from "./verifier-run.js";

export interface VerificationPlace extends VerifierSurroundings {
  readonly run: string;
  readonly task: string;
  readonly epoch: number;
  readonly prober: Prober;
  readonly evidence: Pick<RunEvidence, "put">;
  /** Seals under the run's data key: the output is prose as well. */
  readonly seal: (text: string) => Uint8Array;
}

/** Of the output so much stands in the receipt itself, sealed, for whoever looks at the task. */
const shownBytes = 2 * 1024;

/** Runs what the terms name, keeps the output as evidence, and stores a receipt of each run, by which the guard judges (U5). */
export async function verifyWork(
  { verifier, ablation }: { readonly verifier: Verifier; readonly ablation?: Verifier | undefined },
  place: VerificationPlace,
): Promise<Verification> {
  const outcome = await runAndTell(verifier, "check", place);
  if (ablation === undefined) return { outcome };
  return { outcome, ablation: await runAndTell(ablation, "ablation", place) };
}

async function runAndTell(
  verifier: Verifier,
  role: "check" | "ablation",
  place: VerificationPlace,
): Promise<VerifierOutcome> {
  const { run, task, epoch, prober, seal } = place;
  const ran = await runVerifier(verifier, place);
  const { sha256 } = await keep(verifier, ran, place);
  const { outcome, exitCode, output, outputBytes } = ran;
  const shown = new TextDecoder().decode(output.subarray(-shownBytes));
  await prober.publishProbe({
    run,
    task,
    epoch,
    target: { of: "task" },
    method: nameOf(verifier),
    outcome,
    evidence: Uint8Array.from(Buffer.from(sha256, "hex")),
    verifier: {
      kind: verifier.kind,
      digest: verifierDigest(verifier),
      role,
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(shown === "" ? {} : { output: seal(shown) }),
      outputBytes,
    },
  });
  return verifier.kind === "command"
    ? { kind: "command", exitCode: exitCode ?? null, evidence: sha256 }
    : { kind: "probe", outcome, evidence: sha256 };
}

/** The output behind a line that says what it is of, so that a silent verifier leaves evidence as well. */
function keep(verifier: Verifier, ran: VerifierRun, place: VerificationPlace): Promise<EvidenceHandle> {
  const { outcome, exitCode, output, outputBytes } = ran;
  const code = exitCode === undefined ? "" : `, exit code ${exitCode}`;
  const line = `${nameOf(verifier)} on ${place.task}, epoch ${place.epoch}: ${outcome}${code}, ${outputBytes} bytes of output\n`;
  return place.evidence.put("output of a verifier", Buffer.concat([Buffer.from(line), output]));
}

/** What it was, in the open: the program's or the probe's name, and none of the arguments. */
function nameOf(verifier: Verifier): string {
  const name = verifier.kind === "command" ? verifier.argv[0] : verifier.probe;
  return cutText(`${verifier.kind} ${name}`.replace(/[\p{Cc}\p{Cs}]/gu, " "), 128);
}
