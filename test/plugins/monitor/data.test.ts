import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { LogIngest } from 'svc/contracts/logs';
import { TraceIngest } from 'svc/contracts/traces';

import { gardenFolder, type Json, monitorHouse, store } from './house.ts';

const path = '/api/v1/monitor/panels';
const hour = 3_600_000;

const hosts = (end: number) =>
  [
    [{ __name__: 'node_load1', device_id: '1' }, 0.5],
    [{ __name__: 'node_load1', device_id: '2' }, 2.5],
    [{ __name__: 'node_load5', device_id: '1' }, 0.4],
    [{ __name__: 'node_cpu_usage_percent', device_id: '1' }, 12.345],
    [{ __name__: 'node_cpu_usage_percent', device_id: '2' }, 85],
    [{ __name__: 'node_memory_used_percent', device_id: '2' }, 97],
    [{ __name__: 'node_filesystem_used_percent', device_id: '1', mountpoint: '/' }, 91],
    [{ __name__: 'node_filesystem_used_percent', device_id: '1', mountpoint: '/var' }, 10],
    [{ __name__: 'node_filesystem_avail_bytes', device_id: '1', mountpoint: '/' }, 3 * 1_024 ** 3],
    [{ __name__: 'node_uptime_seconds', device_id: '1' }, 5_400],
    [{ __name__: 'node_network_receive_bytes_per_second', device_id: '1', device: 'eth0' }, 1_536],
    [{ __name__: 'started', at: String(end) }, end / 1_000],
  ] as const;

describe('a dashboard over what was really stored', () => {
  test('shows the fleet and one host, in units, states and names', async (t) => {
    const { house, show, panel } = await monitorHouse(t, {
      plugins: ['metricsdb', 'logs', 'monitor'],
    });
    const end = Math.floor(Date.now() / 15_000) * 15_000;
    await store(house, hosts(end), end);
    await house.service(LogIngest).write([
      {
        labels: { service_name: 'db', device_id: '1' },
        at: { ms: end - 2_000, ns: 7 },
        line: 'level=error msg="disk is full"',
      },
      {
        labels: { service_name: 'db', device_id: '1' },
        at: { ms: end - 1_000, ns: 0 },
        line: 'level=info msg=fine',
      },
      {
        labels: { service_name: 'web', device_id: '2' },
        at: { ms: end - 1_500, ns: 0 },
        line: `level=error ${'x'.repeat(5_000)}`,
      },
    ]);
    const query = `?from=${end - hour}&to=${end}`;

    const overview = await show('overview', query);
    const of = (title: string): Json =>
      overview.panels.find((found: Json) => found.title === title);
    assert.deepEqual(of('Devices that report').data, {
      result_type: 'vector',
      result: [{ metric: {}, name: '{}', value: [end / 1_000, '2'], formatted: '2' }],
    });
    assert.deepEqual(of('Busiest processor').data.result, [
      {
        metric: { device_id: '2' },
        name: 'device 2',
        value: [end / 1_000, '85'],
        formatted: '85 %',
        state: 'warning',
      },
    ]);
    assert.equal(of('Fullest memory').data.result[0].state, 'critical');
    assert.deepEqual(
      of('Disks, the twenty fullest').data.result.map(({ name, formatted, state }: Json) => [
        name,
        formatted,
        state,
      ]),
      [
        ['device 1 /', '91 %', 'critical'],
        ['device 1 /var', '10 %', 'ok'],
      ],
    );
    const processor = of('Processor, the ten busiest devices');
    assert.equal(processor.data.result_type, 'matrix');
    const [first] = processor.data.result.filter(({ name }: Json) => name === 'device 1');
    assert.equal(first.values.length, 41);
    assert.deepEqual(
      [first.values[0], first.last],
      [
        [(end - 600_000) / 1_000, '12.345'],
        { value: [end / 1_000, '12.345'], formatted: '12.3 %', state: 'ok' },
      ],
    );
    const errors = of('Latest errors in the logs').data;
    assert.equal(errors.result_type, 'streams');
    const lines = new Map(errors.result.map(({ name, values }: Json) => [name, values]));
    assert.deepEqual(new Set(lines.keys()), new Set(['db', 'web']));
    assert.deepEqual(lines.get('db'), [[`${end - 2_000}000007`, 'level=error msg="disk is full"']]);
    assert.equal((lines.get('web') as Json)[0][1].length, 4_097);

    const device = await show('device', `${query}&var-device=1`);
    assert.deepEqual(device.variables[0], {
      name: 'device',
      title: 'Device',
      type: 'query',
      multi: false,
      all: false,
      value: ['1'],
      values: ['1', '2'],
    });
    const shown = (title: string): Json =>
      device.panels.find((found: Json) => found.title === title);
    assert.deepEqual(
      shown('Load')
        .data.result.map(({ name }: Json) => name)
        .sort(),
      ['node_load1', 'node_load5'],
    );
    assert.equal(shown('Up since').data.result[0].formatted, '1.5 h');
    assert.equal(shown('Disks, free').data.result[0].formatted, '3 GiB');
    assert.equal(shown('Network, received').data.result[0].last.formatted, '1.5 KiB/s');
    assert.deepEqual(
      shown('Logs').data.result.map(({ name, values }: Json) => [name, values.length]),
      [
        ['db', 1],
        ['db', 1],
      ],
    );
    assert.match(
      shown('Network, sent').missing.message,
      /no metric node_network_transmit_bytes_per_second in the last 1w; it comes from the plugin hostmetrics/,
    );
    const other = await panel('device', 'Memory and swap', `${query}&var-device=1`);
    assert.match(
      other.missing.message,
      /node_memory_used_percent has series in these 1h, but none matches the query; no metric node_swap_used_percent/,
    );
  });

  test('tells a metric that has stopped from one that never was, and where a query is wrong', async (t) => {
    const { house, ask, show } = await monitorHouse(t, {
      plugins: ['metricsdb', 'monitor', gardenFolder],
    });
    const end = Math.floor(Date.now() / 15_000) * 15_000;
    await store(house, [[{ __name__: 'garden_bees_left', hive: '1' }, 1]], end);
    for (const [title, query] of [
      ['stopped', 'sum(rate(garden_bees_left[5m]))'],
      ['never', 'garden_bees_right'],
      ['nobody', 'wasps'],
    ] as const) {
      const { status, body } = await ask('POST', path, {
        body: { dashboard_uid: 'beds', title, type: 'timeseries', query },
      });
      assert.equal(status, 201, JSON.stringify(body));
    }
    const refused = await ask('POST', path, {
      body: { dashboard_uid: 'beds', title: 'wrong', type: 'stat', query: 'sum(rate(x[5m])' },
    });
    assert.match(refused.body.message, /query: 1:16: parse error: unclosed left parenthesis/);
    const later = end + 30 * 60_000;
    const { panels } = await show('beds', `?from=${later - 10 * 60_000}&to=${later}`);
    const missing = (title: string): Json =>
      panels.find((found: Json) => found.title === title).missing;
    assert.match(
      missing('stopped').message,
      /garden_bees_left has no samples in these 10m, but had some in the 1w before their end: its sender has stopped \(the hive\)/,
    );
    assert.match(
      missing('never').message,
      /no metric garden_bees_right in the last 1w; it comes from the hive/,
    );
    assert.match(
      missing('nobody').message,
      /no metric wasps in the last 1w; no known source sends it/,
    );
    assert.deepEqual(missing('stopped').metrics, [
      { name: 'garden_bees_left', seen: 'earlier', brought_by: 'the hive' },
    ]);
  });

  test('lets a panel change by every field that it has', async (t) => {
    const { house, ask, show } = await monitorHouse(t, {
      plugins: ['metricsdb', 'logs', 'monitor'],
    });
    const end = Math.floor(Date.now() / 15_000) * 15_000;
    await store(house, [[{ __name__: 'depth', pond: 'a' }, 2_048]], end);
    const { body: made } = await ask('POST', path, {
      body: { dashboard_uid: 'mine', title: 'Depth', type: 'stat', query: 'depth' },
    });
    const after = async (changes: object): Promise<Json> => {
      const { status, body } = await ask('PATCH', `${path}/${made.id}`, { body: changes });
      assert.equal(status, 200, JSON.stringify(body));
      return (await show(body.dashboard_uid, `?from=${end - hour}&to=${end}`)).panels[0];
    };
    const metric = { __name__: 'depth', pond: 'a' };
    const value = [end / 1_000, '2048'];
    assert.deepEqual((await after({ title: 'How deep' })).data.result, [
      { metric, name: 'depth{pond="a"}', value, formatted: '2.05 k' },
    ]);
    assert.equal((await after({ unit: 'bytes' })).data.result[0].formatted, '2 KiB');
    assert.equal((await after({ legend: 'pond {{pond}}' })).data.result[0].name, 'pond a');
    assert.equal(
      (await after({ thresholds: [{ value: 2_000, state: 'critical' }] })).data.result[0].state,
      'critical',
    );
    assert.equal((await after({ type: 'gauge' })).data.result_type, 'vector');
    assert.equal((await after({ type: 'table' })).data.result_type, 'vector');
    assert.equal((await after({ type: 'timeseries' })).data.result_type, 'matrix');
    assert.deepEqual((await after({ query: 'vector(7)' })).data.result[0].last.value, [
      end / 1_000,
      '7',
    ]);
    assert.deepEqual((await after({ type: 'stat', query: '7' })).data.result[0].value, [
      end / 1_000,
      '7',
    ]);
    assert.deepEqual((await after({ position: { x: 3, y: 4, w: 5, h: 6 } })).position, {
      x: 3,
      y: 4,
      w: 5,
      h: 6,
    });
    assert.equal(
      (await after({ type: 'logs', query: '{a="b"}', unit: 'none', thresholds: [] })).data
        .result_type,
      'streams',
    );
    assert.match(
      (await after({ legend: '' })).missing.message,
      /no line in these 1h matches the query; lines come from the plugin logs of an edge/,
    );
    assert.equal((await after({ dashboard_uid: 'yours' })).title, 'How deep');
  });

  test('keeps what anybody types for a variable inside of its quotes', async (t) => {
    const { house, panel } = await monitorHouse(t, { plugins: ['metricsdb', 'logs', 'monitor'] });
    const end = Math.floor(Date.now() / 15_000) * 15_000;
    const odd = [
      '1"} or node_load1{device_id!="',
      '.*',
      'a\\',
      "it's",
      '`',
      'new\nline',
      '{{x}}',
      '🦔',
    ];
    await store(
      house,
      [...odd, 'plain'].map(
        (device_id, index) => [{ __name__: 'node_load1', device_id }, index] as const,
      ),
      end,
      1,
    );
    for (const [index, value] of odd.entries()) {
      const { data, error } = await panel(
        'device',
        'Load',
        `?from=${end - hour}&to=${end}&var-device=${encodeURIComponent(value)}`,
      );
      assert.deepEqual(
        [error, data.result.map((found: Json) => [found.metric.device_id, found.last.value[1]])],
        [undefined, [[value, String(index)]]],
        value,
      );
    }
    for (const value of ['nobody"} or node_load1{device_id=~".+', 'plain|.*', '(?s).*', '\\']) {
      const { data, error, missing } = await panel(
        'device',
        'Load',
        `?from=${end - hour}&to=${end}&var-device=${encodeURIComponent(value)}`,
      );
      assert.deepEqual([error, data.result], [undefined, []], value);
      assert.match(missing.message, /node_load1 has series/);
      const logs = await panel('device', 'Logs', `?var-device=${encodeURIComponent(value)}`);
      assert.deepEqual([logs.error, logs.data.result], [undefined, []]);
    }
  });

  test('shows traces, states and the topology, and leads to other dashboards', async (t) => {
    const { house, ask, panel, show } = await monitorHouse(t, {
      plugins: ['metricsdb', 'logs', 'traces', 'monitor'],
    });
    const end = Math.floor(Date.now() / 15_000) * 15_000;
    await store(house, hosts(end), end);
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const pushed = {
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
          scopeSpans: [
            {
              spans: [
                {
                  traceId,
                  spanId: 'b7ad6b7169203331',
                  name: 'GET /cart',
                  startTimeUnixNano: `${end - 60_000}000000`,
                  endTimeUnixNano: `${end - 59_750}000000`,
                  status: { code: 2 },
                },
              ],
            },
          ],
        },
      ],
    };
    await house
      .service(TraceIngest)
      .push('otlp-json', new TextEncoder().encode(JSON.stringify(pushed)), {});
    const links = [{ title: 'The fleet', dashboard: 'overview' }];
    const { status, body } = await ask('PUT', '/api/v1/monitor/dashboards/shop', {
      body: {
        title: 'Shop',
        variables: [{ name: 'service', type: 'text', default: 'shop' }],
        panels: [
          {
            title: 'Requests',
            type: 'traces',
            query: '{ resource.service.name = "$service" }',
            links,
          },
          {
            title: 'Hosts',
            type: 'status',
            query: 'node_load1',
            thresholds: [{ value: 2, state: 'critical' }],
          },
          { title: 'Nodes', type: 'topology', query: '' },
        ],
      },
    });
    assert.equal(status, 200, JSON.stringify(body));
    const query = `?from=${end - hour}&to=${end}`;
    const found = await panel('shop', 'Requests', query);
    assert.deepEqual(found.links, links);
    assert.deepEqual(
      found.table.rows.map((row: Json) => row.map((cell: Json) => cell.text)),
      [[new Date(end - 60_000).toISOString(), 'shop', 'GET /cart', '250 ms', '1', traceId]],
    );
    for (const odd of ['x" || name != "', 'x" } || { name != "', '\\', '" } >> { "']) {
      const value = encodeURIComponent(odd);
      const { error, missing } = await panel('shop', 'Requests', `${query}&var-service=${value}`);
      assert.equal(error, undefined, odd);
      assert.match(missing.message, /no trace in these 1h matches the query/, odd);
    }
    assert.deepEqual(
      (await panel('shop', 'Hosts', query)).data.result.map((one: Json) => one.state),
      ['ok', 'critical'],
    );
    assert.deepEqual((await panel('shop', 'Nodes', query)).data.result, []);
    const made = await ask('POST', '/api/v1/monitor/dashboards/shop/links', {
      body: { expires_in_s: 3_600, range_s: 3_600 },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { body: shared } = await ask('GET', `/api/v1/monitor/shared/${made.body.token}`);
    const [requests] = shared.panels;
    assert.deepEqual(
      [requests.table.rows.length, requests.query, requests.links],
      [1, undefined, undefined],
    );
    const exported = (await ask('GET', '/api/v1/monitor/dashboards/shop/export')).body;
    assert.deepEqual(
      exported.panels.map((one: Json) => one.type),
      ['text', 'stat', 'text'],
    );
    for (const [changes, message] of [
      [{ type: 'traces', query: 'no query' }, /./],
      [{ type: 'traces', query: '{}', unit: 'bytes' }, /shows traces, which have no unit/],
      [{ type: 'topology', query: 'up' }, /a panel of type topology has no query/],
      [
        { type: 'traces', query: '{}', queries: [{ ref: 'A', query: '{}', store: 'logs' }] },
        /asks the store of traces/,
      ],
    ] as const) {
      const refused = await ask('POST', path, {
        body: { dashboard_uid: 'shop', title: 'Odd', ...changes },
      });
      assert.deepEqual(
        [refused.status, message.test(refused.body.message)],
        [400, true],
        JSON.stringify(refused.body),
      );
    }
    assert.equal((await show('shop', query)).panels.length, 3);
  });
});
