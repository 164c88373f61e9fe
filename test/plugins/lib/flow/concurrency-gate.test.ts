import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { ConcurrencyGate } from 'svc/flow';

const full = ({
  running,
  waiting,
}: {
  readonly running: number;
  readonly waiting: number;
}): Error => new Error(`${running} run and ${waiting} wait`);

describe('a gate', () => {
  test('lets two in, has twenty wait in order, and sends the rest away with a time to come back', async () => {
    const gate = new ConcurrencyGate({ atOnce: 2, waiting: 20, full });
    const finish: (() => void)[] = [];
    const order: number[] = [];
    let inside = 0;
    let most = 0;
    const work = (index: number) =>
      gate.run(async () => {
        order.push(index);
        most = Math.max(most, ++inside);
        await new Promise<void>((resolve) => finish.push(resolve));
        inside -= 1;
        return index;
      });
    const all = Array.from({ length: 22 }, (_, index) => work(index));
    await assert.rejects(work(99), { message: '2 run and 20 wait' });
    while (order.length < 22 || finish.length > 0) {
      finish.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(await Promise.all(all), [...Array(22).keys()]);
    assert.deepEqual(order, [...Array(22).keys()]);
    assert.equal(most, 2);
    const after = work(100);
    finish.shift()!();
    assert.equal(await after, 100, 'there is room again');
  });

  test('stays open after work that failed', async () => {
    const gate = new ConcurrencyGate({ atOnce: 1, waiting: 1, full });
    const broken = (): Promise<never> => Promise.reject(new Error('broken'));
    await assert.rejects(Promise.all([gate.run(broken), gate.run(broken)]), /broken/);
    assert.equal(await gate.run(async () => 'in'), 'in');
  });
});
