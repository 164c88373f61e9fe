import type { Unit } from '../../text/format.ts';

const perTime = /\b(?:rate|irate)\s*\(/;

/** Returns the unit of a PromQL query by the names of its metrics, as their convention has it. */
export function unitOf(query: string): Unit {
  const plain = query.replace(/"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'|`[^`]*`/g, '');
  if (/\b(?:count|absent|changes|resets)(?:\s+(?:by|without)\s*\([^)]*\))?\s*\(/.test(plain)) {
    return 'count';
  }
  const names = plain.replace(/\{[^}]*\}|\[[^\]]*\]/g, '').match(/[a-zA-Z_:][\w:]*/g) ?? [];
  const units = new Set(names.map(unitOfName).filter((unit) => unit !== undefined));
  // Of two units in one expression, which one it has is not known without working it out.
  const [unit = 'count', ...others] = units;
  if (others.length > 0 || /[*/]/.test(plain.replace(/\{[^}]*\}/g, ''))) {
    return /^\s*100\s*\*/.test(plain) ? 'percent' : 'count';
  }
  if (!perTime.test(plain)) {
    return unit;
  }
  return unit === 'bytes' ? 'bytes-per-second' : unit === 'count' ? 'per-second' : 'count';
}

function unitOfName(name: string): Unit | undefined {
  const base = name.replace(/_(?:total|sum|bucket|created)$/, '');
  if (base.endsWith('_per_second')) {
    return base.endsWith('_bytes_per_second') ? 'bytes-per-second' : 'per-second';
  }
  return /_percent(?:age)?$/.test(base)
    ? 'percent'
    : base.endsWith('_bytes')
      ? 'bytes'
      : base.endsWith('_seconds')
        ? 'seconds'
        : undefined;
}
