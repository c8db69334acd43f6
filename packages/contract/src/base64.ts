function binary(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

/** Base64 of RFC 4648 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  return btoa(binary(bytes));
}

/** The bytes behind a base64 text with padding, or undefined where the text is not the one canonical encoding of any. */
export function decodeBase64(text: string): Uint8Array | undefined {
  try {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return encodeBase64(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** Base64url of RFC 4648 without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The bytes behind a base64url text without padding, or undefined where it is not canonical. */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  const padding = "=".repeat((4 - (text.length % 4)) % 4);
  return decodeBase64(text.replaceAll("-", "+").replaceAll("_", "/") + padding);
}
