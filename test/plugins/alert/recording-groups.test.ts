import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { MetricsQueries } from 'svc/contracts/metricsdb';

import { Recorder } from '../../../plugins/alert/recording/recorder.ts';
import type { Recording } from '../../../plugins/alert/recording/recording.ts';
import { RecordingGroups } from '../../../plugins/alert/recording/recording-groups.ts';

const recording = (group: string, id: number, expr: string): Recording => ({
  id,
  group,
  position: id,
  record: `r${id}`,
  expr,
  labels: {},
  interval_seconds: 0,
  limit: 0,
  enabled: true,
  created_by: 'ada',
  created_at: 0,
});

test('requests get their turn while the expressions of a large group are checked', async () => {
  const stored = [recording('g', 1, 'up')];
  const check: MetricsQueries['check'] = () => Promise.resolve({ type: 'vector' } as never);
  const groups = new RecordingGroups(
    {
      groups: async () => new Set(['g']),
      group: async () => stored,
      put: async () => undefined,
    },
    { available: true, get: () => ({ check }) } as never,
  );
  let [turns, isOver] = [0, false];
  const turn = (): void => {
    turns++;
    if (!isOver) {
      setImmediate(turn);
    }
  };
  setImmediate(turn);
  const rules = Array.from({ length: 400 }, (_, i) => ({ record: `r${i}`, expr: `a${i}` }));
  await groups.put({ principal: {} as never, note: () => undefined }, { group: 'g', rules });
  isOver = true;
  assert.ok(turns >= 20, `${turns} turns`);
});

test('a changed group is loaded alone, and one without an enabled rule is dropped', async () => {
  const asked: string[] = [];
  let now = 0;
  const recorder = new Recorder({
    backEnd: {
      round: (exprs) =>
        new Map(
          exprs.map((expr) => {
            asked.push(expr);
            return [expr, Promise.resolve({ answer: new Error('none') })];
          }),
        ) as never,
    },
    store: { available: false } as never,
    now: () => now,
    monotonic: () => now,
    intervalMs: () => 10_000,
    delayMs: () => 0,
  });
  const evaluated = async (): Promise<readonly string[]> => {
    now += 20_000;
    asked.length = 0;
    await recorder.tick();
    return asked.toSorted();
  };
  recorder.load([recording('a', 1, 'one'), recording('b', 2, 'two')]);
  assert.deepEqual(await evaluated(), ['one', 'two']);
  recorder.loadGroup('b', [recording('b', 3, 'three')]);
  assert.deepEqual(await evaluated(), ['one', 'three']);
  recorder.loadGroup('a', [{ ...recording('a', 1, 'one'), enabled: false }]);
  recorder.loadGroup('c', [recording('c', 4, 'four')]);
  assert.deepEqual(await evaluated(), ['four', 'three']);
});
