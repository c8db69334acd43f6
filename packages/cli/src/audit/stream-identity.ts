import { apiRequest, type Bus } from "@candor/bus";
import { CandorError, streams } from "@candor/contract";

function metadataIn(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const config = body["config"] as { readonly metadata?: Readonly<Record<string, unknown>> } | undefined;
  return config?.metadata ?? {};
}

/**
 * The number of lanes as the streams name it: those of any stream, since the log itself may be gone.
 *
 * @param operator public key of the operator that the streams must name
 * @throws CandorError `not-provisioned` if there is no stream of ours at all, `streams-differ` if they are another operator's
 */
export async function lanesOfStreams(bus: Bus, operator: string): Promise<number> {
  for (const stream of [streams.verdicts, streams.log]) {
    const answer = await apiRequest(bus.nc, `${bus.apiPrefix}.STREAM.INFO.${stream}`);
    if (!answer.ok) continue;
    const metadata = metadataIn(answer.body);
    const lanes = Number(metadata["candor-lanes"]);
    const found = metadata["candor-operator"];
    if (typeof found === "string" && found !== operator) {
      throw new CandorError(
        "streams-differ",
        `The streams belong to the operator ${found}, but these credentials trust ${operator}: check the server's address and the credentials.`,
      );
    }
    if (Number.isInteger(lanes) && lanes > 0) return lanes;
  }
  throw new CandorError(
    "not-provisioned",
    "The server has no Candor streams, so there is nothing to audit: check its address or the data folder.",
  );
}
