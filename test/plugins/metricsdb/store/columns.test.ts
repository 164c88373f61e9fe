import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { Scratch } from '../../../../plugins/metricsdb/store/columns/scratch.ts';
import { TimeColumn } from '../../../../plugins/metricsdb/store/columns/time-column.ts';
import { ValueColumn } from '../../../../plugins/metricsdb/store/columns/value-column.ts';

function valuesThrough(values: readonly number[]): { back: number[]; bytes: number } {
  const out = new Scratch();
  new ValueColumn().write(out, Float64Array.from(values), 0, values.length);
  const back = new Float64Array(values.length);
  new ValueColumn().read(out.written(), 0, out.at, back, 0, values.length);
  return { back: [...back], bytes: out.at };
}

function timesThrough(times: readonly number[], origin: number): { back: number[]; bytes: number } {
  const out = new Scratch();
  const column = new TimeColumn();
  column.write(out, Float64Array.from(times), 0, times.length, origin);
  const back = new Float64Array(column.count(out.written(), 0, out.at));
  assert.equal(column.read(out.written(), 0, out.at, origin, back, 0), out.at);
  return { back: [...back], bytes: out.at };
}

test('any run of values comes back as it was, negative zero, infinities and gaps in the numbers included', () => {
  const value = fc.oneof(
    fc.double(),
    fc.integer(),
    fc.constantFrom(
      0,
      -0,
      Infinity,
      -Infinity,
      NaN,
      2 ** 53,
      -(2 ** 53),
      2 ** 50,
      1e-12,
      0.1,
      1e300,
      Number.MIN_VALUE,
    ),
    fc.integer({ min: -1e9, max: 1e9 }).map((whole) => whole / 100),
  );
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 200 }), (values) =>
      assert.deepEqual(valuesThrough(values).back, values),
    ),
  );
  fc.assert(
    fc.property(value, fc.integer({ min: 1, max: 50 }), (one, count) =>
      assert.deepEqual(valuesThrough(Array(count).fill(one)).back, Array(count).fill(one)),
    ),
  );
});

test('any ascending times come back as they were, whatever the origin', () => {
  const steps = fc.array(
    fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: 10_000_000_000 })),
    { minLength: 0, maxLength: 200 },
  );
  fc.assert(
    fc.property(
      fc.integer({ min: -1e13, max: 4e12 }),
      fc.integer({ min: -1e12, max: 4e12 }),
      steps,
      (first, origin, rest) => {
        const times = [first];
        rest.forEach((step) => times.push(times.at(-1)! + step));
        assert.deepEqual(timesThrough(times, origin).back, times);
      },
    ),
  );
});

test('what hardly changes takes hardly any room', () => {
  assert.equal(valuesThrough(Array(480).fill(42.5)).bytes, 9);
  assert.ok(
    valuesThrough(Array.from({ length: 480 }, (_, i) => 1_000 + i * 15)).bytes < 16,
    'a steady counter',
  );
  assert.ok(
    valuesThrough(Array.from({ length: 480 }, (_, i) => 12.25 + (i >> 6) / 100)).bytes < 40,
    'a value with two decimals that moves now and then',
  );
  assert.ok(
    timesThrough(
      Array.from({ length: 480 }, (_, i) => 1_700_000_000_000 + i * 15_000),
      1_699_999_000_000,
    ).bytes < 16,
    'an even scrape',
  );
});
