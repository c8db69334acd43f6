import { z } from "zod";
import { lookupFailures } from "./failure-script.js";

/** Who asks, so that each caller meets the script of failures from its start; the header is optional. */
export const callerHeader = "x-caller";

export const itemSchema = z.object({ item: z.string(), quantity: z.int().nonnegative() });
export type Item = Readonly<z.infer<typeof itemSchema>>;

/** One lookup as the service saw it. */
export const lookupRecordSchema = z.object({
  /** 1, 2, 3 … over all lookups. */
  number: z.int(),
  caller: z.string(),
  item: z.string(),
  /** 1 for the caller's first lookup of the item. */
  attempt: z.int(),
  answer: z.enum(["ok", "unknown-item", ...lookupFailures]),
});
export type LookupRecord = Readonly<z.infer<typeof lookupRecordSchema>>;

/** `GET /book` */
export const inventoryBookSchema = z.object({ lookups: z.array(lookupRecordSchema) });
