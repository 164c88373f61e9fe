import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

import { within } from '../../core/host/activate.ts';

function block(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;) {
    // The thread is busy.
  }
}

test('a plugin is not late while the thread had no time for it', async () => {
  const started = await within(20, 'start() of patient', async () => {
    await turn();
    block(60);
    await turn();
    return 'started';
  });
  assert.equal(started, 'started');
});

test('a plugin that does nothing is late, and one that never lets go in the end', async () => {
  await assert.rejects(
    within(20, 'start() of idle', () => new Promise(() => undefined)),
    /start\(\) of idle did not finish within 20 ms/,
  );
  let isLate = false;
  const busy = within(5, 'start() of busy', async () => {
    while (!isLate) {
      block(3);
      await turn();
    }
  });
  await assert.rejects(busy, /start\(\) of busy did not finish within 5 ms/);
  isLate = true;
});
