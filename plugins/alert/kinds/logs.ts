import { formatDuration } from 'svc/query';

import { compares } from '../rule/expression.ts';
import { by, groupingOf, type Kind, lastingOf } from './kind.ts';
import { expressionLeg } from './metric-raw.ts';
import { clean } from './window.ts';

/** Time that log lines may take to be stored. */
const delayMs = 10_000;
const placeholder = /\{\{\s*\.?device_id\s*\}\}|\$device_id\b|\$\{device_id\}/;
const asMatcher =
  /device_id\s*=~?\s*(["`])(?:\{\{\s*\.?device_id\s*\}\}|\$device_id|\$\{device_id\})\1/g;

/** A LogQL query: every line that it finds is a hit. `{{device_id}}` in its selector stands for each device at a time, which one query asks for all. */
export const logMatch: Kind = {
  read(fields) {
    const expr = fields.text('expr');
    if (placeholder.test(forAllDevices(expr))) {
      throw fields.wrong(
        'expr',
        'uses {{device_id}} outside of a matcher such as {device_id="{{device_id}}"}, where one query cannot cover all devices',
      );
    }
    const lasting = fields.lasting();
    fields.refuseOthers();
    return { expr, ...lasting };
  },
  queryTexts: ({ expr }) => [
    { field: 'expr', text: forAllDevices(String(expr)), language: 'logql', wants: 'lines' },
  ],
  leg({ expr, for: lasting }, frame, { intervalMs }) {
    const measure = `sum${by(groupingOf(frame))} (count_over_time(${clean(forAllDevices(String(expr)))} [${formatDuration(intervalMs + delayMs)}]))`;
    return { store: 'logs', query: `${measure} > 0`, measure, threshold: 0, ...lastingOf(lasting) };
  },
};

const forAllDevices = (expr: string): string => expr.replace(asMatcher, 'device_id=~".+"');

/** LogQL that counts, with its comparison. */
export const logVolume: Kind = {
  read(fields) {
    const expr = fields.text('expr');
    if (!compares(expr)) {
      throw fields.wrong(
        'expr',
        'has no comparison, so it would fire whenever there are lines; add one such as > 100',
      );
    }
    const lasting = fields.lasting();
    fields.refuseOthers();
    return { expr, ...lasting };
  },
  queryTexts: ({ expr }) => [
    { field: 'expr', text: String(expr), language: 'logql', wants: 'number' },
  ],
  leg: ({ expr, for: lasting }) => expressionLeg('logs', String(expr), lasting),
};
