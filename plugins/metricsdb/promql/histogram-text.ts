import { bucketsOf, isCustom, type NativeHistogram } from 'svc/native-histogram';

import { generalFloat } from './go-text.ts';

/** As `count_values` writes a histogram: `{count:3, sum:4.5, [-0.1,0.1]:1, (1,2]:2}`. */
export function histogramText(histogram: NativeHistogram): string {
  const custom = isCustom(histogram);
  const buckets = bucketsOf({ ...histogram, zeroThreshold: 0, zeroCount: 0 }).map(({ lower, upper, count }, index) => {
    const open = custom ? index === 0 && histogram.positive[0]![0] === 0 : lower < 0;
    return { at: lower, text: `${open ? '[' : '('}${generalFloat(lower)},${generalFloat(upper)}${custom || upper > 0 ? ']' : ')'}:${generalFloat(count)}` };
  });
  const { zeroThreshold, zeroCount } = histogram;
  const zero = zeroCount === 0 ? [] : [`[${generalFloat(-zeroThreshold)},${generalFloat(zeroThreshold)}]:${generalFloat(zeroCount)}`];
  const texts = [...buckets.filter(({ at }) => at < 0 && !custom), ...zero.map((text) => ({ text })), ...buckets.filter(({ at }) => at >= 0 || custom)];
  return `{${[`count:${generalFloat(histogram.count)}`, `sum:${generalFloat(histogram.sum)}`, ...texts.map(({ text }) => text)].join(', ')}}`;
}
