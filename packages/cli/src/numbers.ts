import { isCandorError } from "@candor/contract";
import { InvalidArgumentError } from "commander";
import { parseDuration } from "./duration.js";

function wholeNumber(text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d{1,16}$/.test(text) && value >= least && value <= most) return value;
  throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
}

/** Reads a port; 0 stands for any that is free. */
export function port(text: string): number {
  return wholeNumber(text, 0, 65_535);
}

/** Reads a number of things, from 1. */
export function count(text: string): number {
  return wholeNumber(text, 1, 1_000_000);
}

/** Reads a number of lanes. */
export function laneCount(text: string): number {
  return wholeNumber(text, 1, 1_024);
}

/** Reads a length of time as milliseconds. */
export function duration(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    if (isCandorError(error)) throw new InvalidArgumentError(error.message);
    throw error;
  }
}
