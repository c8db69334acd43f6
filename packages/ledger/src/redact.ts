interface Row {
  /** What it is, for the mark `[redacted:<kind>]`. */
  readonly kind: string;
  /** What is replaced is the group `secret`, or the whole match where there is none. */
  readonly pattern: RegExp;
}

/**
 * What looks like a secret. Every pattern runs in linear time: a match begins only where no letter of the same kind stands before
 * it, and open repetitions are followed by nothing that could fail.
 */
const table: readonly Row[] = [
  {
    kind: "private-key",
    pattern:
      /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  },
  { kind: "delegation-token", pattern: /\bcandor1\.[\w-]{16,}/g },
  { kind: "jwt", pattern: /(?<![\w-])eyJ[\w-]{6,}\.[\w-]{6,}(?:\.[\w-]*)*/g },
  { kind: "nkey-seed", pattern: /\bS[ACNOUX][A-Z2-7]{56}\b/g },
  { kind: "url-password", pattern: /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/@:]{0,256}:(?<secret>[^\s/@]{1,256})@/gi },
  { kind: "aws-key", pattern: /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/g },
  { kind: "google-key", pattern: /\bAIza[\w-]{35}/g },
  { kind: "google-token", pattern: /\bya29\.[\w-]{20,}/g },
  { kind: "azure-key", pattern: /\b(?:AccountKey|SharedAccessKey|sig)=(?<secret>[A-Za-z0-9+/%]{30,}={0,2})/g },
  { kind: "github-token", pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{22,})/g },
  { kind: "gitlab-token", pattern: /\bgl(?:pat|dt|rt|cbt|ptt)-[\w-]{20,}/g },
  { kind: "slack-token", pattern: /\bxox[abeoprs]-[\w-]{10,}|\bxapp-[\w-]{10,}/g },
  { kind: "slack-webhook", pattern: /\bhooks\.slack\.com\/services\/(?<secret>[\w/]{20,})/g },
  { kind: "stripe-key", pattern: /\b(?:sk|rk|whsec)_(?:(?:live|test)_)?[A-Za-z0-9]{16,}/g },
  { kind: "api-key", pattern: /\bsk-[\w-]{20,}/g },
  { kind: "npm-token", pattern: /\bnpm_[A-Za-z0-9]{36}\b/g },
  { kind: "pypi-token", pattern: /\bpypi-[\w-]{50,}/g },
  { kind: "huggingface-token", pattern: /\bhf_[A-Za-z0-9]{30,}/g },
  { kind: "sendgrid-key", pattern: /\bSG\.[\w-]{16,}\.[\w-]{16,}/g },
  { kind: "authorization", pattern: /\b(?:bearer|basic|token)\s{1,4}(?<secret>[A-Za-z0-9._~+/-]{16,}={0,2})/gi },
  {
    kind: "secret",
    pattern:
      /(?<![A-Za-z])(?:pass(?:word|wd|phrase)?|pwd|secret|token|(?:api|access|secret|private|auth|account)[_-]?key|(?:client|aws)[_-]secret\w{0,20}|(?:access|auth|refresh|id|session)[_-]?token)["']?\s{0,3}[:=]\s{0,3}(?:"(?<quoted>[^"\n]{4,})"|'(?<single>[^'\n]{4,})'|(?<secret>[^\s"',;&)}\]]{6,}))/gi,
  },
];

const marked = /^\[redacted:[a-z-]+\]?$/;

function replaceIn(text: string, { kind, pattern }: Row): string {
  return text.replace(pattern, (...parts: unknown[]) => {
    const whole = String(parts[0]);
    const groups = parts.at(-1);
    const named: Readonly<Record<string, string | undefined>> =
      typeof groups === "object" && groups !== null ? (groups as Record<string, string | undefined>) : {};
    const secret = named["secret"] ?? named["quoted"] ?? named["single"] ?? whole;
    if (marked.test(secret)) return whole;
    const at = whole.lastIndexOf(secret);
    return `${whole.slice(0, at)}[redacted:${kind}]${whole.slice(at + secret.length)}`;
  });
}

/**
 * Replaces what looks like a secret (keys, tokens, passwords in addresses and settings) with `[redacted:<kind>]`. It knows common
 * forms only, so it is a net under the sealing and not a reason to put secrets into prose.
 *
 * @param text prose
 */
export function redact(text: string): string {
  return table.reduce(replaceIn, text);
}
