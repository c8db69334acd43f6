import { sha256 } from "@candor/contract";
import { createSeed, createSigner, issueCertificate, type Signer } from "@candor/ledger";
import type { Cast } from "./workload.js";

/** Where signatures are not what is measured: millions of them would take minutes. */
function cheapSigner(name: string): Signer {
  const { publicKey } = createSigner(createSeed());
  return {
    publicKey,
    sign: (message) => new Uint8Array([...sha256(message), ...sha256(message)]).fill(name.length, 0, 1),
  };
}

/** Who signs a log that is folded without a look at its signatures; the operator's word for the fleet is a true one. */
export function cheapCast(run: string): Cast {
  const operator = createSigner(createSeed());
  const fleet = cheapSigner("fleet");
  const taskKey = cheapSigner("task");
  return {
    run,
    operatorKey: operator.publicKey,
    fleet: {
      certificate: issueCertificate(operator, { role: "orch", name: "fleet", key: fleet.publicKey }),
      signer: fleet,
    },
    agent: { name: "agent", signer: cheapSigner("agent") },
    taskKey: () => taskKey,
  };
}
