import { formatDuration, parseDuration } from 'svc/query';

import { type Condition, day, type Kind, lastingOf } from './kind.ts';
import { clean, operand, overWindow } from './window.ts';

/** A baseline of fewer samples says nothing. */
const leastBaselineSamples = 30;
/** Min window; nothing is sampled faster than every ten seconds. */
const shortestWindow = leastBaselineSamples * 10_000;
/** Deviations within this part of the mean are noise, however steady the series was. */
const floor = 0.01;

/**
 * Distance of a series from its own past, in standard deviations. The judged point is not part of
 * its baseline.
 */
export const metricAnomaly: Kind = {
  read(fields) {
    const condition = {
      metric: fields.text('metric'),
      window: fields.span('window', { maxMs: 30 * day }),
      z_threshold: fields.number('z_threshold', { above: 0, most: 1_000 }),
    };
    if (condition.window.ms < shortestWindow) {
      throw fields.wrong(
        'window',
        `must be at least ${formatDuration(shortestWindow)}: a baseline has ${leastBaselineSamples} samples or more`,
      );
    }
    const lasting = fields.lasting();
    fields.refuseOthers();
    return { ...condition, window: condition.window.text, ...lasting };
  },
  queryTexts: ({ metric }) => [
    { field: 'metric', text: clean(String(metric)), language: 'promql', wants: 'vector' },
  ],
  leg({ metric, window, z_threshold: most, for: lasting }, _frame, { intervalMs }) {
    const x = operand(String(metric));
    const before = overWindow(
      String(metric),
      String(window),
      ` offset ${formatDuration(intervalMs)}`,
    );
    const deviation = `abs(${x} - avg_over_time(${before}))`;
    const measure = `${deviation} / (stddev_over_time(${before}) > 0)`;
    const worth = `${deviation} > ${floor} * abs(avg_over_time(${before})) and count_over_time(${before}) >= ${leastBaselineSamples}`;
    return {
      store: 'metrics',
      query: `${measure} > ${most} and ${worth}`,
      measure,
      threshold: Number(most),
      ...lastingOf(lasting),
    };
  },
};

const leastSamples = 10;
/** Max ratio of the extrapolated span to the observed one. */
const farthest = 4;
/** The largest part of the window that its samples may be asked to span: the rest is where the first of them lies. */
const longestSpan = 0.75;

/**
 * Extrapolation of a straight line through the window, to below or above a bound that is not
 * crossed yet.
 */
export const metricForecast: Kind = {
  read(fields) {
    const metric = fields.text('metric');
    const window = fields.span('window', { minMs: 60_000, maxMs: 30 * day });
    const ahead = fields.span('forecast_for', { minMs: 60_000, maxMs: 120 * day });
    if (fields.has('below') === fields.has('above')) {
      throw fields.wrong('below', 'is required, or above instead of it: one of the two, not both');
    }
    const bound = fields.has('below')
      ? { below: fields.number('below') }
      : { above: fields.number('above') };
    if (window.ms * farthest < ahead.ms) {
      throw fields.wrong(
        'window',
        `must be at least a quarter of forecast_for (${formatDuration(Math.ceil(ahead.ms / farthest / 1_000) * 1_000)})`,
      );
    }
    const least = fields.has('min_span')
      ? fields.span('min_span', { maxMs: window.ms * longestSpan }).text
      : undefined;
    const from = fields.has('from_value')
      ? fields.number('from_value', { above: bound.below, below: bound.above })
      : undefined;
    const lasting = fields.lasting();
    fields.refuseOthers();
    return {
      metric,
      window: window.text,
      forecast_for: ahead.text,
      ...bound,
      ...(least !== undefined && { min_span: least }),
      ...(from !== undefined && { from_value: from }),
      ...lasting,
    };
  },
  queryTexts: ({ metric }) => [
    { field: 'metric', text: clean(String(metric)), language: 'promql', wants: 'vector' },
  ],
  leg(condition) {
    const { metric, window, forecast_for: ahead, below, above, for: lasting } = condition;
    const range = overWindow(String(metric), String(window));
    const x = operand(String(metric));
    const measure = `predict_linear(${range}, ${parseDuration(String(ahead)) / 1_000})`;
    const [bound, reached, still] =
      below === undefined ? [Number(above), '>', '<'] : [Number(below), '<', '>'];
    const coming = `${measure} ${reached} ${bound} and ${x} ${still} ${bound}`;
    const { enough, needs } = floorsOf(condition);
    return {
      store: 'metrics',
      query: `${coming} and ${enough}`,
      measure,
      threshold: bound,
      eta: `(${bound} - ${x}) / deriv(${range}) and ${measure} ${reached} ${bound} and ${enough}`,
      crossed: `${x} ${reached}= ${bound}`,
      floors: { needs, heldBack: `${coming} unless (${enough})` },
      ...lastingOf(lasting),
    };
  },
};

/**
 * Returns the preconditions of an extrapolation: few samples, a short span or a value far from the
 * bound predict nothing.
 */
function floorsOf({ metric, window, min_span: least, from_value: given, above }: Condition): {
  readonly enough: string;
  readonly needs: string;
} {
  const windowMs = parseDuration(String(window));
  const minMs =
    least === undefined ? Math.floor(windowMs / 2_000) * 1_000 : parseDuration(String(least));
  const span = formatDuration(minMs);
  const earlier = overWindow(String(metric), formatDuration(windowMs - minMs), ` offset ${span}`);
  const from = given ?? (Number(above) > 0 ? Number(above) / 2 : undefined);
  const [near, side] = above === undefined ? ['<=', 'most'] : ['>=', 'least'];
  return {
    enough: [
      `count_over_time(${overWindow(String(metric), String(window))}) >= ${leastSamples}`,
      `count_over_time(${earlier}) > 0`,
      ...(from === undefined ? [] : [`${operand(String(metric))} ${near} ${from}`]),
    ].join(' and '),
    needs: `${span} of data or more${from === undefined ? '' : ` and a value of at ${side} ${from}`}`,
  };
}
