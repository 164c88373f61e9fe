import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

import { DueWork } from 'svc/flow';

test('work rests until it is due, goes on to what came meanwhile, is tried again when it failed, and ends with its owner', async () => {
  const [done, failures, retries, owner] = [
    [] as number[],
    [] as string[],
    [] as (() => void)[],
    new AbortController(),
  ];
  let [wanted, fails, atOnce, most] = [0, false, 0, 0];
  const due = new DueWork({
    async work() {
      most = Math.max(most, (atOnce += 1));
      const now = wanted;
      await turn();
      atOnce -= 1;
      if (fails) {
        throw new Error('the disk is full');
      }
      done.push(now);
    },
    failed: (_error, cause) => failures.push(cause),
    retryMs: 2_000,
    later: (ms, work) => void (assert.equal(ms, 2_000), retries.push(work)),
  });
  const run = due.run(owner.signal);
  const settled = async (): Promise<void> => {
    for (let times = 0; times < 8; times++) {
      await turn();
    }
  };
  await settled();
  assert.deepEqual(done, [], 'nothing was due');
  wanted = 1;
  due.due();
  await turn();
  wanted = 2;
  due.due();
  due.due();
  await settled();
  assert.deepEqual([done, most, due.lastError], [[1, 2], 1, null]);
  fails = true;
  due.due();
  await settled();
  assert.deepEqual(
    [failures, due.lastError, retries.length],
    [['the disk is full'], 'the disk is full', 1],
  );
  [fails, wanted] = [false, 3];
  retries[0]!();
  await settled();
  assert.deepEqual([done, due.lastError], [[1, 2, 3], null]);
  owner.abort();
  await run;
});
