import { formatDuration, parseDuration } from 'svc/query';

import { day, type Kind, lastingOf } from './kind.ts';
import { clean, operand, overWindow } from './window.ts';

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
  written: ({ metric }) => [{ field: 'metric', text: clean(String(metric)), language: 'promql', wants: 'vector' }],
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
      ...lastingOf(lasting),
    };
  },
};

const secondsOf = (text: string): number => parseDuration(text) / 1_000;
