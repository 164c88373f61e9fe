import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { Frame } from '../../../plugins/monitor/frames/frame.ts';
import { transform } from '../../../plugins/monitor/frames/transformations.ts';
import { shares } from '../../../plugins/monitor/render/shares.ts';
import { type Json, monitorHouse, store } from './house.ts';

const end = Math.floor(Date.now() / 15_000) * 15_000;
const window = `?from=${end - 600_000}&to=${end}`;
const path = '/api/v1/monitor/dashboards/import';
const prometheus = { type: 'prometheus', uid: 'p' };
const panel = (title: string, more: object): object => ({
  type: 'timeseries',
  title,
  datasource: prometheus,
  ...more,
});

const board = {
  uid: 'fleet',
  title: 'Fleet',
  templating: {
    list: [
      // Asks for what is chosen in the one after it.
      {
        name: 'sender',
        type: 'query',
        datasource: prometheus,
        query: 'label_values(sent{job=~"$job"}, job)',
      },
      {
        name: 'job',
        type: 'query',
        datasource: prometheus,
        query: 'label_values(up, job)',
        multi: true,
        includeAll: true,
      },
      { name: 'only', type: 'adhoc', datasource: prometheus },
      // No series has such a label, and so each has an empty one.
      {
        name: 'cluster',
        type: 'query',
        datasource: prometheus,
        query: 'label_values(up, cluster)',
      },
      {
        name: 'pod',
        type: 'query',
        datasource: prometheus,
        query: 'label_values(up, pod)',
        includeAll: true,
        allValue: '.*',
      },
    ],
  },
  panels: [
    panel('Both', {
      gridPos: { x: 0, y: 0, w: 12, h: 8 },
      fieldConfig: {
        defaults: { unit: 'bytes', custom: { stacking: { mode: 'normal', group: 'A' } } },
        overrides: [
          {
            matcher: { id: 'byRegexp', options: '/^out/' },
            properties: [
              { id: 'custom.transform', value: 'negative-Y' },
              { id: 'displayName', value: 'sent by ${__field.labels.job}' },
            ],
          },
        ],
      },
      targets: [
        { refId: 'A', expr: 'received{job="$job"}', legendFormat: 'in {{job}}' },
        { refId: 'B', expr: 'sent{job="$job"}', legendFormat: 'out {{job}}' },
        { refId: 'C', expr: 'sent{job="$job"', hide: false },
      ],
    }),
    panel('Each $job', {
      repeat: 'job',
      maxPerRow: 2,
      gridPos: { x: 0, y: 8, w: 24, h: 8 },
      targets: [{ expr: 'up{job="$job"}' }],
    }),
    {
      type: 'row',
      title: 'Closed',
      collapsed: true,
      gridPos: { x: 0, y: 16, w: 24, h: 1 },
      panels: [
        panel('Table', {
          type: 'table',
          gridPos: { x: 0, y: 17, w: 24, h: 8 },
          fieldConfig: {
            defaults: {
              mappings: [{ type: 'value', options: { '1': { text: 'yes', color: 'green' } } }],
            },
            overrides: [
              {
                matcher: { id: 'byName', options: 'Received' },
                properties: [{ id: 'unit', value: 'bytes' }],
              },
            ],
          },
          targets: [
            { refId: 'A', expr: 'sum by (job) (up)', format: 'table', instant: true },
            { refId: 'B', expr: 'sum by (job) (received)', format: 'table', instant: true },
          ],
          transformations: [
            { id: 'merge', options: {} },
            {
              id: 'organize',
              options: {
                excludeByName: { Time: true, __name__: true },
                renameByName: { 'Value #A': 'Up', 'Value #B': 'Received' },
                indexByName: { job: 0, 'Value #B': 1, 'Value #A': 2 },
              },
            },
            { id: 'sortBy', options: { sort: [{ field: 'Received', desc: true }] } },
          ],
        }),
        panel('Latency', {
          type: 'heatmap',
          gridPos: { x: 0, y: 25, w: 24, h: 8 },
          targets: [{ expr: 'latency_bucket', format: 'heatmap', legendFormat: '{{le}}' }],
        }),
        panel('Mean', {
          type: 'stat',
          gridPos: { x: 0, y: 33, w: 24, h: 4 },
          options: { reduceOptions: { calcs: ['mean'] }, graphMode: 'area', colorMode: 'none' },
          targets: [{ expr: 'ramp{cluster="$cluster", pod=~"$pod"}' }],
        }),
      ],
    },
  ],
};

const series = [
  [{ __name__: 'up', job: 'a' }, 1],
  [{ __name__: 'up', job: 'b.c' }, 0],
  [{ __name__: 'received', job: 'a' }, 1_024],
  [{ __name__: 'received', job: 'b.c' }, 2_048],
  [{ __name__: 'sent', job: 'a' }, 10],
  [{ __name__: 'sent', job: 'b.c' }, 20],
  [{ __name__: 'latency_bucket', le: '1' }, 3],
  [{ __name__: 'latency_bucket', le: '10' }, 7],
  [{ __name__: 'latency_bucket', le: '+Inf' }, 8],
  [{ __name__: 'ramp' }, (index: number) => index],
] as const;

describe('an imported panel', () => {
  test('has all its queries, is repeated, folded, transformed and reduced', async (t) => {
    const { house, ask, show } = await monitorHouse(t, { plugins: ['metricsdb', 'monitor'] });
    await store(house, series, end);
    const { panels: given, ...head } = board;
    const [both, ...others] = given as Json[];
    const whole = { ...head, panels: [{ ...both, targets: both.targets.slice(0, 2) }, ...others] };
    const refused = await ask('POST', `${path}?dry_run=true`, { body: board });
    assert.match(JSON.stringify(refused.body.left_out), /Both.*parse error/);
    const { status, body } = await ask('POST', path, { body: whole });
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual(body.left_out, []);

    const { panels, variables } = await show('fleet', window);
    assert.deepEqual(
      variables.map(({ name, values }: Json) => [name, values]),
      [
        ['sender', ['a', 'b.c']],
        ['job', ['a', 'b.c']],
        ['only', []],
        ['cluster', []],
        ['pod', []],
      ],
    );
    const of = (title: string): Json => panels.find((one: Json) => one.title === title);
    assert.deepEqual(
      of('Both').data.result.map(({ name, ref, last, settings }: Json) => [
        name,
        ref,
        last.formatted,
        settings?.negate,
      ]),
      [
        ['in a', 'A', '1 KiB', undefined],
        ['in b.c', 'A', '2 KiB', undefined],
        ['sent by a', 'B', '10 B', true],
        ['sent by b.c', 'B', '20 B', true],
      ],
    );
    assert.deepEqual(of('Both').display, { stacking: 'normal' });
    assert.match(of('Both').expanded_query, /^received\{job=~"/);
    assert.deepEqual(
      panels
        .filter(({ repeated }: Json) => repeated)
        .map(({ title, position, data }: Json) => [
          title,
          position.x,
          position.w,
          data.result.length,
        ]),
      [
        ['Each a', 0, 12, 1],
        ['Each b.c', 12, 12, 1],
      ],
    );
    assert.deepEqual(
      [
        of('Table').table.columns.map(({ name }: Json) => name),
        of('Table').table.rows.map((row: Json) => row.map(({ text }: Json) => text)),
      ],
      [
        ['job', 'Received', 'Up'],
        [
          ['b.c', '2 KiB', '0'],
          ['a', '1 KiB', 'yes'],
        ],
      ],
    );
    assert.deepEqual(
      of('Latency').data.result.map(({ name, last }: Json) => [name, last.value[1]]),
      [
        ['1', '3'],
        ['10', '4'],
        ['+Inf', '1'],
      ],
    );
    assert.equal(of('Mean').display.colorless, true);
    const [mean] = of('Mean').data.result;
    assert.deepEqual([mean.value[1], mean.points.length], ['20', 41]);

    const closed = await show('fleet', `${window}&rows=saved`);
    assert.deepEqual(
      closed.panels
        .filter(({ folded }: Json) => folded)
        .map(({ title, data }: Json) => [title, data.result.length]),
      [
        ['Closed', 0],
        ['Table', 0],
        ['Latency', 0],
        ['Mean', 0],
      ],
    );
    const filtered = await show('fleet', `${window}&var-only=${encodeURIComponent('job|=|a')}`);
    assert.deepEqual(
      filtered.panels[0].data.result.map(({ name }: Json) => name),
      ['in a', 'sent by a'],
    );
    assert.equal(
      (await ask('GET', `/api/v1/observability/dashboards/fleet?var-only=x`)).status,
      400,
    );
  });

  test('goes through files and back with everything that it has', async (t) => {
    const { ask } = await monitorHouse(t, { plugins: ['metricsdb', 'monitor'] });
    const { panels: given, ...head } = board;
    await ask('POST', path, { body: { ...head, panels: (given as Json[]).slice(1) } });
    const list = async (): Promise<Json[]> =>
      (await ask('GET', '/api/v1/monitor/dashboards')).body.items;
    const [before] = await list();
    const { uid, ...body } = before;
    const put = await ask('PUT', `/api/v1/monitor/dashboards/${uid}`, { body });
    assert.equal(put.status, 200, JSON.stringify(put.body));
    assert.deepEqual(await list(), [before]);
    const exported = await ask('GET', `/api/v1/monitor/dashboards/${uid}/export`);
    const again = await ask('POST', `${path}?uid=again`, { body: exported.body });
    assert.equal(again.status, 201, JSON.stringify(again.body));
    const copy = (await list()).find((item) => item.uid === 'again');
    assert.deepEqual(copy.panels, before.panels);
  });
});

test('points that one panel does not need go to those that need more', () => {
  const needs = [
    { points: 100, series: 2 },
    { points: 0, series: 5 },
    { points: 100, series: 40 },
  ];
  assert.deepEqual(shares(needs, 1_000, 50), [5, 50, 8]);
  assert.deepEqual(shares([{ points: 600, series: 9 }], 100, 50), [1]);
});

test('transformations make of tables what Grafana makes of them', () => {
  const frame: Frame = {
    ref: 'A',
    fields: [
      { name: 'Time', type: 'time', values: [1, 1, 2] },
      { name: 'host', type: 'string', values: ['a', 'b', 'a'] },
      { name: 'Value', type: 'number', values: [1, 2, 5] },
    ],
  };
  const made = (id: string, options: Record<string, unknown>): unknown =>
    transform([frame], [{ id, options }])[0]!.fields.map(({ name, values }) => [name, values]);
  assert.deepEqual(
    made('groupBy', {
      fields: {
        host: { operation: 'groupby', aggregations: [] },
        Value: { operation: 'aggregate', aggregations: ['sum', 'lastNotNull'] },
      },
    }),
    [
      ['host', ['a', 'b']],
      ['Value (sum)', [6, 2]],
      ['Value (lastNotNull)', [5, 2]],
    ],
  );
  assert.deepEqual(made('reduce', { reducers: ['max', 'mean'] }), [
    ['Field', ['Value']],
    ['Max', [5]],
    ['Mean', [8 / 3]],
  ]);
  assert.deepEqual(
    made('filterByValue', {
      type: 'include',
      match: 'all',
      filters: [{ fieldName: 'Value', config: { id: 'greater', options: { value: 1 } } }],
    }),
    [
      ['Time', [1, 2]],
      ['host', ['b', 'a']],
      ['Value', [2, 5]],
    ],
  );
  assert.deepEqual(
    (
      made('calculateField', {
        mode: 'binary',
        alias: 'twice',
        binary: { left: 'Value', operator: '*', right: '2' },
      }) as unknown[]
    ).at(-1),
    ['twice', [2, 4, 10]],
  );
});
