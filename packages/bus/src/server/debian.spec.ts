import { describe, expect, it } from "vitest";
import { signedBy } from "./debian.js";

const stanzas = `# comment
Types: deb
URIs: http://mirror.example/debian
Suites: stable stable-updates
Signed-By: /keys/one.gpg

Types: deb
# comment
URIs: http://mirror.example/debian-security
Suites: stable-security
signed-by: /keys/two.pgp

Types: deb
URIs: http://mirror.example/inline
Suites: stable
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
`;

describe("the keyring of a Debian mirror", () => {
  it("is read from the stanza that apt names", () => {
    expect([1, 2, 3, 4].map((entry) => signedBy(stanzas, true, entry))).toEqual([
      "/keys/one.gpg",
      "/keys/two.pgp",
      undefined,
      undefined,
    ]);
  });

  it("is read from the line that apt names", () => {
    const lines =
      "# comment\ndeb [arch=amd64 signed-by=/keys/one.gpg] http://mirror.example stable main\ndeb http://x y z\n";
    expect([1, 2, 3, 9].map((entry) => signedBy(lines, false, entry))).toEqual([
      undefined,
      "/keys/one.gpg",
      undefined,
      undefined,
    ]);
  });
});
