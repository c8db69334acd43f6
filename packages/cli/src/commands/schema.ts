import { CandorError, jsonSchema, schemaNames, type SchemaName } from "@candor/contract";
import type { Command } from "commander";
import { present, type CommonOptions, type Context } from "../context.js";
import { examples } from "../help.js";
import { nearest } from "../nearest.js";
import { jsonText } from "../output/json.js";
import { printable } from "../output/printable.js";

function isSchemaName(name: string): name is SchemaName {
  return (schemaNames as readonly string[]).includes(name);
}

function unknownSchema(name: string): CandorError {
  const similar = nearest(name, schemaNames);
  const hint = similar.length === 0 ? `There are: ${schemaNames.join(", ")}.` : `Did you mean ${similar.join(", ")}?`;
  return new CandorError("not-found", `There is no schema ${JSON.stringify(printable(name).slice(0, 60))}. ${hint}`, {
    details: { similar },
  });
}

export function addSchema(program: Command, context: Context): void {
  program
    .command("schema")
    .description("print the JSON Schema of an event's payload, of the policy, or of a guard's record")
    .argument("[name]", "such as report or verdict; without it the names are listed")
    .option("--json", "print JSON; a schema always is, a list becomes one")
    .addHelpText(
      "after",
      examples("candor schema", "candor schema report > report.schema.json", "candor schema policy"),
    )
    .action((name: string | undefined, options: CommonOptions) => {
      if (name === undefined) {
        present(context, options, schemaNames, (names) => names.join("\n"));
        return;
      }
      if (!isSchemaName(name)) throw unknownSchema(name);
      context.terminal.out(jsonText(jsonSchema(name)));
    });
}
