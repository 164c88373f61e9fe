import { formatDuration } from 'svc/query';

import { day, type Kind, lastingOf } from './kind.ts';
import { clean, operand, overWindow } from './window.ts';

/** A baseline of fewer samples says nothing. */
const leastSamples = 30;
/** Faster than every ten seconds nothing is sampled. */
const shortestWindow = leastSamples * 10_000;
/** Deviations within this part of the mean are noise, however steady the series was. */
const floor = 0.01;

/** How many standard deviations a series is away from what it was before. The point that is judged is no part of its own baseline. */
export const metricAnomaly: Kind = {
  read(fields) {
    const condition = {
      metric: fields.text('metric'),
      window: fields.span('window', { mostMs: 30 * day }),
      z_threshold: fields.number('z_threshold', { above: 0, most: 1_000 }),
    };
    if (condition.window.ms < shortestWindow) {
      throw fields.wrong('window', `must be at least ${formatDuration(shortestWindow)}: a baseline has ${leastSamples} samples or more`);
    }
    const lasting = fields.lasting();
    fields.refuseOthers();
    return { ...condition, window: condition.window.text, ...lasting };
  },
  written: ({ metric }) => [{ field: 'metric', text: clean(String(metric)), language: 'promql', wants: 'vector' }],
  leg({ metric, window, z_threshold: most, for: lasting }, _frame, { intervalMs }) {
    const x = operand(String(metric));
    const before = overWindow(String(metric), String(window), ` offset ${formatDuration(intervalMs)}`);
    const deviation = `abs(${x} - avg_over_time(${before}))`;
    const measure = `${deviation} / (stddev_over_time(${before}) > 0)`;
    const worth = `${deviation} > ${floor} * abs(avg_over_time(${before})) and count_over_time(${before}) >= ${leastSamples}`;
    return { store: 'metrics', query: `${measure} > ${most} and ${worth}`, measure, threshold: Number(most), ...lastingOf(lasting) };
  },
};
