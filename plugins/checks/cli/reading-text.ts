import { printable, table } from 'svc/cli';

export interface ReadingAnswer {
  readonly place: string;
  readonly state: 'up' | 'failing' | 'offline';
  readonly cause: string | null;
  readonly took_ms: number | null;
  readonly phases: Readonly<Record<string, number>>;
  readonly address: string | null;
  readonly status: number | null;
  readonly banner: string | null;
  readonly detail: string | null;
  readonly measured: readonly {
    readonly label: string;
    readonly value: number;
    readonly unit: string;
  }[];
  readonly certificate: { readonly expires_at: string; readonly problem: string | null } | null;
  readonly steps: readonly {
    readonly step: string;
    readonly state: 'done' | 'failed' | 'not_reached';
    readonly took_ms: number | null;
  }[];
  readonly findings: readonly {
    readonly condition: string;
    readonly holds: boolean;
    readonly found: string;
  }[];
}

const states = { done: 'done', failed: 'failed', not_reached: 'not reached' } as const;

/** Prints what each place found. */
export function readingsText(readings: readonly ReadingAnswer[]): string {
  const rows = readings.map(({ place, state, took_ms: took, address, status, ...rest }) => [
    printable(place),
    state,
    took === null ? '–' : `${Math.round(took)} ms`,
    printable(address ?? '–'),
    status === null ? '–' : String(status),
    rest.certificate === null ? '–' : rest.certificate.expires_at.slice(0, 10),
    printable(rest.cause ?? ''),
  ]);
  const details = readings.flatMap(
    ({ place, phases, findings, banner, detail, measured, steps }) => [
      ...(Object.keys(phases).length > 0
        ? [
            `${printable(place)}: ${Object.entries(phases)
              .map(([phase, ms]) => `${phase} ${ms} ms`)
              .join(', ')}`,
          ]
        : []),
      ...[banner, detail].flatMap((said) =>
        said === null ? [] : [`${printable(place)}: ${printable(said)}`],
      ),
      ...steps.map(
        ({ step, state, took_ms: took }, index) =>
          `  ${index + 1}. ${printable(step)}: ${states[state]}${took === null ? '' : ` after ${Math.round(took)} ms`}`,
      ),
      ...measured.map(
        ({ label, value, unit }) => `  ${printable(label)}: ${value}${printable(unit)}`,
      ),
      ...findings.map(
        ({ condition, holds, found }) =>
          `  ${holds ? 'holds' : 'does not hold'}: ${printable(condition)}${found === '' ? '' : ` (${printable(found)})`}`,
      ),
    ],
  );
  return [
    table([['PLACE', 'STATE', 'TIME', 'ADDRESS', 'STATUS', 'CERTIFICATE UNTIL', 'CAUSE'], ...rows]),
    ...details,
  ].join('\n');
}
