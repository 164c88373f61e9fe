import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import {
  compareLabels,
  keepLabels,
  labelsKey,
  labelsOf,
  labelsRecord,
  labelValue,
  noLabels,
  sameLabels,
  withLabel,
  withoutLabels,
} from 'svc/query';

import { labelsOfText } from '../../../../plugins/lib/query/exposition/series.ts';

const name = fc.oneof(
  fc.constantFrom('a', 'b', 'job', '__name__', '__proto__', 'a\0b', ''),
  fc.string({ maxLength: 4 }),
);
const value = fc.oneof(fc.constantFrom('', 'x', 'a\0b', '\0', '",'), fc.string({ maxLength: 4 }));
const pairs = fc.array(fc.tuple(name, value), { maxLength: 5 });

describe('a label set', () => {
  test('is sorted, frozen, and without empty values', () => {
    const labels = labelsOf([
      ['job', 'api'],
      ['__name__', 'up'],
      ['gone', ''],
      ['job', 'db'],
    ]);
    assert.deepEqual(labels, ['__name__', 'up', 'job', 'db']);
    assert.ok(Object.isFrozen(labels));
    assert.equal(labelValue(labels, 'job'), 'db');
    assert.equal(labelValue(labels, 'gone'), '');
    assert.equal(labelValue(labels, 'up'), '', 'a value is no name');
  });

  test('has a key that no other set has', () => {
    fc.assert(
      fc.property(pairs, pairs, (a, b) => {
        const [first, second] = [labelsOf(a), labelsOf(b)];
        assert.equal(labelsKey(first) === labelsKey(second), sameLabels(first, second));
        assert.equal(
          compareLabels(first, second) === 0,
          JSON.stringify(first) === JSON.stringify(second),
        );
        assert.equal(
          Math.sign(compareLabels(first, second)) + Math.sign(compareLabels(second, first)),
          0,
        );
      }),
      { numRuns: 2_000 },
    );
    assert.notEqual(
      labelsKey(labelsOf([['a', 'b\0c\0d']])),
      labelsKey(
        labelsOf([
          ['a', 'b'],
          ['c', 'd'],
        ]),
      ),
    );
    assert.equal(labelsKey(noLabels), labelsKey(labelsOf([])));
  });

  test('is changed by making another', () => {
    fc.assert(
      fc.property(pairs, name, value, (given, changed, to) => {
        const labels = labelsOf(given);
        assert.deepEqual(withLabel(labels, changed, to), labelsOf([...given, [changed, to]]));
        assert.deepEqual(
          withoutLabels(labels, new Set([changed])),
          labelsOf([...given, [changed, '']]),
        );
        assert.deepEqual(
          keepLabels(labels, new Set([changed])),
          labelsOf([[changed, labelValue(labels, changed)]]),
        );
      }),
    );
  });

  test('as a record has no prototype that a label could reach', () => {
    const record = labelsRecord(labelsOf([['__proto__', 'x']]));
    assert.equal(Object.getPrototypeOf(record), null);
    assert.deepEqual(Object.entries(record), [['__proto__', 'x']]);
  });
});

test('a series of several megabytes is refused in a sentence', () => {
  assert.throws(
    () => labelsOfText(`m{a="${'x'.repeat(8 * 1_048_576)}"}`, false),
    /a series may have at most 1048576 characters/,
  );
});
