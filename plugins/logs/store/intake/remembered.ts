const maxKnown = 4_096;
const longestKey = 4_096;

/** Keeps what was found out about a text that comes again and again; all is forgotten when it has become much. */
export function remembered<V>(known: Map<string, V>, key: string, value: V): V {
  if (key.length <= longestKey) {
    if (known.size >= maxKnown) {
      known.clear();
    }
    known.set(key, value);
  }
  return value;
}
