import {
  errorLogReceiptOf,
  hex,
  Tally,
  type Action,
  type AdmittedEvent,
  type AdmittedOf,
  type ErrorLogReceipt,
  type ProbeOutcome,
  type Report,
} from "@candor/contract";
import type { ChainFault } from "./author-chain.js";
import { pointersOf, type EvidencePointer } from "./evidence-pointers.js";
import type { EffectLedger, TrackedEffect } from "./effect-ledger.js";
import { FindingList } from "./judgement.js";
import { none, scopeOf, type KeptScope } from "./kept.js";
import { compareEffects, compareReceipts, joinReceipts } from "./receipt-check.js";

/** What is kept of a report: open tasks are many, and prose and receipts are long. */
export type KeptReport = Pick<Report, "claim" | "finishReason" | "coverage" | "confidence" | "work"> & {
  /** Author's number of the report. */
  readonly at: number;
  readonly caveats: number;
  readonly sizes?: NonNullable<Report["sizes"]>;
};

export function keepReport({ event, payload }: AdmittedOf<"report">): KeptReport {
  const { claim, finishReason, coverage, confidence, work, caveats, sizes } = payload;
  const kept = { at: event.seq, claim, finishReason, coverage, confidence, work, caveats: caveats.length };
  return sizes === undefined ? kept : { ...kept, sizes };
}

/** What most epochs never have. */
interface Oddities {
  /** The first forks and broken links, up to `mostFaults`. */
  readonly faults: { readonly fault: ChainFault; readonly seq: number }[];
  /** The receipt that the log itself gives, as of the first part; it holds while nothing but parts follows. */
  recomputed: ErrorLogReceipt | undefined;
  receiptParts: readonly Uint8Array[];
  /** Log sequence of a second report or of an event that can't follow one. */
  afterReport: { readonly seq: number; readonly turned: boolean } | undefined;
  /** The last receipt of each prober; of one that is not independent, the first. */
  readonly probes: SeenProbe[];
  /** Effects dispatched after the report. */
  readonly undeclared: FindingList;
  /**
   * What is recorded of effects and says nothing about disclosure (F7): keys that nobody minted, from a runtime that does not
   * enforce that; keys that were never read; keys that were refused for a second meaning; doubts of an earlier epoch.
   */
  readonly noted: FindingList;
  /** What the orchestrator has to do at least because of some of it, by what it is about. */
  readonly asked: Map<string, Action>;
  overflowed: boolean;
  /** What the report points to. */
  evidence: readonly EvidencePointer[];
  /** The number whose absence outlasted a window for late arrival: from then on it is a finding. */
  lostAt: number | undefined;
}

export interface SeenProbe {
  readonly prober: string;
  readonly outcome: ProbeOutcome;
  readonly independent: boolean;
  readonly seq: number;
}

/** One fork says what a thousand say, and the number is the agent's choice. */
const mostFaults = 100;

/** What the events of one epoch say about disclosure. Everything here comes from the log. */
export interface DisclosureState {
  readonly tally: Tally;
  report: KeptReport | undefined;
  /** What the receipts of the report and the log say differently; compared once, when the report is in order. */
  receiptFindings: FindingList;
  /** Hex of the receipt's head, if the log bears the receipt out: the reference's integrity proof. */
  proof: string | undefined;
  /** Read it as it is; write to `ownOddities`. */
  odd: Oddities;
}

function initialOddities(): Oddities {
  return {
    faults: [],
    recomputed: undefined,
    receiptParts: none,
    afterReport: undefined,
    probes: [],
    undeclared: new FindingList(),
    noted: new FindingList(),
    asked: new Map(),
    overflowed: false,
    evidence: none,
    lostAt: undefined,
  };
}

const nothingOdd = initialOddities();
const noFindings = new FindingList();

export function initialDisclosure(): DisclosureState {
  return { tally: new Tally(), report: undefined, receiptFindings: noFindings, proof: undefined, odd: nothingOdd };
}

/** The epoch's own, made when there first is one. */
export function ownOddities(state: DisclosureState): Oddities {
  if (state.odd === nothingOdd) state.odd = initialOddities();
  return state.odd;
}

/** A fork or a broken link. Returns whether it says anything new. */
export function foldFault(state: DisclosureState, fault: ChainFault, seq: number): boolean {
  const odd = ownOddities(state);
  if (odd.faults.length >= mostFaults && odd.faults.some((known) => known.fault === fault)) return false;
  odd.faults.push({ fault, seq });
  return true;
}

/** A dispatch, and whether it counts as unfenced. Told once: an agent can go on after its report for as long as it likes. */
export function foldDispatch(
  state: DisclosureState,
  { dispatch, key, seq }: TrackedEffect,
  { unfenced }: { unfenced: boolean },
): void {
  if (state.report !== undefined && dispatch > state.report.at)
    ownOddities(state).undeclared.add("effect-undeclared", key, seq);
  if (unfenced) ownOddities(state).noted.add("effect-unfenced", key, seq);
}

/** A probe receipt that counts. */
export function foldSeenProbe(state: DisclosureState, seen: SeenProbe): void {
  const { probes } = ownOddities(state);
  const at = probes.findIndex(({ prober, independent }) => prober === seen.prober && independent === seen.independent);
  if (at < 0) probes.push(seen);
  else if (seen.independent) probes[at] = seen;
}

/**
 * Folds one event of the agent, in chain order.
 * @param scope what the runtime said it can see
 */
export function foldDisclosure(
  state: DisclosureState,
  entry: AdmittedEvent,
  scope: KeptScope | undefined,
  effects: EffectLedger,
): void {
  if (state.report !== undefined) {
    foldAfterReport(state, entry);
    return;
  }
  if (entry.kind === "receipt") foldReceiptPart(state, entry);
  else if (entry.kind === "report") foldReport(state, entry, scope, effects);
  else {
    dropReceiptParts(state);
    state.tally.add(entry.event.seq, entry.kind, entry.payload);
  }
}

/** After the report only outcomes of effects may follow: they were under way. Terminal facts are not overwritten. */
function foldAfterReport(state: DisclosureState, entry: AdmittedEvent): void {
  const allowed = (entry.kind === "effect" && entry.payload.phase !== "dispatched") || entry.kind === "acknowledge";
  if (allowed || entry.kind === "no-side-effects" || state.odd.afterReport !== undefined) return;
  const turned = entry.kind === "report" && entry.payload.claim === "pass" && state.report?.claim !== "pass";
  ownOddities(state).afterReport = { seq: entry.seq, turned };
}

/** The first part says up to where the receipts go. A process that ended between them begins again with part 1. */
function foldReceiptPart(state: DisclosureState, entry: AdmittedOf<"receipt">): void {
  const { part, content } = entry.payload;
  if (part === 1) dropReceiptParts(state);
  const odd = ownOddities(state);
  odd.recomputed ??= errorLogReceiptOf(state.tally, entry.event.prev);
  if (part === odd.receiptParts.length + 1) odd.receiptParts = [...odd.receiptParts, content];
}

/** Receipts say all up to the report, so parts with anything else behind them say nothing of it. */
function dropReceiptParts({ odd }: DisclosureState): void {
  if (odd.recomputed === undefined) return;
  odd.recomputed = undefined;
  odd.receiptParts = none;
}

function foldReport(
  state: DisclosureState,
  entry: AdmittedOf<"report">,
  scope: KeptScope | undefined,
  effects: EffectLedger,
): void {
  const report = entry.payload;
  const findings = new FindingList();
  const frozen = report.receipts === undefined ? state.odd.recomputed : undefined;
  const recomputed = frozen ?? errorLogReceiptOf(state.tally, entry.event.prev);
  const receipts = report.receipts ?? joinReceipts(state.odd.receiptParts, report.receiptParts);
  compareReceipts(receipts, recomputed, state.tally, scope && scopeOf(scope), (code, about) => {
    findings.add(code, about, entry.seq);
  });
  // Where they went along with the receipts the report lists none: one that is told in both places is told twice.
  compareEffects([...(receipts?.effects ?? none), ...report.effects], effects.all, (code, key, seq = entry.seq) => {
    findings.add(code, key, seq);
  });
  state.report = keepReport(entry);
  if (report.evidence !== undefined) ownOddities(state).evidence = pointersOf(report.evidence);
  state.receiptFindings = findings;
  state.proof = findings.has("receipt-mismatch") ? undefined : hex(recomputed.head);
  dropReceiptParts(state);
}

/** The independent probes' answer about the task: true, false, or undefined where none is conclusive. */
export function probeAnswer(state: DisclosureState): boolean | undefined {
  const outcomes = state.odd.probes.filter(({ independent }) => independent).map(({ outcome }) => outcome);
  if (outcomes.includes("contradicted")) return false;
  return outcomes.includes("confirmed") ? true : undefined;
}
