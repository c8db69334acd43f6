import { CandorError } from "@candor/contract";
import { explain, explainedCodes, type Explained } from "@candor/guards";
import type { Command } from "commander";
import { present, type CommonOptions, type Context } from "../context.js";
import { nearest } from "../nearest.js";
import { printable } from "../output/printable.js";
import { examples } from "../help.js";

const familyNames = {
  finding: "a finding",
  verdict: "a verdict",
  action: "an action",
  quarantine: "a reason for quarantine",
  audit: "a finding of guards and audits",
  error: "an error",
  undecided: "why a wait for a decision ended without one",
  policy: "a fault of a policy",
} as const;

function describe({ terminal: { colors } }: Context, { code, families, means, todo }: Explained): string {
  const what = families.map((family) => familyNames[family]).join(", ");
  return `${colors.bold(code)} (${what})\n  ${means}\n  ${colors.dim("What to do:")} ${todo}`;
}

/** Every code under the kind of code it is, with what it means. */
function listed({ terminal: { colors } }: Context, all: readonly Explained[]): string {
  const kinds = Object.entries(familyNames).map(([family, name]) => {
    const rows = all.filter(({ families }) => families[0] === family).map(({ code, means }) => `  ${code}  ${means}`);
    return [colors.bold(name), ...rows].join("\n");
  });
  return kinds.join("\n\n");
}

function unknownCode(code: string): CandorError {
  const similar = nearest(code, explainedCodes());
  const hint = similar.length === 0 ? 'Run "candor explain" for the list.' : `Did you mean ${similar.join(", ")}?`;
  return new CandorError(
    "not-found",
    `${JSON.stringify(printable(code).slice(0, 60))} is no code that Candor uses. ${hint}`,
    {
      details: { similar },
    },
  );
}

export function addExplain(program: Command, context: Context): void {
  program
    .command("explain")
    .description("say what a code means and what to do: findings, verdicts, actions, quarantine, audit and error codes")
    .argument("[code]", "such as log-gap or CONCEALMENT_DETECTED; without it all codes are listed")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      examples("candor explain retry-undisclosed", "candor explain CONCEALMENT_DETECTED", "candor explain --json"),
    )
    .action((code: string | undefined, options: CommonOptions) => {
      if (code === undefined) {
        present(context, options, explainedCodes().flatMap(explain), (all) => listed(context, all));
        return;
      }
      const found = explain(code);
      if (found.length === 0) throw unknownCode(code);
      present(context, options, found, (all) => all.map((one) => describe(context, one)).join("\n\n"));
    });
}
