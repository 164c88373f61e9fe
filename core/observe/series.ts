import { SvcError } from '../sdk/index.ts';

export type Labels = Readonly<Record<string, string>>;

const maxValueLength = 200;

/** Label value that stands for everything beyond the limit. */
export const folded = 'other';

/**
 * Keeps the number of series of one metric bounded: strangers can choose label values (paths, names), and each new
 * combination would stay in memory for ever. Beyond `limit` everything new counts towards one series.
 */
export function boundedSeries(metric: string, names: readonly string[], limit: number, onFold: () => void): (labels: Labels | undefined) => Labels {
  const known = new Set<string>();
  const rest = Object.fromEntries(names.map((name) => [name, folded]));
  return (labels = {}) => {
    const unknown = Object.keys(labels).find((name) => !names.includes(name));
    if (unknown !== undefined) {
      throw new SvcError('internal', `metric ${metric} has no label "${unknown}"; it was declared with ${names.join(', ') || 'none'}`);
    }
    const series = Object.fromEntries(names.map((name) => [name, String(labels[name] ?? '').slice(0, maxValueLength)]));
    const key = JSON.stringify(Object.values(series));
    if (known.has(key)) {
      return series;
    }
    if (known.size >= limit) {
      onFold();
      return rest;
    }
    known.add(key);
    return series;
  };
}
