const maxKnown = 4_096;
const longestKey = 4_096;

/** Caches the result for a text that recurs; the cache is cleared when it grows too large. */
export function remembered<V>(known: Map<string, V>, key: string, value: V): V {
  if (key.length <= longestKey) {
    if (known.size >= maxKnown) {
      known.clear();
    }
    known.set(key, value);
  }
  return value;
}
