import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defaultMigrations, reviewFolder, type FileReview } from "./folder-review.js";
import { unreadable } from "./sql-file.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "migrations-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

const write = async (file: string, content: string | Uint8Array): Promise<void> => {
  await mkdir(join(folder, file, ".."), { recursive: true });
  await writeFile(join(folder, file), content);
};
const outline = (reviews: readonly FileReview[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    reviews.map(({ file, findings, parseError }) => [
      file,
      parseError?.failure ?? findings.map(({ line, rule }) => `${line} ${rule}`),
    ]),
  );

test("the default set holds exactly the dangers that were put into it", async () => {
  expect(outline(await reviewFolder(defaultMigrations))).toEqual({
    "0001_create_customers.sql": [],
    "0002_create_products.sql": [],
    "0003_create_orders.sql": [],
    "0004_order_status.sql": [],
    "0005_orders_by_customer.sql": ["2 create-index-locks", "4 drop-index-locks"],
    "0006_backfill_totals.sql": ["13 update-without-where", "15 set-not-null"],
    "0007_prices_as_numeric.sql": ["2 alter-column-type", "3 add-column-rewrites", "5 rename-column"],
    "0008_split_customer_name.sql": ["2 add-not-null-column", "9 drop-column"],
    "0009_archive_old_orders.sql": ["10 delete-without-where", "13 dynamic-sql", "18 delete-without-where"],
    "0010_reporting_access.sql": ["3 grant-all", "4 grant-public", "5 row-security-off"],
    "0011_drop_legacy_cart.sql": ["2 lock-table", "3 drop-table", "3 cascade", "4 truncate", "5 not-in-transaction"],
    "0012_loyalty_points.sql": "syntax-error",
    "0013_product_reviews.sql": ["10 add-foreign-key-validates"],
  });
});

describe("folders", () => {
  test("subfolders are entered, in order, and only *.sql counts", async () => {
    await write("b/2.sql", "DROP TABLE b;");
    await write("a/1.SQL", "DROP TABLE a;");
    await write("readme.md", "DROP TABLE c;");
    await write("node_modules/other/3.sql", "DROP TABLE d;");
    await write(".hidden/4.sql", "DROP TABLE e;");
    await mkdir(join(folder, "empty.sql"));
    expect(Object.entries(outline(await reviewFolder(folder)))).toEqual([
      ["a/1.SQL", ["1 drop-table"]],
      ["b/2.sql", ["1 drop-table"]],
    ]);
  });

  test("an empty folder is an empty review", async () => {
    expect(await reviewFolder(folder)).toEqual([]);
  });

  test("a folder that is not there, or is a file, is a bad argument that names it", async () => {
    await write("x.sql", "SELECT 1;");
    for (const path of [join(folder, "missing"), join(folder, "x.sql")]) {
      await expect(reviewFolder(path)).rejects.toMatchObject({
        code: "bad-argument",
        message: expect.stringContaining(path) as string,
      });
    }
  });

  test("links are followed, loops end, and no file is reviewed twice", async () => {
    await write("a/1.sql", "DROP TABLE a;");
    await symlink("..", join(folder, "a", "up"));
    await symlink("../a", join(folder, "a", "self"));
    await symlink("a/1.sql", join(folder, "again.sql"));
    expect(outline(await reviewFolder(folder))).toEqual({ "a/1.sql": ["1 drop-table"] });
  });

  test("a file that cannot be read is an error of that file, and the others go on", async () => {
    await symlink("1.sql", join(folder, "1.sql"));
    await symlink("gone.sql", join(folder, "2.sql"));
    await symlink("gone", join(folder, "not-a-migration"));
    await write("3.sql", "DROP TABLE a;");
    expect(outline(await reviewFolder(folder))).toEqual({
      "1.sql": "unreadable",
      "2.sql": "unreadable",
      "3.sql": ["1 drop-table"],
    });
  });

  test("no permission is told apart from other trouble", () => {
    const denied = Object.assign(new RangeError("x"), { code: "EACCES" });
    expect(unreadable(denied)).toMatchObject({ failure: "permission-denied", type: "denied" });
    expect(unreadable("odd")).toMatchObject({ failure: "unreadable", type: "unavailable" });
  });
});

describe("files", () => {
  const utf16 = Buffer.from("\ufeffDROP TABLE a;", "utf16le");
  test.each([
    ["a byte order mark", "\ufeffDROP TABLE a;", ["1 drop-table"]],
    ["Windows line ends", "SELECT 1;\r\nDROP TABLE a;\r\n", ["2 drop-table"]],
    ["Latin-1", Buffer.from("SELECT 'é';", "latin1"), "not-utf8"],
    ["UTF-16", utf16, "not-utf8"],
    ["nothing", "", []],
    ["NUL bytes", "DROP TABLE a;\0", "nul-byte"],
  ])("with %s", async (_name, content, expected) => {
    await write("1.sql", content);
    await write("2.sql", "DROP TABLE b;");
    expect(outline(await reviewFolder(folder))).toEqual({ "1.sql": expected, "2.sql": ["1 drop-table"] });
  });

  test("the limit of size is exact and leaves the parser alone", async () => {
    const sql = "DROP TABLE a;";
    await write("fits.sql", sql);
    await write("over.sql", `${sql} `);
    expect(outline(await reviewFolder(folder, { maxBytes: sql.length }))).toEqual({
      "fits.sql": ["1 drop-table"],
      "over.sql": "too-large",
    });
  });

  test("a file of several megabytes is refused by default", async () => {
    await write("huge.sql", "INSERT INTO t VALUES (1);\n".repeat(200_000));
    expect(outline(await reviewFolder(folder))).toEqual({ "huge.sql": "too-large" });
  });
});

describe("stopping", () => {
  test("every file is told as it is done, with its place among all", async () => {
    for (const name of ["1.sql", "2.sql", "3.sql"]) await write(name, "SELECT 1;");
    const told: string[] = [];
    await reviewFolder(folder, {
      onFile: ({ file }, index, count) => {
        told.push(`${file} ${index + 1}/${count}`);
      },
    });
    expect(told).toEqual(["1.sql 1/3", "2.sql 2/3", "3.sql 3/3"]);
  });

  test("an abort ends the review with the signal's reason before the next file", async () => {
    for (const name of ["1.sql", "2.sql", "3.sql"]) await write(name, "SELECT 1;");
    const recall = new AbortController();
    const reason = new DOMException("recalled", "AbortError");
    const told: string[] = [];
    const review = reviewFolder(folder, {
      signal: recall.signal,
      onFile: ({ file }) => {
        told.push(file);
        recall.abort(reason);
      },
    });
    await expect(review).rejects.toBe(reason);
    expect(told).toEqual(["1.sql"]);
    await expect(reviewFolder(folder, { signal: recall.signal })).rejects.toBe(reason);
  });
});
