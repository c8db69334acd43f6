/** From this confidence on, 0 to 1, a result or a report counts as confident (T1, U2). */
export const enoughConfidence = 0.7;
