const valid = /^[A-Za-z_][A-Za-z0-9_]*$/;

export function isLabelName(name: string): boolean {
  return valid.test(name);
}

const maxRemembered = 10_000;

/** Makes label names of foreign keys: what no name may hold becomes `_`, and one does not begin with a digit. Remembers what it has seen. */
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
