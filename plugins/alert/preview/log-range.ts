import type { LogQueries } from 'svc/contracts/logs';
import type { LabelRecord, MatrixAnswer, Notes, QueryOptions } from 'svc/contracts/metricsdb';

import { labelKey } from '../rule/label-key.ts';

interface Steps {
  readonly start: number;
  readonly end: number;
  readonly step: number;
}

/** Below what log stores answer at once. */
const maxSteps = 10_000;

/**
 * Log stores put the steps of a range on multiples of the step, and slots lie elsewhere: asked in steps so fine that the
 * slots are among them, and only those are kept.
 */
export async function logRange(
  logs: LogQueries,
  query: string,
  { start, end, step }: Steps,
  asking: Pick<QueryOptions, 'signal' | 'asker' | 'enforce'>,
): Promise<MatrixAnswer & Notes> {
  const fine = commonStep(start % step, step);
  const found = new Map<
    string,
    { readonly labels: LabelRecord; readonly times: number[]; readonly values: number[] }
  >();
  const warnings = new Set<string>();
  for (let from = start; from <= end; from += maxSteps * fine) {
    // The end of a window of logs is not part of it.
    const to = Math.min(end, from + (maxSteps - 1) * fine) + 1;
    const answer = await logs.range(query, { start: from, end: to, step: fine }, asking);
    answer.warnings.forEach((warning) => warnings.add(warning));
    answer.labels.forEach((labels, series) => {
      const key = labelKey(labels);
      const kept = found.get(key) ?? { labels, times: [], values: [] };
      found.set(key, kept);
      answer.times[series]!.forEach((time, index) => {
        if (time >= from && time < to && (time - start) % step === 0) {
          kept.times.push(time);
          kept.values.push(answer.values[series]![index]!);
        }
      });
    });
  }
  const all = [...found.values()].filter(({ times }) => times.length > 0);
  return {
    type: 'matrix',
    labels: all.map(({ labels }) => labels),
    times: all.map(({ times }) => Float64Array.from(times)),
    values: all.map(({ values }) => Float64Array.from(values)),
    warnings: [...warnings],
  };
}

const commonStep = (a: number, b: number): number => (a === 0 ? b : commonStep(b % a, a));
