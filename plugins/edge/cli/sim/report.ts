import type { Figures } from './tally.ts';

const count = (value: number): string => value.toLocaleString('en-US');
const ms = (value: number | null): string =>
  value === null ? '–' : `${Math.round(value * 10) / 10} ms`;

/** Formats what happened since the previous line. */
export function progressLine(seconds: number, before: Figures, now: Figures): string {
  const pushed = now.pushes.ok - before.pushes.ok;
  const trouble = [
    ...(now.lost > before.lost ? [`${count(now.lost - before.lost)} lost`] : []),
    ...(now.refused > before.refused ? [`${count(now.refused - before.refused)} refused`] : []),
    ...(now.pushes.limited > before.pushes.limited
      ? [`${count(now.pushes.limited - before.pushes.limited)} pushes limited`]
      : []),
    ...(now.pushes.failed > before.pushes.failed
      ? [`${count(now.pushes.failed - before.pushes.failed)} pushes failed`]
      : []),
  ];
  const told =
    trouble.length === 0 ? '' : `; ${trouble.join(', ')} (${now.problem ?? 'on purpose'})`;
  return `${String(seconds).padStart(5)} s  ${count(now.connected)}/${count(now.edges)} connected, ${count(pushed)} pushes, ${count(now.calls - before.calls)} answers${told}`;
}

export function summary(
  seconds: number,
  {
    edges,
    enrolled,
    connects,
    lost,
    refused,
    calls,
    pushes,
    samples,
    lines,
    spans,
    faults,
    problem,
    ...times
  }: Figures,
): readonly string[] {
  const rows: readonly (readonly [string, string])[] = [
    ['hosts', `${count(edges)} for ${count(seconds)} s, ${count(enrolled)} enrolled`],
    [
      'tunnels',
      `${count(connects)} connected, ${count(lost)} lost, ${count(refused)} refused; p99 connect ${ms(times.connect_p99_ms)}`,
    ],
    ['calls', `${count(calls)} answered`],
    [
      'pushes',
      `${count(pushes.ok)} accepted, ${count(pushes.limited)} limited (429), ${count(pushes.failed)} failed; p50 ${ms(times.push_p50_ms)}, p99 ${ms(times.push_p99_ms)}`,
    ],
    ['data', `${count(samples)} samples, ${count(lines)} log lines, ${count(spans)} spans`],
    ['faults', `${count(faults)} injected`],
    ...(problem === null ? [] : [['last error', problem] as const]),
  ];
  return rows.map(([name, text]) => `${name.padEnd(13)}${text}`);
}
