import { errors } from './errors.ts';

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `30s`, `1h30m`, `7d` in milliseconds. */
export function durationOf(text: string, field: string): number {
  if (!/^(?:\d{1,9}(?:ms|[smhdw]))+$/.test(text)) {
    throw errors.duration({ field, text: JSON.stringify(text.slice(0, 40)) });
  }
  return [...text.matchAll(/(\d+)(ms|[smhdw])/g)].reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * units[unit!]!,
    0,
  );
}
