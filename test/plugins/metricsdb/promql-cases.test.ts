import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import { functions } from '../../../plugins/metricsdb/promql/parse/signatures.ts';
import {
  aggregators,
  keywords,
  preprocessors,
  wordOperators,
} from '../../../plugins/metricsdb/promql/parse/token.ts';
import { localEngine } from '../../golden/promql-test/runner/engine.ts';
import { runScript } from '../../golden/promql-test/runner/run.ts';

const folder = new URL('../../golden/promql-test/cases/', import.meta.url);

for (const file of readdirSync(folder).filter((name) => name.endsWith('.test'))) {
  test(`every question of ${file} gets its answer, at one time, pinned to it, and in the middle of a range`, async (t) => {
    const outcomes = await runScript(readFileSync(new URL(file, folder), 'utf8'), localEngine());
    const wrong = outcomes.filter(
      ({ failed, skipped }) => failed !== undefined || skipped !== undefined,
    );
    assert.deepEqual(wrong, []);
    assert.ok(outcomes.length > 0);
    t.diagnostic(`${outcomes.length} questions`);
  });
}

test('every function, aggregation, operator and modifier is asked about', () => {
  const asked = readdirSync(folder)
    .flatMap((name) => readFileSync(new URL(name, folder), 'utf8').split('\n'))
    .filter((line) => line.startsWith('eval'))
    .join('\n');
  const words = [
    ...functions.keys(),
    ...aggregators,
    ...wordOperators,
    ...keywords,
    ...preprocessors,
  ];
  assert.deepEqual(
    words.filter((word) => !new RegExp(`\\b${word}\\b`).test(asked)),
    [],
  );
  const signs = [
    '+',
    '-',
    '*',
    '/',
    '%',
    '^',
    '==',
    '!=',
    '<',
    '<=',
    '>',
    '>=',
    '@',
    '=~',
    '!~',
    '</',
    '>/',
  ];
  assert.deepEqual(
    signs.filter((sign) => !asked.includes(sign)),
    [],
  );
});
