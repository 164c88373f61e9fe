import type { ToolAnswer } from './case.ts';

/** Values over time, such as `-4h 10, -30m 10, -20m 95, now 95`: straight lines between them. */
export type Curve = string;

/** Data of one organisation, in times relative to now. */
export interface World {
  readonly name: string;
  readonly about: string;
  /** Series by name and labels, as Prometheus writes them. */
  readonly metrics?: readonly (readonly [series: string, curve: Curve])[];
  /** Streams by their labels; `-60m..-10m/30s` repeats a line. */
  readonly logs?: readonly (readonly [
    labels: Readonly<Record<string, string>>,
    lines: readonly (readonly [at: string, line: string])[],
  ])[];
  /** Traces as indented lines of `service | name | milliseconds | error`. */
  readonly traces?: readonly (readonly [at: string, spans: readonly string[]])[];
  readonly changes?: readonly {
    readonly at: string;
    readonly summary: string;
    readonly kind?: string;
    readonly service?: string;
    readonly version?: string;
  }[];
  readonly topology?: {
    readonly nodes: readonly (readonly [type: string, name: string])[];
    readonly relations: readonly (readonly [from: string, relation: string, to: string])[];
  };
  readonly documents?: readonly { readonly path: string; readonly content: readonly string[] }[];
  readonly rules?: readonly {
    readonly key: string;
    readonly name: string;
    readonly expr: string;
    readonly severity?: string;
  }[];
  readonly answers?: readonly ToolAnswer[];
}

const units: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Returns a time such as `-12m` or `now` as milliseconds before or after now. */
export function offsetOf(text: string): number {
  if (text === 'now') {
    return 0;
  }
  const [, sign, count, unit] = /^([+-])([\d.]+)([smhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) {
    throw new TypeError(`"${text}" is not a time such as -12m`);
  }
  return (sign === '-' ? -1 : 1) * Number(count) * units[unit]!;
}

/** Returns the times of a line: one, or many for `-60m..-10m/30s`. */
export function timesOf(text: string): readonly number[] {
  const [, from, to, step] = /^(.+)\.\.(.+)\/(.+)$/.exec(text) ?? [];
  if (from === undefined) {
    return [offsetOf(text)];
  }
  const [first, last, each] = [offsetOf(from), offsetOf(to!), offsetOf(`+${step!}`)];
  return Array.from(
    { length: Math.floor((last - first) / each) + 1 },
    (_, at) => first + at * each,
  );
}
