import type { HostInfo } from './contract.ts';

const longest = 255;
const texts = ['hostname', 'os', 'os_version', 'arch', 'kernel_version', 'ip_address'] as const;
const counts = ['cpu_count', 'mem_total_bytes', 'disk_total_bytes'] as const;

/** What of a machine's own words can be kept. */
export function readHostInfo(told: unknown): HostInfo {
  const known = new Map<string, unknown>(typeof told === 'object' && told !== null ? Object.entries(told) : []);
  const kept = new Map<string, string | number>();
  for (const field of texts) {
    const text = known.get(field);
    const clean = typeof text === 'string' ? cleaned(text) : '';
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

/** One line of what can be printed. */
const cleaned = (text: string): string =>
  Array.from(text.slice(0, 4 * longest).replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' '))
    .slice(0, longest)
    .join('')
    .trim();
