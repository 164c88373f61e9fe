import { formatGoFloat } from 'svc/template';

import { bucketsOf } from './buckets.ts';
import { isCustom, type NativeHistogram } from './histogram.ts';

/** As it stands in labels of `count_values` and in templates of alerts: `{count:3, sum:4.5, [-0.1,0.1]:1, (1,2]:2}`. */
export function histogramText(histogram: NativeHistogram): string {
  const custom = isCustom(histogram);
  const { zeroThreshold } = histogram;
  // With the bounds that buckets have by themselves, even where that of zero reaches into one.
  const buckets = bucketsOf({ ...histogram, zeroThreshold: 0 }).map(({ lower, upper, count }) => {
    const [from, to] = lower === upper ? [-zeroThreshold, zeroThreshold] : [lower, upper];
    const open = custom ? from === -Infinity : from < 0 || lower === upper;
    return `${open ? '[' : '('}${general(from)},${general(to)}${custom || to > 0 || lower === upper ? ']' : ')'}:${general(count)}`;
  });
  return `{${[`count:${general(histogram.count)}`, `sum:${general(histogram.sum)}`, ...buckets].join(', ')}}`;
}

const general = (value: number): string => formatGoFloat(value, 'g');
