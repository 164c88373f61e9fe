import type { Labels } from 'svc/query';

/** Values of one label set at every step; a step with `present` 0 has none. */
export interface Row {
  readonly labels: Labels;
  readonly values: Float64Array;
  readonly present: Uint8Array;
}

/** Value of an expression: the same number at every step, or rows. */
export type Value =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'rows'; readonly rows: readonly Row[]; readonly ordered?: boolean };

export function emptyRow(labels: Labels, steps: number): Row {
  return { labels, values: new Float64Array(steps), present: new Uint8Array(steps) };
}

export function put(row: Row, step: number, value: number): void {
  row.values[step] = value;
  row.present[step] = 1;
}

export function isEmpty(row: Row): boolean {
  return !row.present.includes(1);
}
