import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import type { Incidents, IncidentView } from 'svc/contracts/alert';
import { SvcError } from 'svc/sdk';
import { startTestHost } from 'svc/testing';

import { run } from '../../drill/investigate-crash.ts';

test('a process that is killed after a report was stored tells the timeline at its next start, once (short form of npm run drill investigate-crash)', async () => {
  const { ok, ...figures } = await run({ rounds: 1, incidents: 4, kinds: 2 });
  assert.ok(ok, JSON.stringify(figures));
});

test('an investigation that fails says so in the timeline of its incident, where its cause would stand', async (t) => {
  const at = new Date().toISOString();
  const incident = {
    id: 7,
    rule_key: 'slow',
    rule_name: 'Slow',
    severity: 'critical',
    status: 'open',
    scope_type: 'global',
    scope_id: '7',
    summary: 'slow',
    labels: {},
    annotations: {},
    dedupe_key: 'slow',
    event_count: 1,
    fired_at: at,
    first_fired_at: at,
  } as unknown as IncidentView;
  const told: string[] = [];
  const incidents: Partial<Incidents> = {
    list: async () => [incident],
    get: async () => incident,
    instances: async () => [],
    measured: async () => Promise.reject(new SvcError('unavailable', 'the rules cannot be read')),
    diagnose: async (_id, { message }) => void told.push(message),
  };
  await startTestHost(t, { plugins: ['investigate'], services: { 'alert.incidents': incidents } });
  for (let tries = 0; told.length === 0; tries += 1) {
    assert.ok(tries < 2_000, 'nothing was told');
    await pause(20);
  }
  assert.deepEqual(told, [
    'No cause found, because the investigation failed: the rules cannot be read. Start another with: svc investigate 7',
  ]);
});
