import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Incidents } from 'svc/contracts/alert';
import { EdgeFleet } from 'svc/contracts/edge';
import { LogIngest } from 'svc/contracts/logs';
import { MetricsIngest } from 'svc/contracts/metricsdb';
import { SkillRunner, Skills } from 'svc/contracts/skill';
import { TraceIngest } from 'svc/contracts/traces';
import { Authenticator, type Principal } from 'svc/sdk';
import { startTestHost } from 'svc/testing';

import { spanLines } from '../../../plugins/traces/span-lines.ts';

const rooms = [
  'gate',
  'skill',
  'metricsdb',
  'logs',
  'traces',
  'alert',
  'topology',
  'device',
  'monitor',
  'audit',
  'setting',
];
const anna: Principal = {
  kind: 'user',
  id: '3',
  name: 'anna',
  role: 'user',
  grants: ['alert:*', 'device:*', 'skill:*'],
};
const bob: Principal = { kind: 'user', id: '4', name: 'bob', role: 'admin', grants: ['*'] };
const at = Date.now() - 1_000;

const wanted = [
  ...[
    'metrics_query',
    'metrics_range',
    'metrics_find',
    'metrics_outliers',
    'metrics_exemplars',
    'logs_query',
    'logs_templates',
    'traces_search',
    'trace_get',
    'trace_tags',
  ],
  ...[
    'incidents_list',
    'incident_get',
    'incident_notify',
    'rules_list',
    'rule_preview',
    'silence_create',
    'topology_find',
    'topology_blast_radius',
  ],
  ...[
    'devices_list',
    'device_get',
    'dashboards_list',
    'dashboard_get',
    'changes_list',
    'tool_search',
    'evidence_read',
    'guide_read',
    'file_diff',
  ],
];

test('what an investigation needs to see and do is there, and answers from the real rooms', async (t) => {
  const people = [anna, bob].map(({ id, role, grants }) => ({
    id: Number(id),
    role,
    grants,
    status: 'active',
  }));
  const told: unknown[] = [];
  const house = await startTestHost(t, {
    plugins: rooms,
    services: {
      [Authenticator.id]: { authenticate: () => undefined },
      [EdgeFleet.id]: {
        online: () => new Set([1]),
        present: () => new Set([1]),
        get: () => ({ name: 'e', status: 'online', agent_version: null, last_seen_at: null }),
        list: () => [],
      },
      'iam.directory': { live: (id: number) => people.find((one) => one.id === id) },
      'notify.dispatcher': {
        unknown: async (ids: number[]) => ids.filter((id) => id !== 1),
        accept: async (notice: unknown) => void told.push(notice),
      },
    },
  });
  const registry = house.service(Skills);
  const runner = house.service(SkillRunner);
  const run = async (
    key: string,
    params: Record<string, unknown>,
    principal = anna,
    // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertion says
  ): Promise<any> => {
    const { status, result, error } = await runner.run({ principal, key, params, origin: 'chat' });
    assert.equal(status, 'ok', `${key}: ${error}`);
    return result;
  };

  assert.deepEqual(
    wanted.filter((key) => registry.tool(key) === undefined),
    [],
  );
  assert.deepEqual(
    registry
      .tools()
      .filter((tool) => tool.class !== 'safe')
      .map(({ key, class: kind }) => [key, kind]),
    [
      ['incident_acknowledge', 'mutating'],
      ['incident_note', 'mutating'],
      ['incident_notify', 'mutating'],
      ['incident_resolve', 'mutating'],
      ['panel_create', 'mutating'],
      ['rule_create', 'mutating'],
      ['silence_create', 'mutating'],
    ],
  );

  await t.test(
    'metrics: values now and over time, names, and the machine that is unlike the others',
    async () => {
      const rows = Array.from({ length: 12 }, (_, device) =>
        Array.from({ length: 20 }, (_, minute) => ({
          labels: { __name__: 'node_load1', device_id: String(device) },
          time: at - minute * 60_000,
          value: device === 7 ? 40 : 1 + device / 100,
        })),
      ).flat();
      await house.service(MetricsIngest).write(rows.toSorted((a, b) => a.time - b.time));
      const now = await run('metrics_query', { query: 'max(node_load1)' });
      assert.deepEqual([now.total, now.series[0].value], [1, 40]);
      const range = await run('metrics_range', {
        query: 'node_load1{device_id="7"}',
        last: '10m',
        step: '1m',
      });
      assert.deepEqual(
        [range.total, range.series[0].min, range.series[0].points.length],
        [1, 40, 11],
      );
      const names = await run('metrics_find', { text: 'load', device_id: 3 });
      assert.deepEqual(names.metrics, [{ name: 'node_load1', series: 1, labels: ['device_id'] }]);
      const { outliers, compared } = await run('metrics_outliers', { query: 'node_load1' });
      assert.deepEqual(
        [
          compared,
          outliers.map(({ labels }: { labels: { device_id: string } }) => labels.device_id),
        ],
        [12, ['7']],
      );
      await assert.rejects(
        runner.run({
          principal: anna,
          key: 'metrics_query',
          params: { query: 'max(' },
          origin: 'chat',
        }),
        { code: 'invalid_argument' },
      );
    },
  );

  await t.test('logs: lines, counts, and kinds of lines', async () => {
    const line = (n: number, text: string) => ({
      labels: { unit: 'nginx' },
      at: { ms: at - n * 1_000, ns: 0 },
      line: text,
    });
    const lines = Array.from({ length: 30 }, (_, n) =>
      line(40 - n, `GET /item/${n * 37} took ${n}.5 ms for 10.0.0.${n}`),
    );
    await house.service(LogIngest).write([...lines, line(1, 'worker 4711 died')]);
    const found = await run('logs_query', { query: '{unit="nginx"} |= "died"' });
    assert.deepEqual([found.shown, found.lines[0].line], [1, 'worker 4711 died']);
    assert.equal(
      (await run('logs_query', { query: 'sum(count_over_time({unit="nginx"}[1h]))' })).series[0]
        .value,
      31,
    );
    const { templates } = await run('logs_templates', { query: '{unit="nginx"}' });
    assert.deepEqual(
      templates.map(({ count }: { count: number }) => count),
      [30, 1],
    );
    assert.match(templates[0].template, /^GET .* took .* ms for /);
  });

  await t.test('exemplars lead from a metric to a trace, and attributes to a search', async () => {
    const [fast, slow] = ['a'.repeat(32), 'b'.repeat(32)];
    const lines = [
      '# TYPE pay_seconds histogram',
      `pay_seconds_bucket{le="0.1"} 8 ${at / 1_000} # {trace_id="${fast}"} 0.04 ${at / 1_000}`,
      `pay_seconds_bucket{le="+Inf"} 9 ${at / 1_000} # {trace_id="${slow}",user="7"} 2.5 ${at / 1_000}`,
      '# EOF',
    ];
    await house
      .service(MetricsIngest)
      .push('openmetrics', Buffer.from(`${lines.join('\n')}\n`), {});
    const { total, exemplars } = await run('metrics_exemplars', {
      query: 'rate(pay_seconds_bucket[5m])',
      limit: 1,
    });
    assert.equal(total, 2);
    assert.deepEqual(exemplars, [
      {
        trace_id: slow,
        value: 2.5,
        at: new Date(at).toISOString(),
        series: { __name__: 'pay_seconds_bucket', le: '+Inf' },
        labels: { user: '7' },
      },
    ]);
    const span = {
      traceId: slow,
      spanId: '1'.repeat(16),
      name: 'POST /pay',
      startTimeUnixNano: `${at}000000`,
      endTimeUnixNano: `${at + 900}000000`,
      attributes: [{ key: 'http.route', value: { stringValue: '/pay' } }],
    };
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] };
    const sent = { resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] };
    await house
      .service(TraceIngest)
      .push('otlp-json', Buffer.from(JSON.stringify(sent)), { stamp: { device_id: '7' } });
    assert.equal((await run('trace_get', { trace_id: slow })).spans[0].name, 'POST /pay');
    const { scopes } = await run('trace_tags', { last: '1h' });
    assert.deepEqual(
      scopes.map(({ scope, attributes }: { scope: string; attributes: string[] }) => [
        scope,
        attributes.filter((name) => name !== 'device_id'),
      ]),
      [
        ['span', ['http.route']],
        ['resource', ['service.name']],
      ],
    );
    assert.equal((await run('trace_tags', { query: '{ name = "no" }' })).total, 0);
  });

  await t.test('topology and devices', async () => {
    const node = (type: string, name: string) =>
      house.json('/api/v1/topology/nodes', {
        method: 'POST',
        body: JSON.stringify({ type, name }),
      });
    const [{ id: db }, { id: shop }] = [await node('service', 'db'), await node('service', 'shop')];
    await house.json('/api/v1/topology/relations', {
      method: 'POST',
      body: JSON.stringify({ type: 'depends_on', src_id: shop, dst_id: db }),
    });
    assert.equal((await run('topology_find', { q: 'sho' })).nodes[0].id, shop);
    assert.deepEqual(
      (await run('topology_blast_radius', { node_id: db })).reached.map(
        ({ node: { name } }: { node: { name: string } }) => name,
      ),
      ['shop'],
    );
    await assert.rejects(run('topology_blast_radius', {}), { code: 'invalid_argument' });
    assert.equal((await run('devices_list', { tag: 'env=prod' })).total, 0);
    await assert.rejects(run('device_get', { device_id: 9 }), { code: 'not_found' });
  });

  await t.test('rules, dashboards, traces and incidents', async () => {
    assert.equal((await run('rules_list', { limit: 2 })).rules.length, 2);
    const draft = {
      kind: 'metric_raw',
      scope_type: 'host',
      lookback: '15m',
      conditions: [{ expr: 'node_load1 > 30' }],
    };
    const preview = await run('rule_preview', draft);
    assert.deepEqual([preview.would_fire, preview.draft.kind], [true, 'metric_raw']);
    await assert.rejects(run('rule_preview', draft, { ...anna, grants: [] }), {
      code: 'forbidden',
    });
    const { dashboards } = await run('dashboards_list', {});
    assert.ok((await run('dashboard_get', { uid: dashboards[0].uid })).panels[0].query);
    assert.equal((await run('traces_search', {})).shown, 1);
    await assert.rejects(run('trace_get', { trace_id: 'abc' }), { code: 'not_found' });
    assert.deepEqual(
      (await run('incidents_list', { status: ['open'], last: '2h' })).incidents,
      await house.service(Incidents).list({ status: ['open'] }, undefined),
    );
    await assert.rejects(run('incident_get', { incident_id: 99 }), { code: 'not_found' });
  });

  await t.test(
    'what changed: everybody sees areas of their own work, an administrator all',
    async () => {
      const open = await run('changes_list', { last: '1h' });
      assert.deepEqual(
        [...new Set(open.changes.map(({ action }: { action: string }) => action.split(':')[0]))],
        ['topology'],
      );
      assert.equal(open.changes[0].after, undefined);
      await house.json('/api/v1/system-settings/agent/write_enabled', {
        method: 'PUT',
        body: JSON.stringify({ value: true }),
      });
      assert.ok(
        (await run('changes_list', { last: '1h' }, bob)).changes.some(
          ({ action }: { action: string }) => action.startsWith('setting'),
        ),
      );
      assert.ok(
        !(await run('changes_list', { last: '1h' })).changes.some(
          ({ action }: { action: string }) => action.startsWith('setting'),
        ),
      );
    },
  );

  await t.test('changes are made by hand, or under an approval', async () => {
    const silence = {
      matchers: [{ name: 'rule', value: 'host.load' }],
      duration: '1h',
      reason: 'maintenance',
    };
    await assert.rejects(run('silence_create', silence), { reason: 'skill.approval_needed' });
    const made = await runner.run({
      principal: anna,
      key: 'silence_create',
      params: silence,
      origin: 'api',
    });
    assert.equal((made.result as { created_by: string }).created_by, 'anna');
    await assert.rejects(
      runner.run({
        principal: anna,
        key: 'incident_notify',
        params: { incident_id: 1, channel_ids: [1] },
        origin: 'api',
      }),
      {
        code: 'not_found',
      },
    );
    assert.deepEqual(told, []);
  });
});

test('the spans of a trace in the order of their beginnings', () => {
  const span = (spanId: string, start: number, more: object = {}) => ({
    spanId,
    name: spanId,
    startTimeUnixNano: String(start * 1_000_000),
    endTimeUnixNano: String((start + 5) * 1_000_000),
    ...more,
  });
  const trace = {
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
        scopeSpans: [
          {
            spans: [
              span('b', 20, {
                parentSpanId: 'a',
                status: { code: 2, message: 'no' },
                attributes: [{ key: 'n', value: { intValue: '3' } }],
              }),
            ],
          },
        ],
      },
      { scopeSpans: [{ spans: [span('a', 10)] }] },
    ],
  };
  const plain = { duration_ms: 5, error: false, status: null, attributes: {} };
  assert.deepEqual(spanLines(trace), [
    { ...plain, span_id: 'a', parent_id: null, service: 'unknown', name: 'a', offset_ms: 0 },
    {
      ...plain,
      span_id: 'b',
      parent_id: 'a',
      service: 'shop',
      name: 'b',
      offset_ms: 10,
      error: true,
      status: 'no',
      attributes: { n: '3' },
    },
  ]);
  assert.deepEqual(spanLines({}), []);
});
