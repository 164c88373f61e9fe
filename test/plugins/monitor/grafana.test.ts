import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';
import { isSvcError } from 'svc/sdk';

import { translate } from '../../../plugins/monitor/grafana/translate.ts';
import { type Json, monitorHouse, store } from './house.ts';

const path = '/api/v1/monitor/dashboards/import';
const prometheus = { type: 'prometheus', uid: '${DS_PROM}' };

const dashboard = {
  uid: 'nodes',
  title: 'Nodes',
  __inputs: [{ name: 'DS_PROM', type: 'datasource', pluginId: 'prometheus' }],
  time: { from: 'now-6h', to: 'now' },
  annotations: {
    list: [
      { builtIn: 1, name: 'Annotations & Alerts' },
      { name: 'Deploys', expr: 'deploys' },
    ],
  },
  links: [{ title: 'Elsewhere' }],
  templating: {
    list: [
      { name: 'ds', type: 'datasource', query: 'prometheus' },
      {
        name: 'host',
        label: 'Host',
        type: 'query',
        datasource: prometheus,
        query: { query: 'label_values(node_load1, device_id)', refId: 'A' },
        regex: '/h(.*)/',
        multi: true,
        includeAll: true,
        allValue: '.*',
      },
      { name: 'mode', type: 'custom', query: 'a, b : two,c\\,d', current: { value: 'two' } },
      { name: 'every', type: 'interval', query: '1m,5m', auto: true, current: { value: '5m' } },
      { name: 'free', type: 'textbox', query: 'hello' },
      { name: 'expr', type: 'query', datasource: prometheus, query: 'query_result(up)' },
      { name: 'filters', type: 'adhoc', datasource: prometheus },
      {
        name: 'app',
        type: 'query',
        datasource: { type: 'loki', uid: 'x' },
        query: 'label_values(app)',
      },
      { name: 'bad name', type: 'custom', query: 'a' },
    ],
  },
  panels: [
    {
      id: 1,
      type: 'timeseries',
      title: 'Load',
      datasource: prometheus,
      gridPos: { x: 0, y: 0, w: 12, h: 6 },
      fieldConfig: {
        defaults: {
          unit: 'short',
          thresholds: {
            mode: 'absolute',
            steps: [
              { color: 'green', value: null },
              { color: '#EAB839', value: 2 },
              { color: 'dark-red', value: 4 },
            ],
          },
        },
        overrides: [{ matcher: { id: 'byName' } }],
      },
      targets: [
        {
          refId: 'A',
          expr: 'avg_over_time(node_load1{device_id=~"h$host"}[$__rate_interval])',
          legendFormat: '{{device_id}} 1m',
        },
        {
          refId: 'B',
          expr: 'node_load5{device_id=~"h${host:regex}"}',
          legendFormat: '__auto',
          hide: false,
        },
        { refId: 'C', expr: 'node_load15', hide: true },
        { refId: 'D', datasource: { type: '__expr__', uid: '__expr__' }, expression: '$A + $B' },
      ],
      transformations: [{ id: 'organize' }],
    },
    {
      id: 2,
      type: 'row',
      title: 'Folded',
      collapsed: true,
      panels: [
        {
          id: 3,
          type: 'stat',
          title: 'In a row',
          datasource: '$ds',
          targets: [{ expr: 'sum(node_load1)' }],
          fieldConfig: { defaults: { unit: 'percentunit' } },
        },
      ],
    },
    { id: 4, type: 'text', title: 'Read me', options: { content: '<script>' } },
    { id: 5, title: 'From the library', libraryPanel: { uid: 'x', name: 'y' } },
    {
      id: 6,
      type: 'logs',
      title: 'Lines',
      datasource: { type: 'loki', uid: 'l' },
      targets: [{ expr: '{device_id=~"h$host"} |= "$free"' }],
    },
    {
      id: 7,
      type: 'timeseries',
      title: 'Rate of lines',
      datasource: { type: 'loki', uid: 'l' },
      targets: [{ expr: 'rate({a="b"}[5m])' }],
    },
    {
      id: 8,
      type: 'table',
      title: 'From SQL',
      datasource: { type: 'mysql', uid: 'm' },
      targets: [{ rawSql: 'select 1' }],
    },
    {
      id: 9,
      type: 'gauge',
      title: 'Wrong',
      datasource: prometheus,
      targets: [{ expr: 'sum(rate(up[5m])' }],
    },
    {
      id: 10,
      type: 'gauge',
      title: 'Lost',
      datasource: prometheus,
      targets: [{ expr: 'up{x="$expr"}' }],
    },
    {
      id: 11,
      type: 'gauge',
      title: 'Percent',
      datasource: prometheus,
      targets: [{ expr: 'up' }],
      fieldConfig: {
        defaults: {
          unit: 'furlongs',
          thresholds: { mode: 'percentage', steps: [{ color: 'red', value: 1 }] },
        },
      },
    },
    {
      id: 12,
      type: 'timeseries',
      title: 'Outside of quotes',
      datasource: prometheus,
      targets: [{ expr: 'sum by ($host) (up)' }],
    },
    {
      id: 13,
      type: 'timeseries',
      title: 'Each',
      datasource: prometheus,
      repeat: 'host',
      targets: [{ expr: 'rate(x[$every])' }],
    },
  ],
};

describe('a Grafana dashboard that is taken over', () => {
  test('becomes panels and variables, and what was left out is told with its reason', async (t) => {
    const { house, ask, audit, show } = await monitorHouse(t, {
      plugins: ['metricsdb', 'logs', 'monitor'],
    });
    const { status, body: report } = await ask('POST', path, { as: 'mo', body: dashboard });
    assert.equal(status, 201, JSON.stringify(report));
    assert.deepEqual([report.uid, report.title, report.dry_run], ['nodes', 'Nodes', false]);
    assert.deepEqual(
      report.taken.map(({ kind, title, notes }: Json) => [kind, title, notes]),
      [
        ['variable', 'ds', []],
        ['variable', 'host', []],
        ['variable', 'mode', []],
        ['variable', 'every', []],
        ['variable', 'free', []],
        ['variable', 'expr', []],
        ['variable', 'filters', []],
        ['variable', 'app', []],
        ['panel', 'Load', []],
        ['panel', 'Folded', []],
        ['panel', 'In a row', []],
        ['panel', 'Read me', []],
        ['panel', 'Lines', []],
        ['panel', 'Rate of lines', []],
        ['panel', 'Lost', []],
        ['panel', 'Percent', []],
        ['panel', 'Each', []],
      ],
    );
    const reasons = Object.fromEntries(
      report.left_out.map(({ title, reason }: Json) => [title, reason]),
    );
    for (const [title, reason] of Object.entries({
      'bad name': /its name/,
      'Load D': /an expression over other queries/,
      'From the library': /library panel/,
      'From SQL': /its datasource is mysql/,
      Wrong: /1:17: parse error/,
      'Outside of quotes': /host is outside quotes/,
      Deploys: /annotations/,
      links: /links/,
      'now-6h': /from and to/,
    })) {
      assert.match(reasons[title] ?? 'is not there', reason, title);
      delete reasons[title];
    }
    assert.deepEqual(reasons, {});

    const end = Math.floor(Date.now() / 15_000) * 15_000;
    await store(
      house,
      ['h1', 'h2', 'x3'].map(
        (device_id, index) => [{ __name__: 'node_load1', device_id }, index + 1] as const,
      ),
      end,
    );
    const shown = await show('nodes', `?from=${end - 600_000}&to=${end}&var-host=1`);
    assert.deepEqual(
      shown.variables.map(({ name, type, value, values }: Json) => [name, type, value, values]),
      [
        ['ds', 'datasource', ['default'], ['default']],
        ['host', 'query', ['1'], ['1', '2']],
        ['mode', 'custom', ['two'], ['a', 'two', 'c,d']],
        ['every', 'interval', ['5m'], ['auto', '1m', '5m']],
        ['free', 'text', ['hello'], []],
        ['expr', 'query', [], []],
        ['filters', 'adhoc', [], []],
        ['app', 'query', [], []],
      ],
    );
    const [load] = shown.panels;
    assert.deepEqual(
      [
        load.title,
        load.data.result.map(({ name, last }: Json) => [name, last.value[1], last.state]),
      ],
      ['Load', [['h1 1m', '1', 'ok']]],
    );
    assert.deepEqual(
      [load.thresholds, load.position],
      [
        [
          { value: 2, state: 'warning' },
          { value: 4, state: 'critical' },
        ],
        { x: 0, y: 0, w: 12, h: 6 },
      ],
    );
    const every = await show('nodes', `?from=${end - 600_000}&to=${end}`);
    assert.equal(every.panels[0].data.result.length, 2);
    assert.equal(
      every.panels.find(({ title }: Json) => title === 'In a row').data.result[0].formatted,
      '600 %',
    );
    assert.equal(
      every.panels.find(({ title }: Json) => title === 'Lines').expanded_query,
      '{device_id=~"h.*"} |= "hello"',
    );
    assert.deepEqual(
      audit
        .filter(({ action }) => action === 'dashboard:import')
        .map(({ resourceType, resourceId, status: outcome }) => [
          resourceType,
          resourceId,
          outcome,
        ]),
      [['dashboard', 'nodes', 'success']],
    );
  });

  test('replaces nothing unless it may, never one of a plugin, and changes nothing in a rehearsal', async (t) => {
    const { ask } = await monitorHouse(t, { plugins: ['metricsdb', 'monitor'] });
    const small = {
      title: 'A Small Ône',
      panels: [{ type: 'stat', title: 'Up', targets: [{ expr: 'up' }] }],
    };
    const rehearsal = await ask('POST', `${path}?dry_run=true`, { body: small });
    assert.deepEqual(
      [rehearsal.status, rehearsal.body.uid, rehearsal.body.dry_run, rehearsal.body.taken[0].id],
      [200, 'a-small-ne', true, undefined],
    );
    assert.equal((await ask('GET', '/api/v1/monitor/panels')).body.total, 0);
    assert.equal(
      (await ask('POST', path, { body: { dashboard: small, meta: { slug: 'x' } } })).status,
      201,
    );
    assert.equal((await ask('POST', path, { body: small })).status, 409);
    assert.equal((await ask('POST', `${path}?dry_run=true`, { body: small })).status, 409);
    const again = await ask('POST', `${path}?overwrite=true`, {
      body: { ...small, title: 'A small ône', panels: [...small.panels, ...small.panels] },
    });
    assert.deepEqual([again.status, again.body.taken.length], [201, 2]);
    assert.equal((await ask('GET', '/api/v1/monitor/panels')).body.total, 2);
    for (const query of [
      '?uid=overview',
      '?uid=overview&overwrite=true',
      '?uid=overview&overwrite=true&dry_run=true',
    ]) {
      const { status, body } = await ask('POST', path + query, { body: small });
      assert.deepEqual([status, body.error], [409, 'conflict'], query);
    }
    assert.equal((await ask('POST', `${path}?uid=mine`, { body: small })).body.uid, 'mine');
    const refused = await ask('POST', path, {
      body: { title: 'x', panels: [{ type: 'news', title: 'Words' }] },
    });
    assert.deepEqual(
      [refused.status, refused.body.details],
      [400, [{ path: '/panel/Words', message: 'panels of type news are not supported' }]],
    );
    assert.equal((await ask('POST', path, { body: { hello: 1 } })).status, 400);
    assert.equal((await ask('POST', path, { as: 'vera', body: small })).status, 403);
  });

  test('comes back as it was, and with what was changed here since', async (t) => {
    const { ask } = await monitorHouse(t, { plugins: ['metricsdb', 'logs', 'monitor'] });
    const { body: report } = await ask('POST', path, { body: dashboard });
    const exported = async (): Promise<Json> =>
      (await ask('GET', '/api/v1/monitor/dashboards/nodes/export', { as: 'vera' })).body;
    assert.deepEqual(await exported(), dashboard);
    const again = await ask('POST', `${path}?overwrite=true`, { body: await exported() });
    assert.equal(again.status, 201, JSON.stringify(again.body));
    assert.deepEqual(again.body.left_out, report.left_out);
    const idOf = (title: string): number =>
      again.body.taken.find((one: Json) => one.title === title).id;
    const changes = { title: 'Load averages', unit: 'percent' };
    await ask('PATCH', `/api/v1/monitor/panels/${idOf('Load')}`, { body: changes });
    await ask('DELETE', `/api/v1/monitor/panels/${idOf('In a row')}`);
    const { panels } = await exported();
    assert.deepEqual(
      [
        panels[0].title,
        panels[0].fieldConfig.defaults.unit,
        panels[0].targets.length,
        panels[0].id,
      ],
      ['Load averages', 'percent', 3, 1],
    );
    assert.deepEqual([panels[1].title, panels[1].panels], ['Folded', []]);
    assert.deepEqual(panels.slice(2), dashboard.panels.slice(2));
  });

  test('of an older Grafana is drawn as the one of today would draw it', () => {
    const { panels } = translate({
      title: 'Old',
      rows: [
        {
          title: 'First',
          height: '250px',
          collapse: true,
          panels: [
            {
              type: 'graph',
              title: 'Network',
              span: 6,
              stack: true,
              fill: 4,
              yaxes: [{ format: 'bps', min: 0, logBase: 10 }, { format: 'percent' }],
              seriesOverrides: [{ alias: '/out/', transform: 'negative-Y' }],
              legend: { show: true, alignAsTable: true, values: true, max: true, avg: true },
              targets: [
                { expr: 'rate(in[1m])', refId: 'A' },
                { expr: 'rate(out[1m])', refId: 'B' },
              ],
            },
            {
              type: 'singlestat',
              title: 'Up',
              span: 3,
              format: 'percentunit',
              valueName: 'avg',
              colorValue: true,
              thresholds: '0.5,0.9',
              colors: ['red', 'orange', 'green'],
              gauge: { show: true, minValue: 0, maxValue: 1 },
              valueMaps: [{ op: '=', value: '1', text: 'all' }],
              targets: [{ expr: 'avg(up)' }],
            },
          ],
        },
      ],
    });
    const [row, network, up] = panels.map(({ panel }) => panel);
    assert.deepEqual([row!.type, row!.collapsed, row!.position.h], ['row', true, 1]);
    assert.deepEqual(
      [network!.type, network!.unit, network!.queries!.length, network!.position],
      ['timeseries', 'bits_per_second', 2, { x: 0, y: 1, w: 12, h: 7 }],
    );
    assert.deepEqual(network!.display, {
      min: 0,
      draw: 'line',
      fill: 0.4,
      stacking: 'normal',
      log: 10,
      legend: { mode: 'table', placement: 'bottom', calcs: ['max', 'mean'] },
    });
    assert.deepEqual(network!.overrides, [{ by: 'pattern', of: ['out'], set: { negate: true } }]);
    assert.deepEqual(
      [up!.type, up!.unit, up!.display, up!.mappings, up!.thresholds.map(({ state }) => state)],
      [
        'gauge',
        'ratio',
        { min: 0, max: 1, calc: 'mean', text: 'auto' },
        [{ value: '1', text: 'all' }],
        ['critical', 'warning', 'ok'],
      ],
    );
  });

  test('may be any JSON: it is taken, or refused with a sentence', () => {
    const panel = fc.record(
      {
        type: fc.oneof(
          fc.constantFrom('graph', 'timeseries', 'row', 'logs', 'stat'),
          fc.jsonValue(),
        ),
        title: fc.jsonValue(),
        datasource: fc.oneof(fc.constantFrom('Prometheus', '$ds', null), fc.jsonValue()),
        targets: fc.oneof(
          fc.array(
            fc.record(
              {
                expr: fc.oneof(fc.constant('up'), fc.jsonValue()),
                refId: fc.jsonValue(),
                legendFormat: fc.jsonValue(),
              },
              { requiredKeys: [] },
            ),
          ),
          fc.jsonValue(),
        ),
        gridPos: fc.oneof(
          fc.record({ x: fc.jsonValue(), y: fc.jsonValue(), w: fc.jsonValue(), h: fc.jsonValue() }),
          fc.jsonValue(),
        ),
        fieldConfig: fc.oneof(
          fc.record({
            defaults: fc.record({
              unit: fc.jsonValue(),
              thresholds: fc.record({ mode: fc.jsonValue(), steps: fc.jsonValue() }),
            }),
          }),
          fc.jsonValue(),
        ),
        panels: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const variable = fc.record(
      {
        name: fc.oneof(fc.constant('v'), fc.jsonValue()),
        type: fc.oneof(fc.constantFrom('query', 'custom', 'interval'), fc.jsonValue()),
        query: fc.jsonValue(),
        regex: fc.jsonValue(),
        current: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(panel), fc.array(variable), fc.jsonValue(), (panels, list, title) => {
        const { panels: taken } = translate({ title, panels, templating: { list } });
        for (const {
          panel: { position, title: name, query, type },
        } of taken) {
          assert.ok(
            position.x + position.w <= 24 &&
              position.y >= 0 &&
              position.h >= 1 &&
              name.length <= 200 &&
              query.length > 0 === (type !== 'row' && type !== 'text'),
          );
        }
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (anything) => {
        try {
          translate(anything);
        } catch (error) {
          assert.ok(isSvcError(error));
        }
      }),
    );
  });
});
