import assert from 'node:assert/strict';
import { test } from 'node:test';

import { HealthChecks, type HealthProbe } from '../../core/observe/index.ts';

const clock = { now: Date.now, monotonic: () => performance.now() };

test('the house is well when every check says so', async () => {
  const health = new HealthChecks({
    clock,
    checks: () => [
      { label: 'db', probe: () => ({ ok: true }) },
      { label: 'disk', probe: async () => ({ ok: true, detail: '5 GB free' }) },
    ],
  });
  const { ok, checks } = await health.ask();
  assert.equal(ok, true);
  assert.deepEqual(
    checks.map(({ label, ok, detail }) => [label, ok, detail]),
    [
      ['db', true, undefined],
      ['disk', true, '5 GB free'],
    ],
  );
});

test('a probe that throws, hangs or answers nonsense is not ok and says why, the others still answer', async () => {
  const checks: HealthProbe[] = [
    { label: 'throws', probe: () => assert.fail('cannot open https://u:CANARY@db') },
    { label: 'rejects', probe: () => Promise.reject(new Error('refused')) },
    { label: 'hangs', probe: () => new Promise(() => undefined) },
    { label: 'nonsense', probe: () => ({ ok: 'yes' }) as never },
    { label: 'silent', probe: () => undefined as never },
    { label: 'fine', probe: () => ({ ok: true }) },
  ];
  const summary = await new HealthChecks({ clock, checks: () => checks, deadlineMs: 50 }).ask();
  assert.equal(summary.ok, false);
  const told = Object.fromEntries(summary.checks.map((check) => [check.label, check]));
  assert.match(told['throws']!.detail!, /cannot open https:\/\/\[redacted\]@db/);
  assert.equal(told['rejects']!.detail, 'refused');
  assert.equal(told['hangs']!.detail, 'no answer within 50 ms');
  assert.equal(told['nonsense']!.detail, 'the probe returned no result');
  assert.equal(told['silent']!.detail, 'the probe returned no result');
  assert.equal(told['fine']!.ok, true);
});

test('a probe that is late is only busy for a minute, then dead; asking again does not start it a second time, and it recovers', async () => {
  let calls = 0;
  let aheadMs = 0;
  let answer: () => void = () => undefined;
  const probe = () => {
    calls += 1;
    return new Promise<{ ok: boolean }>((resolve) => {
      answer = () => resolve({ ok: true });
    });
  };
  const later = { now: Date.now, monotonic: () => performance.now() + aheadMs };
  const health = new HealthChecks({
    clock: later,
    checks: () => [{ label: 'slow', probe }],
    deadlineMs: 20,
  });
  const verdict = async () => {
    const { ok, checks } = await health.ask();
    return [ok, checks[0]!.degraded];
  };
  assert.deepEqual(await Promise.all([verdict(), verdict()]), [
    [true, true],
    [true, true],
  ]);
  aheadMs = 60_000;
  assert.deepEqual(await verdict(), [false, true]);
  assert.equal(calls, 1);
  const asked = verdict();
  answer();
  assert.deepEqual(await asked, [true, false]);
});
