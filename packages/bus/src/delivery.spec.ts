import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deliveryPrefixLength, readDelivery } from "./delivery.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const digits = fc.integer({ min: 0, max: 2 ** 50 });
const numbers = fc.record({
  seq: digits,
  consumerSeq: digits,
  timeMs: fc.integer({ min: 1e12, max: 9e12 }),
  pending: digits,
});

describe("delivery subjects", () => {
  const forms = {
    old: (tail: string) => `$JS.ACK.CANDOR_LOG.candor-X.1.${tail}`,
    new: (tail: string) => `$JS.ACK._.AbCdEf12.CANDOR_LOG.candor-X.1.${tail}`,
    "new with a token behind": (tail: string) => `$JS.ACK.hub.AbCdEf12.CANDOR_LOG.candor-X.1.${tail}.Xy9`,
  };

  it.each(Object.entries(forms))("are read in the %s form", (_, form) => {
    fc.assert(
      fc.property(numbers, fc.integer({ min: 0, max: 999_999 }), (delivery, nanos) => {
        const time = `${delivery.timeMs}${String(nanos).padStart(6, "0")}`;
        const subject = bytes(form(`${delivery.seq}.${delivery.consumerSeq}.${time}.${delivery.pending}`));
        const prefixLength = deliveryPrefixLength(subject, "CANDOR_LOG", "candor-X");
        expect(readDelivery(subject, prefixLength)).toEqual(delivery);
      }),
    );
  });

  it.each([
    "$JS.ACK.CANDOR_LOG.candor-Y.1.2.3.4.5",
    "$JS.ACK.OTHER.candor-X.1.2.3.4.5",
    "_IN.guard.g1.CANDOR_LOG.candor-X.1",
    "",
  ])("of another consumer, or no delivery at all, are told apart: %s", (subject) => {
    expect(deliveryPrefixLength(bytes(subject), "CANDOR_LOG", "candor-X")).toBe(0);
  });
});
