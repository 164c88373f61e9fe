const secretName =
  /passw|passphrase|^pass$|secret|token|key|credential|authorization|cookie|private/i;
/** Names of this domain that merely contain one of those words. */
const harmless =
  /^((rule|dedupe|group|skill|public)_key|keywords?|(max|input|output|total)_tokens|token_type)$/i;
const deepest = 8;
const maxEntries = 200;
const longestText = 4_096;
const longestName = 200;

export const redacted = '••••';

/** Blanks what looks like a secret inside a text; provided by the modules that know the shapes. */
export type HideSecrets = (text: string) => string;

/** A bounded copy of `value` with everything blanked that is named like a secret, or that `hide` finds by its shape. */
export function redact(value: unknown, hide: HideSecrets = (text) => text, depth = 0): unknown {
  if (typeof value === 'string') {
    const safe = hide(value);
    return safe.length > longestText ? `${safe.slice(0, longestText)}…` : safe;
  }
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') {
    return String(value);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (depth >= deepest) {
    return '…';
  }
  if (value instanceof Date) {
    return value;
  }
  if (ArrayBuffer.isView(value)) {
    return `${value.byteLength} bytes`;
  }
  if (Array.isArray(value)) {
    return value.slice(0, maxEntries).map((entry) => redact(entry, hide, depth + 1));
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, maxEntries)
      .map(([name, entry]) => [
        hide(name).slice(0, longestName),
        isSecret(name, entry) ? redacted : redact(entry, hide, depth + 1),
      ]),
  );
}

/** A flag or a missing value says nothing worth hiding, and `null` to text is a change worth showing. */
function isSecret(name: string, value: unknown): boolean {
  return (
    value !== null &&
    value !== undefined &&
    typeof value !== 'boolean' &&
    secretName.test(name) &&
    !harmless.test(name)
  );
}
