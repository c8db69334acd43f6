import {
  checkUpwardReport,
  reportReasonClasses,
  reportRoot,
  type ReportReading,
  type ReportReasonClass,
} from "@candor/contract";
import { contentOf, type FencedBlock, scanFences } from "./fence.js";
import { maxMarks, readBlock } from "./report-yaml.js";

/**
 * Reads a subagent's answer, which ends with its report: one fenced `yaml` block with the root key `upward-report` (U1).
 * It never throws, takes linear time in the length of the text, and reads at most 256 Ki characters of blocks.
 *
 * Fences follow CommonMark; what is quoted, inside another fence, or followed by anything but white space is no report.
 * Unknown fields have no effect and are named in `ignored`.
 */
export function parseUpwardReport(text: string): ReportReading {
  const { candidates, last, tail } = scanFences(text);
  // A report that something follows is not last, whatever follows it.
  const absent = refuse(candidates.length > 0 ? "block-not-last" : "no-block", candidates[0]?.line);
  const own = last?.isYaml === true ? last : last?.isBare === true ? last.inner : undefined;
  if (last === undefined || own === undefined) return absent;
  if (!last.isClosed) return refuse("unclosed-fence", own.line);
  if (tail.trim() !== "") return absent;

  const content = contentOf(text, own);
  const lineAt = (offset: number): number => own.line + content.slice(0, offset).split("\n").length - 1;
  const budget = { marks: maxMarks };
  const block = readBlock(content, budget);
  const earlier = candidates.filter((candidate) => candidate !== own);
  if ("reasonClass" in block) {
    const { reasonClass, sentence, offset } = block;
    // Another yaml block stands behind the report.
    if (reasonClass === "wrong-root" && earlier.length > 0) return refuse("block-not-last", earlier[0]?.line);
    return refuse(reasonClass, lineAt(offset), sentence);
  }
  const reading = checkUpwardReport(block.fields);
  if (!reading.ok) {
    const { path } = reading.refusal;
    return { ok: false, refusal: { ...reading.refusal, line: lineAt(block.places.get(path) ?? 0) } };
  }
  // Earlier text that is no YAML is no report; what the budget does not suffice to read counts as one.
  const isReport = (candidate: FencedBlock): boolean =>
    "fields" in readBlock(contentOf(text, candidate), budget) || budget.marks < 0;
  if (earlier.some(isReport)) return refuse("multiple-blocks", earlier[0]?.line);
  return { ...reading, ignored: [...block.ignored, ...reading.ignored] };
}

function refuse(reasonClass: ReportReasonClass, line: number | undefined, detail = ""): ReportReading {
  const { must } = reportReasonClasses[reasonClass];
  return {
    ok: false,
    refusal: {
      reasonClass,
      path: reasonClass === "wrong-root" ? reportRoot : "",
      ...(line === undefined ? {} : { line }),
      sentence: detail === "" ? must : `${must}; ${detail}`,
    },
  };
}
