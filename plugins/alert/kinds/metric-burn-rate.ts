import { parseDuration } from 'svc/query';

import { isSelector } from '../rule/expression.ts';
import { by, day, groupingOf, type Kind, lastingOf } from './kind.ts';
import { clean } from './window.ts';

/** Min events in the long window; with fewer, one failure is a large part of them. */
const leastEvents = 20;
const placeholder = /\$window\b|\$\{window\}/;
const placeholders = /\$window\b|\$\{window\}/g;

/**
 * Speed at which an error budget is spent, with both a long and a short window above the factor:
 * the long one shows that it matters, the short one that it persists. Factors assume a budget of
 * thirty days: 2 % of it in an hour, 5 % in six, 10 % in days.
 */
export const metricBurnRate: Kind = {
  read(fields) {
    const good = fields.text('good');
    const total = fields.text('total');
    const slo = fields.number('slo', { above: 0, below: 1 });
    const long = fields.span('long', { minMs: 60_000, maxMs: 30 * day });
    const short = fields.span('short', { minMs: 10_000, maxMs: 30 * day });
    if (short.ms >= long.ms) {
      throw fields.wrong('short', `must be shorter than long (${long.text})`);
    }
    const given = fields.has('factor') ? fields.number('factor', { above: 0 }) : undefined;
    const events = fields.has('min_events') ? fields.number('min_events', { least: 0 }) : undefined;
    const factor = given ?? factorOf(long.ms);
    if (factor * (1 - slo) >= 1) {
      throw fields.wrong(
        given === undefined ? 'slo' : 'factor',
        `can never be reached: with every event failing, the budget of slo ${slo} burns ${round(1 / (1 - slo))} times as fast as it may, and the factor is ${round(factor)}`,
      );
    }
    const lasting = fields.lasting();
    fields.refuseOthers();
    return {
      good,
      total,
      slo,
      long: long.text,
      short: short.text,
      ...(given !== undefined && { factor: given }),
      ...(events !== undefined && { min_events: events }),
      ...lasting,
    };
  },

  queryTexts: ({ good, total, long }) =>
    Object.entries({ good, total }).map(([field, text]) => ({
      field,
      text: clean(String(text)).replace(placeholders, String(long)),
      language: 'promql',
      wants: 'vector',
    })),

  leg({ good, total, slo, long, short, factor, min_events: events, for: lasting }, frame) {
    const labels = by(groupingOf(frame));
    const over = (text: string | number | undefined, window: string): string =>
      windowed(String(text), window, labels);
    const burn = (window: string): string => {
      const all = over(total, window);
      // Where nothing at all was good there is no series of it.
      return `(1 - (${over(good, window)} or ${all} * 0) / ${all}) / ${round(1 - Number(slo))}`;
    };
    const most = round(
      factor === undefined ? factorOf(parseDuration(String(long))) : Number(factor),
    );
    const least = Number(events ?? (isSelector(clean(String(total))) ? leastEvents : 0));
    const enough = least > 0 ? ` and ${over(total, String(long))} >= ${least}` : '';
    const measure = burn(String(long));
    return {
      store: 'metrics',
      query: `${measure} > ${most} and ${burn(String(short))} > ${most}${enough}`,
      measure,
      threshold: most,
      ...lastingOf(lasting),
    };
  },
};

/** 14.4 for an hour, 6 for six hours, 3 for a day, 1 for three days. */
export function factorOf(longMs: number): number {
  const hours = longMs / 3_600_000;
  const budget = hours <= 1 ? 0.02 : hours <= 6 ? 0.05 : 0.1;
  return (budget * 720) / hours;
}

function windowed(text: string, window: string, labels: string): string {
  const expression = clean(text);
  if (placeholder.test(expression)) {
    return `(${expression.replace(placeholders, window)})`;
  }
  if (isSelector(expression)) {
    return `sum${labels} (increase(${expression}[${window}]))`;
  }
  return `avg_over_time((${expression})[${window}:${Math.max(1, Math.round(parseDuration(window) / 60_000))}s])`;
}

/** Rounds away binary fraction noise. */
const round = (value: number): number => Number(value.toPrecision(12));
