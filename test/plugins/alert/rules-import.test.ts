import assert from 'node:assert/strict';
import { test } from 'node:test';

import { rulesHouse } from './rules-house.ts';

const file = `
groups:
  - name: hosts
    interval: 1m
    limit: 10
    labels: { team: infra }
    rules:
      - record: job:up:sum
        expr: sum by (job) (up)
      - alert: HostHighCPULoad
        expr: |
          avg by (device_id) (node_cpu_usage_percent) > 80  # busy
        for: 10m
        keep_firing_for: 5m
        labels: { severity: page, tier: "{{ $labels.tier }}" }
        annotations:
          summary: 'CPU at {{ $value | humanize }} on {{ $labels.device_id }}'
          graph: '{{ query "up" | first | value }}'
          runbook_url: https://wiki.example.org/cpu
      - alert: HostHighCPULoad
        expr: node_load1 > 9
        labels: { severity: strange }
      - alert: Broken
        expr: 'sum by (a (up)'
      - alert: 12
        expr: up == 0
`;

test('a Prometheus rule file is taken over, with a report of what was not', async (t) => {
  const { call } = await rulesHouse(t);
  const dry = await call('POST', 'alert-rules/import', { content: file, scope_type: 'host', dry_run: true });
  assert.equal(dry.status, 200, JSON.stringify(dry.body));
  assert.equal((await call('GET', 'alert-rules?source_type=metricsdb_external')).body.total, 0);

  const { status, body } = await call('POST', 'alert-rules/import', { content: file, scope_type: 'host', dimensions: ['job'] });
  assert.equal(status, 200, JSON.stringify(body));
  const { id, ...cpu } = body.taken[0];
  assert.deepEqual([cpu.rule_key, cpu.alert, body.taken[1].rule_key], ['host_high_cpu_load', 'HostHighCPULoad', 'host_high_cpu_load_2']);
  const notes = cpu.notes.join('\n');
  for (const part of [
    /label tier was not imported: it is a template/,
    /annotation graph was not imported: .*query/,
    /keep_firing_for was not imported/,
    /limit 10 of the group/,
  ]) {
    assert.match(notes, part);
  }
  assert.match(body.taken[1].notes.join(), /severity: strange is not a severity here, so it is warning/);
  assert.deepEqual(
    body.left_out.map(({ rule }: { rule: string }) => rule),
    ['job:up:sum', '12', 'Broken'],
  );
  assert.match(body.left_out[0].reason, /recording rule/);
  assert.match(body.left_out[1].reason, /no rule_key/);
  assert.match(body.left_out[2].reason, /conditions\.0\.expr: 1:\d+: /);

  const rule = (await call('GET', `alert-rules/${id}`)).body;
  assert.deepEqual(
    [rule.kind, rule.source_type, rule.scope_type, rule.severity, rule.interval_seconds, rule.runbook_url, rule.dimensions],
    ['metric_raw', 'metricsdb_external', 'host', 'critical', 60, 'https://wiki.example.org/cpu', ['job']],
  );
  assert.deepEqual(rule.labels, { alertname: 'HostHighCPULoad', team: 'infra', severity: 'page' });
  assert.deepEqual(rule.annotations, { summary: 'CPU at {{ $value | humanize }} on {{ $labels.device_id }}' });
  assert.deepEqual(rule.conditions[0].for, '10m');

  const again = await call('POST', 'alert-rules/import', { content: file });
  assert.equal(again.body.taken.length, 0);
  assert.match(JSON.stringify(again.body.left_out), /host_high_cpu_load was imported before; ask for overwrite/);
  const over = await call('POST', 'alert-rules/import', { content: file, overwrite: true, severity: 'info', enabled: false });
  assert.deepEqual([over.body.taken[0].id, over.body.taken.length], [id, 2]);
  assert.deepEqual([(await call('GET', `alert-rules/${id}`)).body.scope_type, (await call('GET', `alert-rules/${id}`)).body.enabled], ['global', false]);
  const prefixed = await call('POST', 'alert-rules/import', { content: file, key_prefix: 'team_a' });
  assert.equal(prefixed.body.taken[0].rule_key, 'team_a_host_high_cpu_load');
});

test('a misspelt field is refused instead of making a rule without it; merge keys are read', async (t) => {
  const { call } = await rulesHouse(t);
  const groups = (rule: string): string => `
groups:
  - name: hosts
    rules:
      - &base { alert: Down, expr: up == 0, labels: { severity: critical } }
      - ${rule}
`;
  const bad = await call('POST', 'alert-rules/import', { content: groups('{ alert: Slow, expr: up == 0, fro: 5m }') });
  assert.deepEqual([bad.status, bad.body.error], [400, 'invalid_argument']);
  assert.match(bad.body.message, /groups\[0\]\.rules\[1\]\.fro is not a known field; known are .*for/);
  assert.equal((await call('GET', 'alert-rules?source_type=metricsdb_external')).body.total, 0, 'nothing of the file was taken');
  const good = await call('POST', 'alert-rules/import', { content: groups('{ <<: *base, alert: DownLong, for: 5m }') });
  assert.equal(good.status, 200, JSON.stringify(good.body));
  assert.deepEqual(
    good.body.taken.map(({ alert }: { alert: string }) => alert),
    ['Down', 'DownLong'],
  );
});

test('what is no rule file is refused with the place', async (t) => {
  const { call } = await rulesHouse(t);
  const refused = async (content: string): Promise<string> => {
    const { status, body } = await call('POST', 'alert-rules/import', { content });
    assert.equal(status, 400, JSON.stringify(body));
    return body.message;
  };
  assert.match(await refused('groups: [{rules: [{alert: A}]}]'), /^groups\[0\]\.rules\[0\]\.expr is missing/);
  assert.match(await refused('groups: [{rules: [{alert: A, record: b, expr: up}]}]'), /must have either alert or record/);
  assert.match(await refused('a: [b'), /is not YAML: .*line 1/);
  assert.match(await refused('- 1'), /must have named fields/);
  assert.match(
    await refused(`a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\ngroups: [*c,*c,*c]`),
    /cannot be read|no YAML/,
  );
});
