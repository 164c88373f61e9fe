import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { startTestHost, type TestHost } from 'svc/testing';

import { AlertEvaluator } from '../../../plugins/alert/contract.ts';
import { MetricsIngest } from '../../../plugins/metricsdb/contract.ts';
import type { Notice } from '../../../plugins/notify/contract.ts';
import { HandClock, minute } from './engine-house.ts';

interface Alerting {
  readonly house: TestHost;
  readonly clock: HandClock;
  readonly notices: Notice[];
  /** Writes the sample of each second step, then lets the evaluator look. */
  pass(ms: number, samples?: () => readonly { labels: Record<string, string>; value: number }[]): Promise<void>;
}

/** A house with the real metrics store, in whose time nothing happens by itself. */
async function alerting(t: TestContext): Promise<Alerting> {
  const clock = new HandClock();
  const notices: Notice[] = [];
  const dispatcher = {
    // Rules that come with the product fire, too.
    accept: async (notice: Notice) => void (notice.incident.rule_key.startsWith('test_') && notices.push(notice)),
    preview: async () => [],
    unknown: async () => [],
  };
  const house = await startTestHost(t, { plugins: ['metricsdb', 'alert'], clock, services: { 'notify.dispatcher': dispatcher } });
  const ingest = house.service(MetricsIngest);
  const evaluator = house.service(AlertEvaluator);
  return {
    house,
    clock,
    notices,
    async pass(ms, samples = () => []) {
      for (let passed = 0; passed < ms; passed += 10_000) {
        clock.advance(10_000);
        const rows = samples().map((sample) => ({ ...sample, time: clock.now() }));
        rows.length > 0 && (await ingest.write(rows));
        await evaluator.tick();
      }
    },
  };
}

const post = (body: object): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });

test('a rule over the real metrics store fires, is acknowledged, clears and fires again, as its routes show', async (t) => {
  const { house, notices, pass } = await alerting(t);
  const rule = await house.json('/api/v1/alert-rules', {
    ...post({
      rule_key: 'test_cpu',
      name: 'CPU is hot',
      kind: 'metric_threshold',
      source_type: 'svc_builtin',
      scope_type: 'host',
      join_mode: 'all',
      severity: 'warning',
      conditions: [{ metric: 'node_cpu_usage_percent', operator: '>', threshold: 90, for: '1m' }],
      labels: { team: 'infra' },
      annotations: { summary: 'CPU at {{ $value }} on {{ $labels.device_id }}' },
    }),
  });
  const cpu = (value: number) => () => [{ labels: { __name__: 'node_cpu_usage_percent', device_id: '7' }, value }];
  await pass(minute, cpu(95));
  assert.equal((await house.json('/api/v1/alerts/incidents?rule=test_cpu')).total, 0);
  await pass(2 * minute, cpu(95));
  const { items } = await house.json('/api/v1/alerts/incidents?rule=test_cpu');
  assert.equal(items.length, 1);
  const [incident] = items;
  assert.deepEqual(
    [incident.status, incident.summary, incident.dedupe_key, incident.value, incident.threshold, incident.labels.team, incident.rule_id],
    ['open', 'CPU at 95 on 7', 'test_cpu:host:7', 95, 90, 'infra', rule.id],
  );
  const path = `/api/v1/alerts/incidents/${incident.id}`;
  await house.json(`${path}/ack`, post({ note: 'on it' }));
  await house.json(`${path}/ack`, post({}));
  await pass(3 * minute, cpu(20));
  await pass(15 * minute, cpu(97));
  const events = await house.json(`${path}/events?order=asc`);
  assert.deepEqual(
    events.items.map(({ type }: { type: string }) => type),
    ['firing', 'acknowledged', 'resolved', 'reopened', 'firing', 'repeat_suppressed'],
  );
  for (let waited = 0; notices.length < 3 && waited < 5_000; waited += 20) {
    await pause(20);
  }
  assert.deepEqual(
    notices.map(({ kind, fire_seq }) => [kind, fire_seq]),
    [
      ['firing', 1],
      ['resolved', 1],
      ['firing', 2],
    ],
  );
  const info = await house.json('/api/v1/alerts/runtime-info');
  assert.deepEqual([info.interval_seconds, info.cooldown_seconds, info.last_cycle.firing >= 1, info.failing], [30, 600, true, []]);
});
