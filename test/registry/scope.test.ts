import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { OwnedScope } from '../../core/registry/index.ts';
import { plainRunner } from './fixtures.ts';

const scope = (): OwnedScope => new OwnedScope('fixture#1', plainRunner);

describe('a scope', () => {
  test('undoes its effects last-in first-out, one after the other', async () => {
    const owned = scope();
    const undone: string[] = [];
    owned.defer('first', () => void undone.push('first'));
    owned.defer('second', async () => {
      await pause(5);
      undone.push('second');
    });
    owned.defer('third', () => void undone.push('third'));
    assert.deepEqual(await owned.close(), []);
    assert.deepEqual(undone, ['third', 'second', 'first']);
  });

  test('tells what could not be undone and still undoes the rest', async () => {
    const owned = scope();
    const undone: string[] = [];
    owned.defer('good', () => void undone.push('good'));
    owned.defer('socket', () => {
      throw new Error('still in use');
    });
    assert.deepEqual(await owned.close(), [{ label: 'socket', cause: 'still in use' }]);
    assert.deepEqual(undone, ['good']);
  });

  test('prints what it owns as a tree', () => {
    const owned = scope();
    owned.defer('route GET /x', () => undefined);
    owned.child('session 7').interval('poll', 1_000, () => undefined);
    assert.deepEqual(owned.effects(), {
      label: 'fixture#1',
      children: [
        { label: 'route GET /x', children: [] },
        { label: 'session 7', children: [{ label: 'every 1000 ms: poll', children: [] }] },
      ],
    });
  });

  test('throws on every use after it has ended', async () => {
    const owned = scope();
    await owned.close();
    for (const use of [
      () => owned.defer('late', () => undefined),
      () => owned.interval('late', 1, () => undefined),
      () => owned.timeout('late', 1, () => undefined),
      () => owned.task('late', async () => undefined),
      () => owned.child('late'),
    ]) {
      assert.throws(use, /fixture#1 has ended, so ".*late" is no longer possible/);
    }
    assert.equal(owned.signal.aborted, true);
  });

  test('starts timers and tasks only once it is armed', async () => {
    const owned = scope();
    let ticks = 0;
    let began = false;
    owned.interval('poll', 1, () => void (ticks += 1));
    owned.task('follow', async () => void (began = true));
    await pause(10);
    assert.deepEqual([ticks, began], [0, false]);
    owned.arm();
    while (ticks < 3) {
      await pause(1);
    }
    assert.equal(began, true);
    await owned.close();
    const after = ticks;
    await pause(10);
    assert.equal(ticks, after, 'nothing ticks after the end');
  });

  test('keeps the rate and the phase of an interval, however long its ticks take', async () => {
    const owned = scope();
    owned.arm();
    const began = performance.now();
    const starts: number[] = [];
    owned.interval('measure', 40, async () => {
      starts.push(performance.now() - began);
      await pause(starts.length === 3 ? 90 : 25);
    });
    while (starts.length < 6) {
      await pause(5);
    }
    await owned.close();
    // Each tick begins at or after its slot, never a whole period beyond the work before it: were the wait counted from the end of
    // a tick, the sixth would begin after 6 × 40 + 4 × 25 + 90 ms at the earliest.
    assert.ok(
      starts.every((at, index) => index === 0 || at - starts[index - 1]! >= 20),
      starts.join(' '),
    );
    // The phase is the one of the first that was in time; where it begins is up to the grid of all timers.
    const inTime = starts.map(
      (first) => starts.filter((at) => (((at - first) % 40) + 42) % 40 < 12).length,
    );
    assert.ok(Math.max(...inTime) >= 4, `the phase is kept: ${starts.map(Math.round).join(' ')}`);
  });

  test('never runs a tick of an interval over the previous one', async () => {
    const owned = scope();
    let running = 0;
    let most = 0;
    let ticks = 0;
    owned.interval('slow', 1, async () => {
      running += 1;
      most = Math.max(most, running);
      await pause(5);
      running -= 1;
      ticks += 1;
    });
    owned.arm();
    while (ticks < 3) {
      await pause(1);
    }
    await owned.close();
    assert.equal(most, 1);
    assert.equal(running, 0, 'closing waited for the running tick');
  });

  test('forgets a timeout that has fired and an effect that was undone by hand', async () => {
    const owned = scope();
    owned.arm();
    let fired = false;
    owned.timeout('once', 1, () => void (fired = true));
    const undo = owned.defer('thing', () => undefined);
    assert.equal(owned.size, 2);
    await undo();
    while (!fired || owned.size > 0) {
      await pause(1);
    }
    assert.equal(owned.size, 0);
  });

  test('aborts a task and waits for its end', async () => {
    const owned = scope();
    let ended = false;
    owned.task('follow', async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await pause(2);
      ended = true;
    });
    owned.arm();
    await owned.close();
    assert.equal(ended, true);
  });

  test('a task that is over is no effect any more', async () => {
    const owned = scope();
    owned.arm();
    owned.task('once', async () => undefined);
    assert.equal(owned.size, 1);
    await pause(1);
    assert.equal(owned.size, 0);
  });

  test('can announce its end before it undoes anything', async () => {
    const owned = scope();
    let undone = false;
    owned.defer('thing', () => void (undone = true));
    owned.announceEnd('replaced');
    assert.equal(owned.signal.aborted, true);
    assert.match(String(owned.signal.reason), /replaced/);
    assert.equal(undone, false);
    await owned.close();
    assert.equal(undone, true);
  });

  test('closes a part without the whole', async () => {
    const owned = scope();
    const part = owned.child('part');
    let undone = 0;
    part.defer('inner', () => void (undone += 1));
    await part.close();
    assert.deepEqual([undone, owned.size, owned.closed], [1, 0, false]);
    await owned.close();
    assert.equal(undone, 1);
  });
});
