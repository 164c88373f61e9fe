import assert from 'node:assert/strict';
import { test } from 'node:test';

import { faults } from '../../plugins/investigate/cli/bench/worlds/world/faults.ts';
import { makeWorld } from '../../plugins/investigate/cli/bench/worlds/make.ts';
import {
  isNamed,
  outcomeOf,
  shownWorlds,
  worldTableOf,
} from '../../plugins/investigate/cli/bench/worlds/score.ts';
import type { Answer } from '../../plugins/investigate/cli/bench/worlds/play.ts';
import { worldKinds } from '../../plugins/investigate/cli/bench/worlds/world/world-kind.ts';

const end = Date.UTC(2026, 0, 5, 12);

test('a world is the same from the same seed, another from another, and sends what its kind says', () => {
  for (const kind of worldKinds) {
    const world = makeWorld(3, kind, end);
    assert.deepEqual(
      [world.metrics.series.length > 0, world.logs.length > 0, world.spans.length > 0],
      {
        metrics: [true, false, false],
        spans: [true, false, false],
        logs: [false, true, false],
        traces: [true, false, true],
        mixed: [true, world.logs.length > 0, world.spans.length > 0],
      }[kind],
      kind,
    );
    assert.ok(world.truth.causes.length > 0 && world.truth.causes[0]!.names.length > 0);
  }
  const told = (seed: number): string => JSON.stringify(makeWorld(seed, 'logs', end));
  assert.equal(told(4), told(4));
  assert.notEqual(told(4), told(6));
  assert.ok(Object.keys(faults).length >= 14);
});

test('a calm world has no cause, and one seed in twelve has two', () => {
  assert.deepEqual(makeWorld(7, 'spans', end).truth.causes, []);
  assert.equal(makeWorld(5, 'spans', end).truth.causes.length, 2);
});

test('an answer is right by any name of the cause, and a calm world counts causes that are not there', () => {
  const node = (id: string, name = id) => ({ id, name, kind: 'service' });
  assert.ok(isNamed(node('service:cart'), ['cart']));
  assert.ok(isNamed(node('host:10.0.0.7:9100'), ['node-1', '10.0.0.7']));
  assert.ok(isNamed(node('job:prod/cart'), ['cart']));
  assert.ok(!isNamed(node('service:cart-db'), ['cart']));
  const world = makeWorld(3, 'spans', end);
  const answer: Answer = {
    status: 'ready',
    verdict: 'root_cause',
    root_cause: null,
    hypotheses: [
      { node: node('service:nobody'), category: 'other', text: '', score: 1 },
      {
        node: node(`service:${world.truth.causes[0]!.names[0]!}`),
        category: 'other',
        text: '',
        score: 0.5,
      },
    ],
    propagation: [],
    confidence: { value: 0.6 },
    summary: '',
    usage: { seconds: 0.1 },
  };
  const calm = { ...world, truth: { ...world.truth, fault: 'calm', causes: [] } };
  const table = worldTableOf([outcomeOf(world, answer), outcomeOf(calm, answer)], [9]);
  assert.deepEqual(
    [table.groups[0]!.ac1, table.groups[0]!.ac3, table.confidence_when_wrong, table.false_causes],
    [0, 1, 0.6, 1],
  );
  assert.match(shownWorlds(table).join('\n'), /calm worlds: 1, cause named in 1[^]+seeds 9/);
});
