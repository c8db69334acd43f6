import { z } from "zod";

export const keyHeader = "idempotency-key";
/** Keys of 1–255 printable ASCII characters, as payment services have them. */
export const keyPattern = /^[\x21-\x7e]{1,255}$/;

/** What a payment is about. Amounts are whole numbers of the currency's smallest unit, like cents. */
export const paymentOrderSchema = z.strictObject({
  amount: z.int().positive(),
  currency: z.string().regex(/^[A-Z]{3}$/, "three capital letters (ISO 4217)"),
  recipient: z.string().min(1).max(200),
});
export type PaymentOrder = Readonly<z.infer<typeof paymentOrderSchema>>;

/** Accepted and on its way; money has moved; money will not move. */
export const paymentStates = ["in-flight", "booked", "declined"] as const;
export type PaymentState = (typeof paymentStates)[number];

export const paymentSchema = z.object({
  /** The service's own number of the payment. */
  id: z.string(),
  /** The caller's idempotency key. */
  key: z.string(),
  ...paymentOrderSchema.shape,
  state: z.enum(paymentStates),
  /** Wall clock, in milliseconds. */
  acceptedAtMs: z.number(),
  settledAtMs: z.number().optional(),
});
export type Payment = Readonly<z.infer<typeof paymentSchema>>;

/** What became of one `POST /payments`. */
export const postResults = ["accepted", "repeated", "conflict", "invalid"] as const;

export const postRecordSchema = z.object({
  /** 1, 2, 3 … since the service started. */
  number: z.int(),
  /** Empty when the request had no usable key. */
  key: z.string(),
  result: z.enum(postResults),
  atMs: z.number(),
});
export type PostRecord = Readonly<z.infer<typeof postRecordSchema>>;

/** `GET /book`: the truth about what was paid, and the requests that led to it. */
export const bookSchema = z.object({ payments: z.array(paymentSchema), posts: z.array(postRecordSchema) });
export type Book = Readonly<z.infer<typeof bookSchema>>;

/** True when both orders ask for the same. */
export function isSameOrder(a: PaymentOrder, b: PaymentOrder): boolean {
  return a.amount === b.amount && a.currency === b.currency && a.recipient === b.recipient;
}
