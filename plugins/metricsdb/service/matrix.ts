import type { InstantAnswer, MatrixAnswer, Notes } from 'svc/contracts/metricsdb';
import { labelsRecord } from 'svc/query';
import { transferred } from 'svc/thread';

import type { InstantResult, InstantSample, RangeResult, RangeSeries } from '../promql/index.ts';

/** Numbers travel between threads as two arrays that move; each series looks at its stretch of them. */
export function matrixAnswer(
  series: readonly RangeSeries[],
  warnings: readonly string[],
): MatrixAnswer & Notes {
  const total = series.reduce((sum, { times }) => sum + times.length, 0);
  const times = new Float64Array(total);
  const values = new Float64Array(total);
  let at = 0;
  const stretches = series.map((one) => {
    const from = at;
    times.set(one.times, at);
    values.set(one.values, at);
    at += one.times.length;
    return { times: times.subarray(from, at), values: values.subarray(from, at) };
  });
  return transferred(
    {
      type: 'matrix',
      labels: series.map(({ labels }) => labelsRecord(labels)),
      times: stretches.map((one) => one.times),
      values: stretches.map((one) => one.values),
      warnings,
    },
    [times, values],
  );
}

export const rangeAnswerOf = ({ series, warnings }: RangeResult): MatrixAnswer & Notes =>
  matrixAnswer(series, warnings);

export function instantAnswerOf(result: InstantResult): InstantAnswer {
  const { warnings } = result;
  switch (result.type) {
    case 'scalar':
      return { type: 'scalar', time: result.time, value: result.value, warnings };
    case 'string':
      return { type: 'string', time: result.time, value: result.value, warnings };
    case 'matrix':
      return matrixAnswer(result.series, warnings);
    case 'vector':
      return vectorAnswer(result.samples, warnings);
  }
}

export function vectorAnswer(
  samples: readonly InstantSample[],
  warnings: readonly string[],
): InstantAnswer {
  const times = Float64Array.from(samples, ({ time }) => time);
  const values = Float64Array.from(samples, ({ value, histogram }) =>
    histogram === undefined ? value : 0,
  );
  const labels = samples.map((sample) => labelsRecord(sample.labels));
  const native = samples.some(({ histogram }) => histogram !== undefined) && {
    histograms: samples.map(({ histogram }) => histogram),
  };
  return transferred({ type: 'vector', labels, times, values, warnings, ...native }, [
    times,
    values,
  ]);
}
