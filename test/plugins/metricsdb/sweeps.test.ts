import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { folds } from '../../../plugins/metricsdb/promql/aggregate/fold.ts';
import { overTimeFunctions } from '../../../plugins/metricsdb/promql/range/over-time.ts';
import { rateFunctions } from '../../../plugins/metricsdb/promql/range/rate.ts';
import {
  marksOf,
  type RangeFunction,
  Window,
} from '../../../plugins/metricsdb/promql/range/window.ts';

const value = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -3, max: 3 }) },
  fc.double(),
  fc.constantFrom(NaN, Infinity, -Infinity, -0),
);
const course = fc.record({
  samples: fc.array(fc.record({ gap: fc.integer({ min: 1, max: 40 }), value }), { maxLength: 40 }),
  range: fc.integer({ min: 1, max: 120 }),
  end: fc.integer({ min: 0, max: 200 }),
  advance: fc.integer({ min: 0, max: 90 }),
  steps: fc.integer({ min: 1, max: 12 }),
  q: fc.double({ min: 0, max: 1, noNaN: true }),
});

/** Computes each step by itself. */
function plain(
  func: RangeFunction,
  times: Float64Array,
  values: Float64Array,
  { range, end: first, advance, steps, q }: typeof course extends fc.Arbitrary<infer C> ? C : never,
): (number | undefined)[] {
  const window = new Window(times, values, marksOf(values, values.length, func.breaks));
  window.range = range;
  window.a = q;
  return Array.from({ length: steps }, (_, step) => {
    window.end = first + step * advance;
    window.start = window.end - range;
    window.from = times.filter((time) => time <= window.start).length;
    window.to = times.filter((time) => time <= window.end).length;
    return window.to - window.from >= func.least ? func.compute(window) : undefined;
  });
}

for (const [name, func] of Object.entries({ ...overTimeFunctions, ...rateFunctions })) {
  if (func.sweep !== undefined) {
    test(`${name} of all steps at once is that of each step`, () => {
      fc.assert(
        fc.property(course, ({ samples, ...asked }) => {
          let time = 0;
          const times = Float64Array.from(samples, ({ gap }) => (time += gap));
          const values = Float64Array.from(samples, (sample) => sample.value);
          const { length } = values;
          const [into, present] = [new Float64Array(asked.steps), new Uint8Array(asked.steps)];
          const q = new Float64Array(asked.steps).fill(asked.q);
          func.sweep!({ times, values, length, ...asked }, into, present, [q]);
          const swept = Array.from(into, (one, step) => (present[step] === 1 ? one : undefined));
          assert.deepEqual(swept, plain(func, times, values, { samples, ...asked }));
        }),
      );
    });
  }
}

test('rows are folded as their values are', () => {
  const row = fc.record({ from: fc.integer({ min: 0, max: 3 }), values: fc.array(value) });
  fc.assert(
    fc.property(
      fc.constantFrom(...Object.keys(folds)),
      fc.array(row),
      fc.boolean(),
      (op, rows, gaps) => {
        const steps = 4 + Math.max(0, ...rows.map(({ values }) => values.length));
        const [whole, single] = [folds[op]!(steps), folds[op]!(steps)];
        for (const { from, values } of rows) {
          const present = Uint8Array.from(values, (_, i) => (i % 3 === 0 ? 0 : 1));
          whole.addRow({
            from,
            values: Float64Array.from(values),
            ...(gaps && { present }),
          });
          values.forEach((one, i) => (gaps ? present[i] === 1 : true) && single.add(from + i, one));
        }
        const results = (fold: typeof whole): (number | undefined)[] =>
          Array.from(fold.count, (count, step) => (count === 0 ? undefined : fold.result(step)));
        assert.deepEqual(results(whole), results(single));
      },
    ),
  );
});
