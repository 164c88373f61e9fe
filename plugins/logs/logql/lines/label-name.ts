const valid = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function isLabelName(name: string): boolean {
  return valid.test(name);
}

const maxRemembered = 10_000;

/**
 * Returns a function that makes label names of foreign keys: invalid characters become `_`, and a
 * leading digit is prefixed. Results are cached.
 */
export function labelNames(): (key: string) => string {
  const seen = new Map<string, string>();
  return (key) => {
    const known = seen.get(key);
    if (known !== undefined) {
      return known;
    }
    const name = sanitized(key);
    if (seen.size < maxRemembered) {
      seen.set(key, name);
    }
    return name;
  };
}

function sanitized(key: string): string {
  if (valid.test(key)) {
    return key;
  }
  const trimmed = key.trim().replace(/[^A-Za-z0-9_]/g, '_');
  return /^[0-9]/.test(trimmed) ? `_${trimmed}` : trimmed;
}
