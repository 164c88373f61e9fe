import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  criticalPath,
  selfTimes,
} from '../../../plugins/console/web/pages/traces/critical-path.ts';
import type { Span } from '../../../plugins/console/web/pages/traces/tree.ts';

const span = (id: string, parent: string | undefined, from: number, to: number): Span => ({
  id,
  parent,
  name: id,
  service: 'shop',
  device: undefined,
  calledBy: undefined,
  kind: '',
  depth: parent === undefined ? 0 : 1,
  offset: from,
  length: to - from,
  hasFailed: false,
  message: '',
  attributes: [],
});

test('own work is what no called span covers, however they overlap or outlast their caller', () => {
  const spans = [
    span('root', undefined, 0, 100),
    span('a', 'root', 10, 40),
    span('b', 'root', 30, 60),
    span('late', 'root', 90, 150),
    span('leaf', 'a', 10, 40),
  ];
  assert.deepEqual(
    [...selfTimes(spans)],
    [
      ['root', 40],
      ['a', 0],
      ['b', 30],
      ['late', 60],
      ['leaf', 30],
    ],
  );
});

test('a trace waits for what ended last, and before that for what ended before it began', () => {
  const spans = [
    span('root', undefined, 0, 100),
    // Beside the longer one nobody waits for the shorter.
    span('short', 'root', 10, 20),
    span('long', 'root', 10, 50),
    span('last', 'root', 60, 90),
    span('inner', 'last', 65, 90),
  ];
  const path = criticalPath(spans);
  assert.deepEqual(
    [...path].map(([id, parts]) => [id, parts]),
    [
      [
        'root',
        [
          [90, 100],
          [50, 60],
          [0, 10],
        ],
      ],
      ['long', [[10, 50]]],
      ['last', [[60, 65]]],
      ['inner', [[65, 90]]],
    ],
  );
  const waited = [...path.values()].flat().reduce((sum, [from, to]) => sum + to - from, 0);
  assert.equal(waited, 100);
});

test('a trace of nothing waits for nothing', () => {
  assert.equal(criticalPath([]).size, 0);
});
