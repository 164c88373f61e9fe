import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Tables } from 'svc/sdk';

import { Lookout } from '../../../plugins/notify/lookout.ts';

test('an idle house does not look for deliveries again and again; a write, or a while, makes it look', async () => {
  let [now, looks, left] = [0.5, 0, true];
  const inner = { read: {}, write: async (work: (tx: never) => Promise<unknown>) => work({} as never) } as unknown as Tables<object>;
  const tables = new Lookout(inner, { monotonic: () => now });
  const look = tables.whileStirred(async () => {
    looks += 1;
    return left;
  });
  const pass = async (seconds: number): Promise<number> => {
    const before = looks;
    for (let step = 0; step < seconds * 5; step++) {
      now += 200;
      await look();
    }
    return looks - before;
  };
  assert.equal(await pass(60), 300, 'as long as there is work');
  left = false;
  assert.equal(await pass(30), 1);
  assert.equal(await pass(30), 1, 'what another generation has left is found');
  await tables.write(async () => undefined);
  assert.equal(await pass(10), 50, 'a write may be part of one that commits later');
  assert.equal(await pass(20), 1);
  await assert.rejects(tables.write(() => Promise.reject(new Error('rolled back'))));
  assert.equal(await pass(1), 5);
});
