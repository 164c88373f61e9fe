import { usageFailure } from './failure.ts';

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const longestMs = 366 * unitMs['d']!;

/** `90s`, `15m`, `1h`, `7d` as milliseconds. */
export function spanOf(option: string, text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (unitMs[unit ?? ''] ?? Number.NaN);
  if (!(ms > 0) || ms > longestMs) {
    throw usageFailure(`--${option} must be a duration such as 15m, 1h or 7d, at most 366d`);
  }
  return ms;
}
