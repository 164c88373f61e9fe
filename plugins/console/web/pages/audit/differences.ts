/** One field that differs; undefined: it was not there. */
export interface Difference {
  readonly field: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Deeper values are shown whole. */
const deepest = 4;

/** Returns the fields that a change has set, altered or removed, in the order of their names. */
export function differencesOf(before: unknown, after: unknown): readonly Difference[] {
  const [old, now] = [leaves(before), leaves(after)];
  return [...new Set([...old.keys(), ...now.keys()])]
    .sort()
    .map((field) => ({ field, before: old.get(field), after: now.get(field) }))
    .filter((one) => one.before !== one.after);
}

function leaves(
  value: unknown,
  path = '',
  depth = 0,
  found = new Map<string, string>(),
): Map<string, string> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && depth < deepest) {
    const fields = Object.entries(value);
    if (fields.length > 0) {
      fields.forEach(([name, one]) =>
        leaves(one, path === '' ? name : `${path}.${name}`, depth + 1, found),
      );
      return found;
    }
  }
  if (value !== undefined && (value !== null || path !== '')) {
    found.set(path, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return found;
}
