import { customSchema, type NativeHistogram } from 'svc/native-histogram';
import { type Labels, labelsKey, labelValue, parseFloatGo, withLabel } from 'svc/query';

import type { Item, SeriesLine } from './series-line.ts';

interface Parts {
  readonly buckets: Map<number, number>;
  count?: number;
  sum: number;
}

/** Each classic histogram as a native one with the same bounds. */
export function nativeSeriesOf(series: readonly SeriesLine[]): SeriesLine[] {
  const found = new Map<string, { readonly labels: Labels; readonly steps: Parts[] }>();
  for (const { labels, items } of series) {
    const [, base, part] = /^(.*)_(bucket|count|sum)$/.exec(labelValue(labels, '__name__')) ?? [];
    const bound = parseFloatGo(labelValue(labels, 'le'));
    if (base === undefined || (part === 'bucket' && bound === undefined)) {
      continue;
    }
    const own = withLabel(withLabel(labels, 'le', ''), '__name__', base);
    const entry = found.get(labelsKey(own)) ?? { labels: own, steps: [] };
    found.set(labelsKey(own), entry);
    items.forEach((item, step) => {
      if (typeof item === 'number') {
        const parts = (entry.steps[step] ??= { buckets: new Map(), sum: 0 });
        if (part === 'bucket') {
          parts.buckets.set(bound!, item);
        } else {
          parts[part as 'count' | 'sum'] = item;
        }
      }
    });
  }
  return [...found.values()].map(({ labels, steps }) => ({
    labels,
    histogram: true,
    items: Array.from(
      steps,
      (parts): Item => parts && { histogram: histogramOf(parts), hinted: false },
    ),
  }));
}

function histogramOf({ buckets, count, sum }: Parts): NativeHistogram {
  const sorted = [...buckets].sort(([a], [b]) => a - b);
  const all = count ?? sorted.at(-1)?.[1] ?? 0;
  if (sorted.at(-1)?.[0] !== Infinity) {
    sorted.push([Infinity, all]);
  }
  const positive = sorted
    .map(([, upTo], index) => [index, upTo - (sorted[index - 1]?.[1] ?? 0)] as const)
    .filter(([, own]) => own !== 0);
  return {
    schema: customSchema,
    count: all,
    sum,
    zeroCount: 0,
    zeroThreshold: 0,
    negative: [],
    hint: 'unknown',
    positive,
    bounds: sorted.slice(0, -1).map(([bound]) => bound),
  };
}
