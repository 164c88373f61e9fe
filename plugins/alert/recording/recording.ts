import type { LabelRecord, MetricsQueries } from 'svc/contracts/metricsdb';
import { type Handle, isSvcError, messageOf } from 'svc/sdk';

import type { Sample } from '../queries/sample.ts';
import { labelKey } from '../rule/label-key.ts';
import { errors } from './errors.ts';

/** A rule whose answer is written to the metrics store under a name of its own. */
export interface Recording {
  readonly id: number;
  readonly group: string;
  readonly position: number;
  readonly record: string;
  readonly expr: string;
  readonly labels: LabelRecord;
  /** Interval; 0 means that of alert rules that set none. */
  readonly interval_seconds: number;
  /** 0: no limit. */
  readonly limit: number;
  readonly enabled: boolean;
  readonly created_by: string;
  readonly created_at: number;
}

/**
 * Returns why an expression cannot be recorded, if so. Throws while the store that would decide is
 * unavailable.
 */
export async function faultOf(
  expr: string,
  metrics: Handle<Pick<MetricsQueries, 'check'>>,
): Promise<string | undefined> {
  if (!metrics.available) {
    throw errors.no_store_to_record();
  }
  try {
    const { type } = await metrics.get().check(expr);
    return type === 'vector' || type === 'scalar'
      ? undefined
      : `answers a ${type}, and a recording rule needs an instant vector or a scalar`;
  } catch (error) {
    if (isSvcError(error) && error.code === 'invalid_argument') {
      return messageOf(error);
    }
    throw error;
  }
}

/** Returns the samples to write for an answer. Throws if two of its series would become one. */
export function recorded(
  { record, labels: own }: Pick<Recording, 'record' | 'labels'>,
  samples: readonly Sample[],
): readonly Sample[] {
  const rows = samples.map((sample) => ({
    ...sample,
    labels: withoutEmpty({ ...sample.labels, ...own, __name__: record }),
  }));
  if (new Set(rows.map(({ labels }) => labelKey(labels))).size < rows.length) {
    throw new Error('vector contains metrics with the same labelset after applying rule labels');
  }
  return rows;
}

export const withoutEmpty = (labels: LabelRecord): LabelRecord =>
  Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''));
