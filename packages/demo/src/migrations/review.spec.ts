import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { reviewSql } from "./review.js";
import type { RuleId } from "./rules.js";

const found = async (sql: string): Promise<readonly RuleId[]> => {
  const review = await reviewSql(sql);
  expect(review.parseError, sql).toBeUndefined();
  return review.findings.map(({ rule }) => rule);
};

describe("COPY data, as pg_dump writes it", () => {
  test("is no SQL and hides no statement around it", async () => {
    const sql =
      "DROP TABLE a;\nCOPY b (x, y) FROM stdin;\n1\tit's\n2\tDROP TABLE c;\n\\.\n\nCOPY d FROM STDIN;\nrow\n\\.\nTRUNCATE e;";
    const { findings, statements, dangerous, dataLines, parseError } = await reviewSql(sql);
    expect(parseError).toBeUndefined();
    expect({ statements, dangerous, dataLines }).toEqual({ statements: 4, dangerous: 2, dataLines: 3 });
    expect(findings.map(({ line, rule }) => [line, rule])).toEqual([
      [1, "drop-table"],
      [10, "truncate"],
    ]);
  });

  test("a COPY in a comment hides nothing", async () => {
    const sql = "/*\nCOPY a FROM stdin;\n*/\nDROP TABLE b;\nCOPY c FROM stdin;\nrow\n\\.\n";
    expect((await reviewSql(sql)).findings.map(({ rule }) => rule)).toEqual(["drop-table"]);
  });
});

describe("places", () => {
  test("a finding carries the line of its statement and one printable line of it", async () => {
    const { findings } = await reviewSql(
      "-- naïve ☃\n\nSELECT 'é\u001b[31m';\n  /* first */\n\tDROP   TABLE\n\u00a0orders -- gone\n;",
    );
    expect(findings).toEqual([
      { rule: "drop-table", severity: "high", line: 5, statement: "DROP TABLE orders -- gone" },
    ]);
  });

  test("commands of one ALTER TABLE have lines of their own", async () => {
    const { findings } = await reviewSql("ALTER TABLE a\n  ADD b int NOT NULL,\n  ADD CHECK (b > 0)");
    expect(findings.map(({ line, rule }) => [line, rule])).toEqual([
      [2, "add-not-null-column"],
      [3, "add-check-validates"],
    ]);
  });

  test("statements inside a block have lines of the file, in branches, loops and handlers too", async () => {
    const sql = [
      "SELECT 1;",
      "DO",
      "$body$",
      "DECLARE r record;",
      "BEGIN",
      "  FOR r IN SELECT id FROM a LOOP",
      "    UPDATE a",
      "      SET b = 1;",
      "  END LOOP;",
      "EXCEPTION WHEN OTHERS THEN",
      "  TRUNCATE a;",
      "END $body$;",
    ].join("\n");
    const { findings } = await reviewSql(sql);
    expect(findings.map(({ line, rule }) => [line, rule])).toEqual([
      [7, "update-without-where"],
      [11, "truncate"],
    ]);
  });

  test("lines put before a migration move its findings by as much and change nothing else", async () => {
    const filler = fc.array(fc.constantFrom("", "-- ä;", "/* DROP TABLE x; */", "\t", "-- 😀"), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(filler, async (before) => {
        const sql = "DROP TABLE a;\n\nALTER TABLE b\n ADD c int NOT NULL;";
        const plain = await reviewSql(sql);
        const moved = await reviewSql([...before, sql].join("\n"));
        expect(moved.findings).toEqual(plain.findings.map((f) => ({ ...f, line: f.line + before.length })));
        expect(moved.statements).toBe(2);
      }),
    );
  });
});

describe("text that does not parse", () => {
  test.each([
    ["a typing error", "SELECT 1;\n\nDRPO TABLE a;", "syntax-error", "invalid-input", 3],
    ["an open string", "SELECT 'ä😀';\nSELECT 'open", "syntax-error", "invalid-input", 2],
    [
      "another database's SQL",
      "DROP TABLE a;\nCREATE TABLE b (id int AUTO_INCREMENT);",
      "syntax-error",
      "invalid-input",
      2,
    ],
    ["a NUL byte", "SELECT 1;\nSELECT 2;\0DROP TABLE a;", "nul-byte", "invalid-input", 2],
    ["deep brackets", `SELECT ${"(".repeat(50_000)}1${")".repeat(50_000)}`, "too-deep", "over-budget", undefined],
    ["a long sum", `SELECT 1${"+1".repeat(64_000)}`, "too-deep", "over-budget", undefined],
  ])("%s", async (_name, sql, failure, type, line) => {
    const review = await reviewSql(sql);
    expect(review).toMatchObject({ statements: 0, findings: [], parseError: { failure, type } });
    expect(review.parseError?.line).toBe(line);
  });

  test("a psql command is named as one", async () => {
    expect((await reviewSql("SELECT 1;\n\\connect shop\n")).parseError?.message).toContain("psql");
  });

  test("however many texts were too deep, the next is reviewed as ever", async () => {
    const tooDeep = `SELECT 1${"+1".repeat(20_000)}`;
    for (let round = 0; round < 35; round += 1) {
      expect((await reviewSql(tooDeep)).parseError?.failure).toBe("too-deep");
    }
    expect(await found(`DROP TABLE a; SELECT ${"(".repeat(200)}1${")".repeat(200)}`)).toEqual(["drop-table"]);
  }, 60_000);

  test.each(["", " \n\t\n", "-- nothing\n", "/* nothing */", ";;"])(
    "%j holds no statement and is no error",
    async (sql) => {
      expect(await reviewSql(sql)).toEqual({ statements: 0, findings: [] });
    },
  );

  test("whatever the text, the result is a review", async () => {
    const words = fc.constantFrom(
      "DROP",
      "TABLE",
      "a",
      ";",
      "(",
      ")",
      "'",
      '"',
      "$$",
      "--",
      "/*",
      "DO",
      "BEGIN",
      "END",
      "\n",
      "é",
      "\0",
      "1",
      "WITH",
      "AS",
      "DELETE",
      "FROM",
    );
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(words, { maxLength: 20 }).map((parts) => parts.join(" ")),
    );
    await fc.assert(
      fc.asyncProperty(text, async (sql) => {
        const review = await reviewSql(sql);
        expect(review.parseError?.failure).not.toBe("parser-failed");
        const lineCount = sql.split("\n").length;
        const lines = [...review.findings.map(({ line }) => line), review.parseError?.line ?? 1];
        expect(lines.every((line) => line >= 1 && line <= lineCount)).toBe(true);
        expect(await reviewSql(sql)).toEqual(review);
      }),
      { numRuns: 500 },
    );
  });
});
