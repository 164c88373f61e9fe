/**
 * Parses /proc/meminfo by name; values given in kB are converted to bytes, and their names end in
 * `_bytes`.
 */
export function parseMeminfo(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) {
      continue;
    }
    const [amount, unit] = line
      .slice(colon + 1)
      .trim()
      .split(/\s+/);
    const value = Number(amount);
    if (amount !== '' && Number.isFinite(value)) {
      // `Active(anon)` is `Active_anon`.
      const name = line
        .slice(0, colon)
        .replaceAll(/[^A-Za-z0-9]+/g, '_')
        .replace(/_$/, '');
      values.set(unit === 'kB' ? `${name}_bytes` : name, unit === 'kB' ? value * 1024 : value);
    }
  }
  return values;
}

/**
 * Returns the memory available to programs; kernels before 3.14 do not report it, and this is their
 * rule of thumb.
 */
export function available(memory: ReadonlyMap<string, number>): number | undefined {
  const stated = memory.get('MemAvailable_bytes');
  const free = memory.get('MemFree_bytes');
  return (
    stated ??
    (free === undefined
      ? undefined
      : free + (memory.get('Buffers_bytes') ?? 0) + (memory.get('Cached_bytes') ?? 0))
  );
}

export function usedPercent(
  total: number | undefined,
  free: number | undefined,
): number | undefined {
  return total === undefined || free === undefined || total <= 0
    ? undefined
    : Math.min(100, Math.max(0, 100 * (1 - free / total)));
}
