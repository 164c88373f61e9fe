import assert from 'node:assert/strict';
import { test } from 'node:test';

import { builtInRules } from '../../../plugins/alert/authoring/built-in-rules.ts';
import { draft, rulesHouse } from './rules-house.ts';

/** Removes fields that only the service sets. */
const sendable = (rule: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(
    Object.entries(rule).filter(
      ([name]) => !['id', 'created_by', 'created_at', 'updated_at'].includes(name),
    ),
  );

test('a rule is made, shown, listed, replaced, switched off and on, and deleted', async (t) => {
  const { call } = await rulesHouse(t);
  const made = await call(
    'POST',
    'alert-rules',
    draft({ labels: { team: 'ops' }, runbook_url: 'https://wiki.example.org/cpu' }),
  );
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id, created_at: at, ...shown } = made.body;
  assert.deepEqual(shown, {
    ...draft(),
    enabled: true,
    labels: { team: 'ops' },
    annotations: {},
    runbook_url: 'https://wiki.example.org/cpu',
    notify_channel_ids: [],
    notify_window_seconds: 0,
    notify_min_fires: 0,
    dimensions: [],
    interval_seconds: 0,
    keep_firing_for: '',
    limit: 0,

    created_by: shown.created_by,
    updated_at: at,
  });
  assert.deepEqual((await call('GET', `alert-rules/${id}`)).body, made.body);
  assert.deepEqual((await call('GET', 'alert-rules?q=cpu_busy')).body.items, [made.body]);

  const tag = { 'if-match': (await call('GET', `alert-rules/${id}`)).headers.get('etag')! };
  const replaced = await call(
    'PUT',
    `alert-rules/${id}`,
    draft({ name: 'CPU is very busy', severity: 'critical' }),
    tag,
  );
  assert.equal(replaced.status, 200, JSON.stringify(replaced.body));
  assert.deepEqual(
    [replaced.body.name, replaced.body.severity, replaced.body.labels, replaced.body.runbook_url],
    ['CPU is very busy', 'critical', {}, ''],
  );
  const late = await call('PUT', `alert-rules/${id}`, draft(), tag);
  assert.deepEqual([late.status, late.body.error], [409, 'conflict']);

  const off = await call('POST', `alert-rules/${id}/enabled`, { enabled: false });
  assert.deepEqual([off.status, off.body.enabled], [200, false]);
  assert.equal((await call('GET', 'alert-rules?enabled=true&q=cpu_busy')).body.total, 0);
  assert.equal((await call('POST', `alert-rules/${id}/enabled`)).body.enabled, true);
  assert.equal(
    (await call('POST', `alert-rules/${id}/enabled`, { enabled: true })).body.enabled,
    true,
  );

  assert.equal((await call('DELETE', `alert-rules/${id}`)).status, 204);
  assert.equal((await call('GET', `alert-rules/${id}`)).status, 404);
  assert.equal((await call('PUT', `alert-rules/${id}`, draft())).status, 404);
  assert.equal(
    (await call('POST', 'alert-rules', draft())).status,
    201,
    'the key of a deleted rule is free',
  );
});

test('what cannot work is refused by field and reason', async (t) => {
  const { call } = await rulesHouse(t);
  const refused = async (more: Readonly<Record<string, unknown>>): Promise<string> => {
    const { status, body } = await call('POST', 'alert-rules', draft(more));
    assert.deepEqual([status, body.error], [400, 'invalid_argument'], JSON.stringify(body));
    return body.message;
  };
  const both = 'notify_window_seconds and notify_min_fires must both be zero or both > 0';
  assert.equal(await refused({ notify_window_seconds: 60 }), both);
  assert.equal(await refused({ notify_min_fires: 2 }), both);
  assert.equal(await refused({ notify_window_seconds: 0, notify_min_fires: 2 }), both);

  assert.match(
    await refused({ conditions: [{ expr: 'up ==\n  sum(' }] }),
    /^conditions\.0\.expr: 2:\d+: .*parse/,
  );
  assert.match(
    await refused({ conditions: [{ expr: 'up[5m]' }] }),
    /^conditions\.0\.expr: answers a range of samples/,
  );
  assert.match(
    await refused({ conditions: [{ expr: 'up == 0' }, { expr: 'nope(' }] }),
    /^conditions\.1\.expr: 1:/,
  );
  assert.match(
    await refused({ conditions: [{ expr: 'up', window: '5m' }] }),
    /conditions\.0\.window: is not a field of this kind/,
  );
  assert.match(
    await refused({ conditions: [{ expr: 'up', for: 'soon' }] }),
    /conditions\.0\.for: must be a duration/,
  );
  assert.match(
    await refused({ annotations: { summary: '{{ graphLink "up" }}' } }),
    /^annotations\.summary: template:1:\d+: .*"?graphLink"?/,
  );
  assert.match(await refused({ rule_key: 'CPU busy' }), /rule_key/);
  assert.match(await refused({ rule_key: 'alert_back_end_down' }), /own rule/);
  assert.match(await refused({ runbook_url: 'javascript:alert(1)' }), /runbook_url/);
  assert.match(await refused({ severity: 'fatal' }), /severity/);
  assert.match(await refused({ interval_seconds: 2 }), /interval_seconds/);
  assert.match(await refused({ threshold: 3 }), /threshold/);
  assert.match(await refused({ conditions: [] }), /conditions/);
  assert.match(
    await refused({
      kind: 'trace_latency',
      conditions: [{ service: 'shop', percentile: 100, above_ms: 5, window: '5m' }],
    }),
    /percentile/,
  );

  const first = await call('POST', 'alert-rules', draft());
  const second = await call('POST', 'alert-rules', draft());
  assert.deepEqual(
    [second.status, second.body.message],
    [409, 'rule_key cpu_busy already exists.'],
  );
  const renamed = await call('PUT', `alert-rules/${first.body.id}`, draft({ rule_key: 'other' }));
  assert.match(renamed.body.message, /^rule_key must stay cpu_busy/);
});

test('kinds of the form and of old are stored as metric_raw, and what is read can be sent again', async (t) => {
  const { call } = await rulesHouse(t);
  const condition = {
    metric: 'node_cpu_usage_percent',
    operator: '>=',
    threshold: 90.5,
    window: '10m',
    aggregator: 'max',
    for: '90s',
  };
  const { body } = await call(
    'POST',
    'alert-rules',
    draft({ kind: 'metric_threshold', conditions: [condition] }),
  );
  assert.equal(body.kind, 'metric_raw');
  assert.deepEqual(body.conditions, [
    { expr: 'max_over_time(node_cpu_usage_percent[10m]) >= 90.5', for: '1m30s' },
  ]);
  assert.equal((await call('PUT', `alert-rules/${body.id}`, sendable(body))).status, 200);
  for (const kind of [
    'edge_offline',
    'prom_query',
    'ingest_health',
    'edge_absence',
    'health_ingest',
    'event_internal',
  ]) {
    const made = await call(
      'POST',
      'alert-rules',
      draft({ kind, rule_key: `old_${kind}`, conditions: [{ expr: 'up == 0' }] }),
    );
    assert.deepEqual([made.status, made.body.kind], [201, 'metric_raw'], kind);
  }
  const unknown = await call(
    'POST',
    'alert-rules',
    draft({
      kind: 'metric_threshold',
      rule_key: 'x',
      conditions: [{ ...condition, metric: 'process_cpu' }],
    }),
  );
  assert.match(
    unknown.body.message,
    /conditions\.0\.metric: must be one of node_cpu_usage_percent, /,
  );
});

test('the rules that come with the product are there once, and stay changed or deleted', async (t) => {
  const first = await rulesHouse(t);
  const { body } = await first.call('GET', 'alert-rules?limit=200');
  assert.deepEqual(
    body.items.map(({ rule_key: key }: { rule_key: string }) => key).sort(),
    builtInRules.map(({ rule_key: key }) => key).sort(),
  );
  const [cpu, swap] = ['cpu_high', 'swap_high'].map((key) =>
    body.items.find((rule: { rule_key: string }) => rule.rule_key === key),
  );
  await first.call('DELETE', `alert-rules/${swap.id}`);
  await first.call('POST', `alert-rules/${cpu.id}/enabled`, { enabled: false });
  await first.house.reload('alert');
  const after = (await first.call('GET', 'alert-rules?limit=200')).body;
  assert.equal(after.total, builtInRules.length - 1);
  assert.equal(
    after.items.find((rule: { rule_key: string }) => rule.rule_key === 'cpu_high').enabled,
    false,
  );
  for (const rule of after.items) {
    const sent = await first.call('PUT', `alert-rules/${rule.id}`, sendable(rule));
    assert.equal(sent.status, 200, `${rule.rule_key}: ${JSON.stringify(sent.body)}`);
  }
});

test('lists are filtered and paged', async (t) => {
  const { call } = await rulesHouse(t);
  for (let i = 0; i < 5; i++) {
    await call(
      'POST',
      'alert-rules',
      draft({
        rule_key: `mine_${i}`,
        name: `Mine ${i}`,
        severity: i % 2 === 0 ? 'info' : 'critical',
        scope_type: 'global',
      }),
    );
  }
  const page = (await call('GET', 'alert-rules?q=mine_&limit=2')).body;
  assert.deepEqual(
    [page.total, page.items.map((rule: { rule_key: string }) => rule.rule_key)],
    [5, ['mine_4', 'mine_3']],
  );
  const next = (
    await call('GET', `alert-rules?q=mine_&limit=2&cursor=${encodeURIComponent(page.next_cursor)}`)
  ).body;
  assert.deepEqual(
    next.items.map((rule: { rule_key: string }) => rule.rule_key),
    ['mine_2', 'mine_1'],
  );
  assert.equal((await call('GET', 'alert-rules?q=MINE&severity=info')).body.total, 3);
  const global = 'alert-rules?scope_type=global&kind=metric_raw';
  assert.equal((await call('GET', `${global}&q=mine_`)).body.total, 5);
  assert.equal((await call('GET', `${global}&q=check_`)).body.total, 9);
  assert.equal((await call('GET', 'alert-rules?kind=metric_forecast')).body.total, 1);
  assert.equal((await call('GET', 'alert-rules?source_type=metricsdb_external')).body.total, 0);
});

test('a store that is away is said to be, and nothing is stored unchecked', async (t) => {
  const { call } = await rulesHouse(t, { plugins: [] });
  const { status, body } = await call('POST', 'alert-rules', draft());
  assert.deepEqual([status, body.error], [503, 'unavailable']);
});

test('a runbook that is a playbook is one that exists; one that is deleted later keeps nobody from changing the rule', async (t) => {
  const { call } = await rulesHouse(t, { plugins: ['metricsdb', 'logs', 'knowledge'] });
  const none = await call('POST', 'alert-rules', draft({ runbook_url: 'playbook://no/such.md' }));
  assert.deepEqual(
    [none.status, none.body.error],
    [400, 'invalid_argument'],
    JSON.stringify(none.body),
  );
  assert.match(
    none.body.message,
    /runbook_url.*there is no playbook no\/such\.md; write that document first, or use one that svc knowledge list shows/,
  );
  const written = await call('POST', 'knowledge/docs', {
    path: 'ours/cpu.md',
    content: '# CPU\n\nLook at it.',
  });
  assert.equal(written.status, 201, JSON.stringify(written.body));
  const own = await call('POST', 'alert-rules', draft({ runbook_url: 'playbook://ours/cpu.md' }));
  assert.equal(own.status, 201, JSON.stringify(own.body));
  assert.equal((await call('DELETE', `knowledge/docs/${written.body.id}`)).status, 204);
  const path = `alert-rules/${own.body.id}`;
  assert.equal(
    (await call('PUT', path, draft({ runbook_url: 'playbook://ours/cpu.md', name: 'Still ours' })))
      .status,
    200,
  );
  assert.equal(
    (await call('PUT', path, draft({ runbook_url: 'playbook://ours/gone.md' }))).status,
    400,
  );
  // Those that come with the product need no vault that is filled already.
  assert.equal(
    (await call('PUT', path, draft({ runbook_url: 'playbook://hosts/clock.md' }))).status,
    200,
  );
});
