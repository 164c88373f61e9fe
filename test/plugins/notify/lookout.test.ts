import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Tables } from 'svc/sdk';

import { Lookout } from '../../../plugins/notify/store/lookout.ts';

test('an idle house does not look for deliveries again and again; a write, or a while, makes it look', async () => {
  let [looks, left] = [0, true];
  const inner = {
    read: {},
    write: async (work: (tx: never) => Promise<unknown>) => work({} as never),
  } as unknown as Tables<object>;
  const tables = new Lookout(inner);
  const look = tables.whileStirred(async () => {
    looks += 1;
    return left;
  });
  const pass = async (times: number): Promise<number> => {
    const before = looks;
    for (let time = 0; time < times; time++) {
      await look();
    }
    return looks - before;
  };
  assert.equal(await pass(300), 300, 'as long as there is work');
  left = false;
  assert.equal(await pass(200), 50);
  assert.equal(await pass(150), 1, 'what another generation has left is found');
  await tables.write(async () => undefined);
  assert.equal(await pass(50), 50, 'a write may be part of one that commits later');
  assert.equal(await pass(100), 0);
  await assert.rejects(tables.write(() => Promise.reject(new Error('rolled back'))));
  assert.equal(await pass(5), 5);
});
