/** Information that a host reports about itself. */
export interface HostInfo {
  readonly hostname?: string;
  readonly os?: string;
  readonly os_version?: string;
  readonly arch?: string;
  readonly kernel_version?: string;
  readonly ip_address?: string;
  readonly cpu_count?: number;
  readonly mem_total_bytes?: number;
  readonly disk_total_bytes?: number;
}

const texts = ['hostname', 'os', 'os_version', 'arch', 'kernel_version', 'ip_address'] as const;
const counts = ['cpu_count', 'mem_total_bytes', 'disk_total_bytes'] as const;
const longest = 255;

/**
 * Returns the permitted part of a host's report; the rest is dropped, since the report is
 * untrusted.
 */
export function readHostInfo(told: unknown): HostInfo {
  const known = new Map<string, unknown>(
    typeof told === 'object' && told !== null ? Object.entries(told) : [],
  );
  const kept = new Map<string, string | number>();
  for (const field of texts) {
    const text = known.get(field);
    const clean = typeof text === 'string' ? oneLine(text, longest) : '';
    if (clean !== '') {
      kept.set(field, clean);
    }
  }
  for (const field of counts) {
    const count = known.get(field);
    if (typeof count === 'number' && Number.isSafeInteger(count) && count > 0) {
      kept.set(field, count);
    }
  }
  return Object.fromEntries(kept);
}

/** Matches one line of printable text. */
export const oneLine = (text: string, most: number): string =>
  Array.from(text.slice(0, 4 * most).replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' '))
    .slice(0, most)
    .join('')
    .trim();
