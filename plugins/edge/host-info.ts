import { createHash } from 'node:crypto';

import type { HostInfo } from '../device/contract.ts';

const texts = ['hostname', 'os', 'os_version', 'arch', 'kernel_version', 'ip_address'] as const;
const counts = ['cpu_count', 'mem_total_bytes', 'disk_total_bytes'] as const;
const longest = 255;

/** What of a machine's own words is kept and shown. */
export function cleanHostInfo(told: unknown): HostInfo {
  const known = new Map<string, unknown>(typeof told === 'object' && told !== null ? Object.entries(told) : []);
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

/** One line of what can be printed. */
export const oneLine = (text: string, most: number): string =>
  Array.from(text.slice(0, 4 * most).replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' '))
    .slice(0, most)
    .join('')
    .trim();

/** Short, because memory has one of every edge; all it decides is whether to look closer. */
export const hostDigest = (json: string): string => createHash('sha256').update(json).digest('base64').slice(0, 16);
