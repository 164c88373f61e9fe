import assert from 'node:assert/strict';
import { test } from 'node:test';

import { matcher } from 'svc/query';

import {
  type Found,
  selectionKey,
  Selections,
} from '../../../../plugins/metricsdb/store/select/selections.ts';
import { hour, matchers, pointsOf, storeHouse } from './house.ts';

test('a selector that was asked again and again sees every series that comes and goes', async (t) => {
  const house = await storeHouse(t);
  const write = (host: string) =>
    house.store.write([{ labels: { __name__: 'up', host }, time: house.now, value: 1 }]);
  /** Asks until what is found is kept, and once more. */
  const hosts = async (): Promise<readonly string[]> => {
    let names: readonly string[] = [];
    for (let time = 0; time < 3; time++) {
      names = Object.keys(await pointsOf(house.store, matchers('up')));
    }
    return names.map((name) => /host[^a-z]*([a-z])/.exec(name)![1]!).sort();
  };
  await write('a');
  assert.deepEqual(await hosts(), ['a']);
  await write('b');
  assert.deepEqual(await hosts(), ['a', 'b'], 'from the head');
  house.now += 6 * hour;
  await write('c');
  await house.store.maintain();
  assert.deepEqual(await hosts(), ['a', 'b', 'c'], 'from a block and the head');
  await write('d');
  assert.deepEqual(await hosts(), ['a', 'b', 'c', 'd']);
  await house.store.drop(
    {
      selectors: [[{ name: 'host', op: '=', value: 'c' }]],
      mint: -8.64e15,
      maxt: 8.64e15,
    },
    'Ada',
  );
  assert.deepEqual(await hosts(), ['a', 'b', 'd'], 'after a deletion');
});

const found = (count: number): readonly Found[] =>
  Array.from({ length: count }, (_, slot) => ({ labels: [], slot, generation: 0, inBlocks: [] }));

test('what is asked for once is not kept, and of the rest what was used last', () => {
  const selections = new Selections(400);
  assert.equal(selections.isWanted('a', 100), false);
  assert.equal(selections.isWanted('a', 100), true);
  assert.equal(selections.isWanted('large', 201), false);
  assert.equal(selections.isWanted('large', 201), false, 'more than half of all is never kept');
  selections.keep('a', found(100));
  selections.keep('b', found(100));
  assert.equal(selections.get('a')!.length, 100);
  selections.keep('c', found(170));
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => selections.get(key)?.length),
    [100, undefined, 170],
  );
});

test('selections that found nothing have their weight, too', () => {
  const selections = new Selections(160);
  for (let i = 0; i < 100; i++) {
    selections.keep(String(i), []);
  }
  const kept = Array.from({ length: 100 }, (_, i) => selections.get(String(i))).filter(Boolean);
  assert.equal(kept.length, 10);
});

test('a key depends on each matcher, each block and the state of the head', () => {
  const up = matcher('__name__', '=', 'up');
  const keys = [
    selectionKey([up], [], undefined),
    selectionKey([up], [], 1),
    selectionKey([up], [], 2),
    selectionKey([up], ['a', 'b'], 1),
    selectionKey([up], ['ab'], 1),
    selectionKey([matcher('__name__', '!=', 'up')], [], 1),
    selectionKey([up, matcher('job', '=~', 'a')], [], 1),
  ];
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(selectionKey([up], ['a'], 1), selectionKey([up], ['a'], 1));
});
