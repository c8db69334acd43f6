/**
 * Writes a double as Python's `format(x, ".0f")` does: the exact binary value rounded to a whole number with halves to
 * the even neighbour, every digit written out, the sign of negative zero kept.
 *
 * @param seconds any double, not-a-number and the infinities included
 */
export function wholeSeconds(seconds: number): string {
  if (Number.isNaN(seconds)) return "nan";
  const sign = seconds < 0 || Object.is(seconds, -0) ? "-" : "";
  const magnitude = Math.abs(seconds);
  // BigInt writes the double's own digits; String would turn to an exponent from 1e21 on.
  return sign + (magnitude === Infinity ? "inf" : BigInt(roundHalfEven(magnitude)).toString());
}

/** Doubles from 2^52 on are whole; below, the difference to the floor is exact, so the comparison with a half is too. */
function roundHalfEven(magnitude: number): number {
  const below = Math.floor(magnitude);
  const rest = magnitude - below;
  const up = rest > 0.5 || (rest === 0.5 && below % 2 === 1);
  return up ? below + 1 : below;
}
