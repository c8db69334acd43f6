import { headers, type MsgHdrs } from "@nats-io/transport-node";

/**
 * Headers by which every client of the NATS service protocol (ADR-32) knows an answer as a failure.
 *
 * @param code as of HTTP: 400 for a bad request, 500 for a failure of the service
 * @param description for people; line breaks become blanks, which a header can't hold
 */
export function serviceErrorHeaders(code: number, description: string): MsgHdrs {
  const fields = headers();
  fields.set("Nats-Service-Error", description.replaceAll(/\s+/g, " "));
  fields.set("Nats-Service-Error-Code", String(code));
  return fields;
}
