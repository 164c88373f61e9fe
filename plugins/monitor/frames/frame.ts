import type { LabelRecord } from 'svc/contracts/metricsdb';

export type Cell = number | string | null;

/** A column of values. */
export interface Field {
  readonly name: string;
  readonly type: 'time' | 'number' | 'string';
  readonly labels?: LabelRecord;
  readonly values: readonly Cell[];
}

/** Columns of one length, as Grafana's transformations know them; times are in milliseconds. */
export interface Frame {
  readonly ref: string;
  readonly fields: readonly Field[];
}

export const rowsIn = ({ fields }: Frame): number =>
  fields.reduce((most, { values }) => Math.max(most, values.length), 0);
