import { z } from "zod";
import { payloadSchemas } from "./payloads/index.js";
import { policySchema } from "./policy.js";
import { quarantineBody, verdictBody } from "./verdict.js";

const named = { ...payloadSchemas, policy: policySchema, verdict: verdictBody, quarantine: quarantineBody } as const;
export type SchemaName = keyof typeof named;
export const schemaNames = Object.keys(named) as SchemaName[];

/** JSON Schema (draft 2020-12) of a payload, the policy, or a guard's record. Byte strings appear as base64 text. */
export function jsonSchema(name: SchemaName): Record<string, unknown> {
  return z.toJSONSchema(named[name], {
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema: schema }) => {
      const meta = z.globalRegistry.get(zodSchema);
      const most = meta?.["bytes"];
      if (typeof most !== "number") return;
      delete schema["bytes"];
      Object.assign(schema, {
        type: "string",
        contentEncoding: "base64",
        description: `at most ${most} bytes`,
      });
    },
  });
}
