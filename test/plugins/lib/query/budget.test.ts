import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { budget, kindOf, queryError, queryGate } from 'svc/query';
import { SvcError } from '../../../../core/sdk/index.ts';

const kind =
  (expected: string) =>
  (error: unknown): boolean =>
    kindOf(error) === expected;

describe('what a question may cost', () => {
  test('ends with its samples, bytes, time, or with the asker', () => {
    let now = 0;
    const asker = new AbortController();
    const cost = budget({
      timeoutMs: 100,
      maxSamples: 10,
      maxBytes: 10,
      signal: asker.signal,
      now: () => now,
    });
    cost.spend(10);
    assert.throws(() => cost.spend(1), kind('too_large'));
    cost.bytes(10);
    assert.throws(() => cost.bytes(1), kind('too_large'));
    assert.deepEqual(cost.spent, { samples: 11, bytes: 11 });
    now = 99;
    cost.check();
    now = 100;
    assert.throws(() => cost.check(), kind('timeout'));
    asker.abort();
    assert.throws(() => cost.check(), kind('canceled'));
    assert.throws(() => cost.breathe(), kind('canceled'));
  });

  test('is refused as soon as it is sure that it would not do, and not before', () => {
    let now = 0;
    const cost = budget({ timeoutMs: 100_000, cpuMs: 10_000, maxSamples: 1_000, now: () => now });
    cost.progress(0);
    now = 1_000;
    cost.progress(0.001);
    now = 1_001;
    cost.progress(0.06);
    assert.throws(
      () => cost.progress(0.04),
      /would compute for about 25 s, more than 10 s: ask for a shorter window/,
    );
    assert.throws(() => cost.progress(0.04), kind('too_large'));
    cost.spend(100);
    cost.progress(0.06);
    cost.spend(50);
    cost.progress(0.075);
    assert.throws(() => cost.progress(0.07), /would read about 2143 samples, more than 1000/);
    const ofTheHouse = budget({ timeoutMs: 100_000, now: () => now });
    now = 99_000;
    ofTheHouse.progress(0.01);
  });

  test('gives others a turn after 8 ms, and not before', async () => {
    let now = 0;
    const asker = new AbortController();
    const cost = budget({ timeoutMs: 1000, signal: asker.signal, now: () => now });
    now = 8;
    assert.equal(cost.breathe(), undefined);
    now = 9;
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    await cost.breathe();
    assert.equal(turned, true);
    assert.equal(cost.breathe(), undefined);
    now = 30;
    const breath = cost.breathe();
    asker.abort();
    await assert.rejects(breath!, kind('canceled'));
  });

  test('has kinds that are known as such only of errors of the house', () => {
    assert.equal(queryError('bad_data', 'x').code, 'invalid_argument');
    assert.equal(queryError('timeout', 'x').code, 'unavailable');
    assert.equal(kindOf(Object.assign(new Error('x'), { kind: 'timeout' })), undefined);
    assert.equal(
      kindOf(Object.assign(new SvcError('internal', 'x'), { kind: 'constructor' })),
      undefined,
    );
    assert.equal(kindOf(new SvcError('internal', 'x')), undefined);
  });
});

describe('the gate before the questions', () => {
  test('lets few in at a time, in their order', async () => {
    const gate = queryGate({ atOnce: 2, waiting: 10 });
    const open: (() => void)[] = [];
    const begun: number[] = [];
    const runs = [0, 1, 2, 3].map((n) =>
      gate.run(async () => {
        begun.push(n);
        await new Promise<void>((resolve) => open.push(resolve));
        return n;
      }),
    );
    assert.deepEqual(begun, [0, 1]);
    assert.equal(gate.waiting, 2);
    open[1]!();
    await runs[1];
    assert.equal(gate.running, 2);
    const late = gate.run(() => 4);
    open[0]!();
    await runs[0];
    await new Promise(setImmediate);
    assert.deepEqual(begun, [0, 1, 2, 3]);
    open[2]!();
    open[3]!();
    assert.deepEqual(await Promise.all([...runs, late]), [0, 1, 2, 3, 4]);
    assert.equal(gate.running, 0);
  });

  test('turns away who would wait too far back, forgets who leaves, and survives errors', async () => {
    const gate = queryGate({ atOnce: 1, waiting: 1 });
    let finish: (() => void) | undefined;
    const running = gate.run(() => new Promise<void>((resolve) => (finish = resolve)));
    const asker = new AbortController();
    const waiting = gate.run(() => 'never', asker.signal);
    await assert.rejects(
      gate.run(() => 'never'),
      { code: 'rate_limited', retryAfterSeconds: 1 },
    );
    asker.abort();
    await assert.rejects(waiting, kind('canceled'));
    assert.equal(gate.waiting, 0);
    await assert.rejects(
      gate.run(() => 'never', AbortSignal.abort()),
      kind('canceled'),
    );
    finish!();
    await running;
    await assert.rejects(
      gate.run(() => {
        throw new Error('broken');
      }),
      /broken/,
    );
    assert.equal(await gate.run(() => 'works'), 'works');
    assert.equal(gate.running, 0);
  });
});
