import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

import type { SampleRow } from 'svc/contracts/metricsdb';

import {
  AlertSeries,
  type AlertSeriesParts,
} from '../../../plugins/alert/evaluator/alert-series.ts';
import { answerRows, answerRowsInTurns } from '../../../plugins/alert/instance/answer-rows.ts';
import type { Instance } from '../../../plugins/alert/instance/instance.ts';
import { movesInTurns, movesOf } from '../../../plugins/alert/instance/moves.ts';
import type { Plan } from '../../../plugins/alert/rule/rule.ts';
import { ruleOf } from './engine-house.ts';

const many = 2_000;
/** Min pieces of other work that are done while `many` are handled. */
const leastTurns = 9;

const rule = ruleOf({ id: 1, rule_key: 'hot', dimensions: ['unit'] });
const plan: Plan = {
  join: 'any',
  legs: [{ store: 'metrics', query: 'hot', forMs: 0, threshold: 1 }],
};
const frame = {
  rule,
  plan,
  labelsOf: (_rule: unknown, series: Readonly<Record<string, string>>) => ({
    own: series,
    all: series,
  }),
};
const labels = Array.from({ length: many }, (_, unit) => ({ unit: `u${unit}`, device_id: '7' }));
const answer = {
  type: 'vector',
  labels,
  values: new Float64Array(many).fill(5),
  times: new Float64Array(many),
  warnings: [],
} as const;
const evaluation = (rows: ReturnType<typeof answerRows>['rows'], at: number) => ({
  plan,
  at,
  slot: at,
  continuous: true,
  rows: [rows],
  holdMs: 0,
});

/** Returns the result of work, and how many pieces of other work were done meanwhile. */
async function beside<R>(
  work: Promise<R>,
): Promise<{ readonly result: R; readonly turns: number }> {
  let isOver = false;
  let turns = 0;
  const ended = work.finally(() => (isOver = true));
  while (!isOver) {
    await nextTurn();
    turns += 1;
  }
  return { result: await ended, turns };
}

test('a long answer becomes rows, and rows become instances, in small steps between which others have their turn', async () => {
  const rows = await beside(answerRowsInTurns(answer, frame, 1));
  assert.deepEqual(rows.result, answerRows(answer, frame, 1));
  assert.ok(rows.turns >= leastTurns, `${rows.turns} turns`);

  const first = await beside(movesInTurns(new Map(), evaluation(rows.result.rows, 1_000)));
  assert.deepEqual(first.result, movesOf(new Map(), evaluation(rows.result.rows, 1_000)));
  assert.ok(first.turns >= leastTurns, `${first.turns} turns`);
  assert.equal(first.result.moves.length, many);

  const known = new Map(first.result.moves.map(({ key, next }) => [key, next!]));
  const later = await beside(movesInTurns(known, evaluation(new Map(), 31_000)));
  assert.ok(later.turns >= leastTurns, `${later.turns} turns`);
  assert.ok(later.result.moves.every(({ next }) => next?.clearedAt === 31_000));
});

test('series of what fires are put together in small steps, made once for as long as it lasts, and not written of a rule that ends meanwhile', async () => {
  const { moves } = movesOf(new Map(), evaluation(answerRows(answer, frame, 1).rows, 1_000));
  const instances = new Map<string, Instance>(moves.map(({ key, next }) => [key, next!]));
  const written: SampleRow[] = [];
  const write = async (rows: readonly SampleRow[]) => {
    rows.forEach((row) => written.push(row));
    return { accepted: rows.length, rejected: 0, reasons: [] };
  };
  const parts: AlertSeriesParts = {
    ledger: { instances: new Map([[rule.id, instances]]), live: new Map() },
    store: { available: true, get: () => ({ write }), onChange: () => () => undefined },
    within: (_ms, _what, work) => work(new AbortController().signal),
    log: { warn: () => undefined, info: () => undefined },
    lost: () => undefined,
  };
  const series = new AlertSeries(parts);
  const { turns } = await beside(series.update({ rule, slot: 1_000, at: 1_000 }));
  assert.ok(turns >= leastTurns, `${turns} turns`);
  await series.settled();
  const first = written.splice(0);
  assert.equal(first.length, 2 * many);

  const [one] = instances.keys();
  instances.set(one!, { ...instances.get(one!)!, phase: 'pending' });
  await series.update({ rule, slot: 31_000, at: 31_000 });
  await series.settled();
  const second = written.splice(0);
  assert.equal(
    second.filter(({ stale }) => stale === true).length,
    1,
    'it fires no more, and is pending',
  );
  const kept = second.filter(
    ({ stale, labels: own }) => stale !== true && first.some((row) => row.labels === own),
  );
  assert.equal(kept.length, 2 * (many - 1), 'the rest is what it was');
  assert.ok(second.every(({ time }) => time === 31_000));

  const late = series.update({ rule, slot: 61_000, at: 61_000 });
  series.endRule(rule.id, 60_000);
  await late;
  await series.settled();
  assert.ok(written.length > 0 && written.every(({ stale }) => stale === true), 'only their end');
  assert.equal(series.hasSeries(rule.id), false);
});
