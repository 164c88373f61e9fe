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
          graph: '{{ graphLink "up" }}'
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
  const dry = await call('POST', 'alert-rules/import', {
    content: file,
    scope_type: 'host',
    dry_run: true,
    strict: false,
  });
  assert.equal(dry.status, 200, JSON.stringify(dry.body));
  assert.equal((await call('GET', 'alert-rules?source_type=metricsdb_external')).body.total, 0);

  const { status, body } = await call('POST', 'alert-rules/import', {
    content: file,
    scope_type: 'host',
    dimensions: ['job'],
    strict: false,
  });
  assert.equal(status, 200, JSON.stringify(body));
  const { id, ...cpu } = body.taken[0];
  assert.deepEqual(
    [cpu.rule_key, cpu.alert, body.taken[1].rule_key],
    ['host_high_cpu_load', 'HostHighCPULoad', 'host_high_cpu_load_2'],
  );
  assert.equal(body.taken[2].rule_key, 'alert_12');
  const notes = cpu.notes.join('\n');
  assert.match(notes, /annotation graph was not imported: .*graphLink/);
  assert.match(
    body.taken[1].notes.join(),
    /severity: strange is not a severity here, so it is warning/,
  );
  assert.deepEqual(
    body.left_out.map(({ rule }: { rule: string }) => rule),
    ['Broken'],
  );
  assert.deepEqual(body.recorded, [{ group: 'hosts', record: 'job:up:sum' }]);
  assert.match(body.left_out[0].reason, /conditions\.0\.expr: 1:\d+: /);

  const rule = (await call('GET', `alert-rules/${id}`)).body;
  assert.deepEqual(
    [
      rule.kind,
      rule.source_type,
      rule.scope_type,
      rule.severity,
      rule.interval_seconds,
      rule.runbook_url,
      rule.dimensions,
      rule.keep_firing_for,
      rule.limit,
    ],
    [
      'metric_raw',
      'metricsdb_external',
      'host',
      'critical',
      60,
      'https://wiki.example.org/cpu',
      ['job'],
      '5m',
      10,
    ],
  );
  assert.deepEqual(rule.labels, {
    alertname: 'HostHighCPULoad',
    team: 'infra',
    severity: 'page',
    tier: '{{ $labels.tier }}',
  });
  assert.deepEqual(rule.annotations, {
    summary: 'CPU at {{ $value | humanize }} on {{ $labels.device_id }}',
  });
  assert.deepEqual(rule.conditions[0].for, '10m');

  const again = await call('POST', 'alert-rules/import', { content: file, strict: false });
  assert.equal(again.body.taken.length, 0);
  assert.match(
    JSON.stringify(again.body.left_out),
    /host_high_cpu_load was imported before; set overwrite/,
  );
  const over = await call('POST', 'alert-rules/import', {
    content: file,
    overwrite: true,
    severity: 'info',
    enabled: false,
    strict: false,
  });
  assert.deepEqual([over.body.taken[0].id, over.body.taken.length], [id, 3]);
  assert.deepEqual(
    [
      (await call('GET', `alert-rules/${id}`)).body.scope_type,
      (await call('GET', `alert-rules/${id}`)).body.enabled,
    ],
    ['global', false],
  );
  const prefixed = await call('POST', 'alert-rules/import', {
    content: file,
    key_prefix: 'team_a',
    strict: false,
  });
  assert.equal(prefixed.body.taken[0].rule_key, 'team_a_host_high_cpu_load');
});

test('a file with one rule that cannot work is refused whole, and a PrometheusRule object is taken as it stands', async (t) => {
  const { call } = await rulesHouse(t);
  const { status, body } = await call('POST', 'alert-rules/import', { content: file });
  assert.deepEqual([status, body.error], [400, 'invalid_argument']);
  assert.match(
    body.message,
    /^hosts: Broken: conditions\.0\.expr: 1:\d+: .*; with strict: false, the valid rules are imported/,
  );
  const object = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'x' },
    spec: {
      groups: [
        {
          name: 'g',
          rules: [
            { alert: 'ByJob', expr: 'sum by (job, instance) (rate(errors[5m])) > 1' },
            { alert: 'Bare', expr: 'up == 0' },
          ],
        },
      ],
    },
  };
  const taken = await call('POST', 'alert-rules/import', { content: JSON.stringify(object) });
  assert.equal(taken.status, 200, JSON.stringify(taken.body));
  const rules = (await call('GET', 'alert-rules?source_type=metricsdb_external')).body.items;
  assert.deepEqual(
    rules.map(({ rule_key: key, dimensions, keep_firing_for: keep }: Record<string, unknown>) => [
      key,
      dimensions,
      keep,
    ]),
    [
      ['bare', [], '0s'],
      ['by_job', ['job', 'instance'], '0s'],
    ],
    'what an expression groups by is the key of its incidents',
  );
  const typo = await call('POST', 'alert-rules/import', {
    content: JSON.stringify({ ...object, spec: { groups: [{ name: 'g', rulez: [] }] } }),
  });
  assert.match(typo.body.message, /^spec\.groups\[0\]\.rulez is not a known field/);
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
  const bad = await call('POST', 'alert-rules/import', {
    content: groups('{ alert: Slow, expr: up == 0, fro: 5m }'),
  });
  assert.deepEqual([bad.status, bad.body.error], [400, 'invalid_argument']);
  assert.match(
    bad.body.message,
    /groups\[0\]\.rules\[1\]\.fro is not a known field; known are .*for/,
  );
  assert.equal(
    (await call('GET', 'alert-rules?source_type=metricsdb_external')).body.total,
    0,
    'nothing of the file was taken',
  );
  const good = await call('POST', 'alert-rules/import', {
    content: groups('{ <<: *base, alert: DownLong, for: 5m }'),
  });
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
  assert.match(
    await refused('groups: [{name: g, rules: [{alert: A}]}]'),
    /^groups\[0\]\.rules\[0\]\.expr is missing/,
  );
  assert.match(
    await refused('groups: [{name: g, rules: [{alert: A, record: b, expr: up}]}]'),
    /must have either alert or record/,
  );
  assert.match(await refused('a: [b'), /is not YAML: .*line 1/);
  assert.match(await refused('- 1'), /must have named fields/);
  assert.match(
    await refused(
      `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\ngroups: [*c,*c,*c]`,
    ),
    /cannot be read|not YAML/,
  );
  assert.match(await refused('groups: [{name: g}, {name: g}]'), /two groups of the name g/);
  assert.match(
    await refused('groups: [{name: g, rules: [{record: a, expr: up, for: 1m}]}]'),
    /rules\[0\]\.for has no meaning in a recording rule/,
  );
  assert.match(
    await refused('groups: [{name: g, rules: [{record: "a{b}", expr: up}]}]'),
    /is not a name of a metric: a\{b\}/,
  );
  assert.match(
    await refused('groups: [{name: g, rules: [{alert: A, expr: up, labels: {"a\\nb": x}}]}]'),
    /not valid for a label: a\nb/,
  );
  assert.match(
    await refused('groups: [{name: g, rules: [{alert: A, expr: up, annotations: {"a b": x}}]}]'),
    /not valid for a label: a b/,
  );
  assert.match(
    await refused('groups: [{name: g, rules: [{alert: A, expr: up, for: soon}]}]'),
    /is not a duration .*: soon/,
  );
});
