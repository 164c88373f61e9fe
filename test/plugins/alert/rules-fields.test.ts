import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestHost } from 'svc/testing';

import { draft, rows, rulesHouse, StoppedClock } from './rules-house.ts';

const minute = 60_000;

test('labels, annotations, runbook, severity, threshold and name of a rule are those of its incident', async (t) => {
  const clock = new StoppedClock(Date.UTC(2026, 10, 20, 12));
  const { call, ingest, evaluator } = await rulesHouse(t, { clock });
  const rule = draft({
    severity: 'critical',
    labels: { team: 'ops', job: 'of the rule' },
    annotations: {
      summary: '{{ $labels.device_id }} of {{ $labels.team }} at {{ printf "%.1f" $value }} > {{ $threshold }}',
      link: '{{ $externalURL }}/x',
      broken: '{{ humanize $labels.team }}',
    },
    runbook_url: 'playbook://hosts/cpu-high.md',
    dimensions: ['core'],
  });
  assert.equal((await call('POST', 'alert-rules', rule)).status, 201);
  await evaluator.tick();
  for (let round = 0; round < 4; round++) {
    clock.pass(minute / 2);
    await ingest.write(rows('node_cpu_usage_percent', { device_id: '7', core: '0', job: 'node' }, [[clock.now(), 97.25]]));
    await evaluator.tick();
  }
  const [incident] = (await call('GET', 'alerts/incidents')).body.items.filter((one: { rule: string }) => one.rule === 'cpu_busy');
  assert.deepEqual(
    [incident.rule_name, incident.severity, incident.runbook_url, incident.threshold, incident.value],
    ['CPU is busy', 'critical', 'playbook://hosts/cpu-high.md', 90, 97.25],
  );
  assert.deepEqual([incident.dedupe_key, incident.labels], ['cpu_busy:host:7:core=0', { device_id: '7', core: '0', team: 'ops', job: 'of the rule' }]);
  assert.equal(incident.annotations.summary, '7 of ops at 97.2 > 90');
  assert.match(incident.annotations.link, /^http:\/\/127\.0\.0\.1:\d+\/x$/);
  assert.match(incident.annotations.broken, /^<error expanding template: /);
});

test('a channel that is not there is named when a rule pins it', async (t) => {
  const dispatcher = { unknown: async (ids: readonly number[]) => ids.filter((id) => id > 10), accept: async () => undefined, preview: async () => [] };
  const house = await startTestHost(t, { plugins: ['alert', 'metricsdb'], services: { 'notify.dispatcher': dispatcher } });
  const post = async (ids: readonly number[]) => {
    const answer = await house.fetch('/api/v1/alert-rules', { method: 'POST', body: JSON.stringify(draft({ notify_channel_ids: ids })) });
    return { status: answer.status, body: (await answer.json()) as { error?: string; message?: string; notify_channel_ids?: number[] } };
  };
  const refused = await post([3, 11, 12]);
  assert.deepEqual([refused.status, refused.body.error, refused.body.message], [400, 'invalid_argument', 'notify_channel_ids: there are no channels 11, 12']);
  const taken = await post([3, 4]);
  assert.deepEqual([taken.status, taken.body.notify_channel_ids], [201, [3, 4]]);
});
