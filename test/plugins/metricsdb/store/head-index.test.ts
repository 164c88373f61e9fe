import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { HeadIndex } from '../../../../plugins/metricsdb/store/head/head-index.ts';
import { KeyTable } from '../../../../plugins/metricsdb/store/head/key-table.ts';

const labelsOf = (series: number): readonly string[] => [
  '__name__',
  `m${series % 3}`,
  'host',
  `h${series % 7}`,
  'part',
  `${Math.floor(series / 5)}`,
];

test('whatever came and went, a series is found by its labels, and one that is not there is not', () => {
  const step = fc.record({
    goes: fc.boolean(),
    series: fc.array(fc.nat(400), { minLength: 1, maxLength: 120 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), fc.integer(), (steps, seed) => {
      const index = new HeadIndex(seed);
      const slots = new Map<number, number>();
      for (const { goes, series } of steps) {
        if (goes) {
          index.remove(new Set(series.flatMap((one) => slots.get(one) ?? [])));
          series.forEach((one) => slots.delete(one));
        } else {
          for (const one of new Set(series.filter((any) => !slots.has(any)))) {
            slots.set(one, index.add(labelsOf(one)));
          }
        }
        for (let one = 0; one <= 400; one++) {
          assert.equal(index.find(labelsOf(one)), slots.get(one) ?? -1);
        }
      }
    }),
    { numRuns: 30 },
  );
});

test('labels that are only the beginning of those of a series, or more than they are, are no series', () => {
  const index = new HeadIndex(1);
  const labels = ['__name__', 'up', 'host', 'a'];
  assert.equal(index.find([]), -1);
  const slot = index.add(labels);
  assert.equal(index.find(labels), slot);
  assert.equal(index.find(labels.slice(0, 2)), -1);
  assert.equal(index.find([...labels, 'up', 'a']), -1);
  assert.equal(index.find(['__name__', 'a', 'host', 'up']), -1);
});

test('keys are told apart by every bit of theirs, whatever numbers their bytes would be', () => {
  // Of eight such bytes some are NaN and some are zero with a sign.
  const byte = fc.constantFrom(0, 0x80, 0xff, 0xf0, 0x7f, 1);
  const key = fc.array(byte, { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(fc.uniqueArray(key, { selector: String, maxLength: 40 }), (keys) => {
      const table = new KeyTable(1);
      keys.forEach((one, slot) => table.add(Uint8Array.from(one), 0, one.length, 0, slot));
      // Twice, since what follows is guessed from the second time on.
      for (const [slot, one] of [...keys.entries(), ...keys.entries()]) {
        assert.equal(table.find(Uint8Array.from(one), 0, one.length, 0), slot);
        const other = one.map((each, i) => (i === one.length - 1 ? each ^ 0x80 : each));
        const known = keys.findIndex((each) => String(each) === String(other));
        assert.equal(table.find(Uint8Array.from(other), 0, other.length, 0), known);
      }
    }),
  );
});
