import { formatDuration, parseDuration } from 'svc/query';

import { day, type Kind, lastingOf } from './kind.ts';
import { clean, operand, overWindow } from './window.ts';

/** A baseline of fewer samples says nothing. */
const leastBaselineSamples = 30;
/** Faster than every ten seconds nothing is sampled. */
const shortestWindow = leastBaselineSamples * 10_000;
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
      throw fields.wrong('window', `must be at least ${formatDuration(shortestWindow)}: a baseline has ${leastBaselineSamples} samples or more`);
    }
    const lasting = fields.lasting();
    fields.refuseOthers();
    return { ...condition, window: condition.window.text, ...lasting };
  },
  queryTexts: ({ metric }) => [{ field: 'metric', text: clean(String(metric)), language: 'promql', wants: 'vector' }],
  leg({ metric, window, z_threshold: most, for: lasting }, _frame, { intervalMs }) {
    const x = operand(String(metric));
    const before = overWindow(String(metric), String(window), ` offset ${formatDuration(intervalMs)}`);
    const deviation = `abs(${x} - avg_over_time(${before}))`;
    const measure = `${deviation} / (stddev_over_time(${before}) > 0)`;
    const worth = `${deviation} > ${floor} * abs(avg_over_time(${before})) and count_over_time(${before}) >= ${leastBaselineSamples}`;
    return { store: 'metrics', query: `${measure} > ${most} and ${worth}`, measure, threshold: Number(most), ...lastingOf(lasting) };
  },
};

const leastSamples = 10;
/** How far ahead of what was seen a line may be drawn. */
const farthest = 4;

/** Where a straight line through the window leads: below or above a bound that is not crossed yet. */
export const metricForecast: Kind = {
  read(fields) {
    const metric = fields.text('metric');
    const window = fields.span('window', { leastMs: 60_000, mostMs: 30 * day });
    const ahead = fields.span('forecast_for', { leastMs: 60_000, mostMs: 120 * day });
    if (fields.has('below') === fields.has('above')) {
      throw fields.wrong('below', 'is required, or above instead of it: one of the two, not both');
    }
    const bound = fields.has('below') ? { below: fields.number('below') } : { above: fields.number('above') };
    if (window.ms * farthest < ahead.ms) {
      throw fields.wrong('window', `must be at least a quarter of forecast_for (${formatDuration(Math.ceil(ahead.ms / farthest / 1_000) * 1_000)})`);
    }
    const lasting = fields.lasting();
    fields.refuseOthers();
    return { metric, window: window.text, forecast_for: ahead.text, ...bound, ...lasting };
  },
  queryTexts: ({ metric }) => [{ field: 'metric', text: clean(String(metric)), language: 'promql', wants: 'vector' }],
  leg({ metric, window, forecast_for: ahead, below, above, for: lasting }) {
    const range = overWindow(String(metric), String(window));
    const measure = `predict_linear(${range}, ${secondsOf(String(ahead))})`;
    const [bound, reached, still] = below === undefined ? [Number(above), '>', '<'] : [Number(below), '<', '>'];
    return {
      store: 'metrics',
      query: `${measure} ${reached} ${bound} and ${operand(String(metric))} ${still} ${bound} and count_over_time(${range}) >= ${leastSamples}`,
      measure,
      threshold: bound,
      eta: `(${bound} - ${operand(String(metric))}) / deriv(${range}) and ${measure} ${reached} ${bound}`,
      crossed: `${operand(String(metric))} ${reached}= ${bound}`,
      ...lastingOf(lasting),
    };
  },
};

const secondsOf = (text: string): number => parseDuration(text) / 1_000;
