import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { SvcError } from 'svc/sdk';
import { queryError } from 'svc/query';

import { parse, selectorsOf } from '../../../plugins/metricsdb/promql/index.ts';
import { gardenFolder, type Json, monitorHouse } from './house.ts';
import { matrix, standIns } from './stand-ins.ts';

const path = '/api/v1/observability/dashboards';

describe('the dashboards', () => {
  test('are those that are seeded, those of every plugin, and those of people', async (t) => {
    const { ask, show } = await monitorHouse(t, {
      plugins: ['monitor', gardenFolder],
      services: standIns().services,
    });
    await ask('POST', '/api/v1/monitor/panels', {
      body: { dashboard_uid: 'mine', title: 'Load', type: 'stat', query: 'node_load1' },
    });
    await ask('POST', '/api/v1/monitor/panels', {
      body: { dashboard_uid: 'pond', title: 'Fish', type: 'stat', query: 'garden_fish' },
    });
    const { body } = await ask('GET', `${path}?limit=200`, { as: 'vera' });
    const whole = body.items.filter(({ problem }: Json) => problem === undefined);
    assert.deepEqual(
      whole.map(({ uid, source, panels, variables }: Json) => [
        uid,
        source,
        panels > 0 && panels,
        variables,
      ]),
      [
        ['alerts', 'monitor', 8, []],
        ['beds', 'garden', 2, ['bed', 'every']],
        ['device', 'monitor', 14, ['device']],
        ['manager', 'monitor', 13, []],
        ['mine', 'user', 1, []],
        ['overview', 'monitor', 10, []],
        ['pond', 'garden', 2, []],
      ],
    );
    assert.equal(body.total, body.items.length);
    const { body: page } = await ask('GET', `${path}?limit=3`);
    const { body: rest } = await ask(
      'GET',
      `${path}?limit=200&cursor=${encodeURIComponent(page.next_cursor)}`,
    );
    assert.deepEqual(
      [...page.items, ...rest.items].map(({ uid }: Json) => uid),
      body.items.map(({ uid }: Json) => uid),
    );
    assert.deepEqual(
      (await show('pond')).panels.map(({ title, source, id }: Json) => [
        title,
        source,
        id === null,
      ]),
      [
        ['Depth', 'garden', true],
        ['Fish', 'user', false],
      ],
    );
    for (const { uid } of whole) {
      assert.equal((await show(uid)).uid, uid);
    }
    const missing = await ask('GET', `${path}/nowhere`);
    assert.deepEqual([missing.status, missing.body.error], [404, 'not_found']);
  });

  test('that are broken say why, and hurt no other', async (t) => {
    const { house, ask, show } = await monitorHouse(t, {
      plugins: ['monitor', gardenFolder],
      services: standIns().services,
    });
    assert.equal(house.host.explain('garden').state, 'active');
    const { body } = await ask('GET', `${path}?limit=200`);
    const broken = new Map(
      body.items
        .filter(({ problem }: Json) => problem !== undefined)
        .map(({ uid, problem }: Json) => [uid, problem]),
    );
    assert.deepEqual(
      [...broken.keys()],
      ['garden/dashboards/thief.yaml', 'strange', 'torn', 'wide'],
    );
    assert.match(
      String(broken.get('strange')),
      /strange\.json: panels\.0\.type must be one of timeseries, stat/,
    );
    assert.match(String(broken.get('torn')), /torn\.yaml: panels\.0 lacks "query"/);
    assert.match(
      String(broken.get('garden/dashboards/thief.yaml')),
      /its uid overview already belongs to the plugin monitor/,
    );
    assert.match(
      String(broken.get('wide')),
      /wide\.yaml: panels\.0 \(Too wide\): the grid has 24 columns/,
    );
    assert.equal((await show('overview')).title, 'Overview');
    const answer = await ask('GET', `${path}/torn`);
    assert.deepEqual([answer.status, answer.body.error], [409, 'conflict']);
  });

  test('come and go with their plugin, and change with its files', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-garden-'));
    const garden = join(folder, 'garden');
    cpSync(gardenFolder, garden, { recursive: true });
    const { house, ask, show } = await monitorHouse(t, {
      plugins: ['monitor', garden],
      services: standIns().services,
    });
    t.after(() => rmSync(folder, { recursive: true }));
    assert.equal((await show('beds')).title, 'Beds');
    await house.host.disable('garden');
    assert.equal((await ask('GET', `${path}/beds`)).status, 404);
    await house.host.enable('garden');
    assert.equal((await show('beds')).title, 'Beds');
    writeFileSync(
      join(garden, 'dashboards/beds.yaml'),
      'uid: beds\ntitle: Raised beds\npanels: [{ title: X, type: stat, query: garden_x }]\n',
    );
    writeFileSync(
      join(garden, 'dashboards/torn.yaml'),
      'uid: torn\ntitle: Mended\npanels: [{ title: X, type: stat, query: garden_x }]\n',
    );
    writeFileSync(join(garden, 'dashboards/wide.yaml'), 'uid: wide\npanels:\n  - { title: X, type');
    writeFileSync(
      join(garden, 'dashboards/thief.yaml'),
      `a: &a [x, x]\n${'bcdefg'.replaceAll(/./g, (name) => `${name}: &${name} [${`*${String.fromCharCode(name.charCodeAt(0) - 1)}, `.repeat(9)}]\n`)}`,
    );
    await house.reload('garden');
    const { body } = await ask('GET', `${path}?limit=200`);
    const problems = body.items.flatMap(({ problem }: Json) => problem ?? []);
    assert.match(
      problems.join(),
      /thief\.yaml: Excessive alias count.*wide\.yaml: Flow map.* at line 3/s,
    );
    assert.deepEqual(
      [(await show('beds')).title, (await show('torn')).title],
      ['Raised beds', 'Mended'],
    );
    await house.reload('monitor');
    assert.deepEqual(
      [(await show('beds')).title, (await show('overview')).title],
      ['Raised beds', 'Overview'],
    );
  });
});

describe('a dashboard that is shown', () => {
  test('asks each question once, with the step that was chosen, and knows the words of Grafana', async (t) => {
    const stores = standIns();
    const { ask, show } = await monitorHouse(t, { services: stores.services });
    const put = (title: string, query: string): Promise<unknown> =>
      ask('POST', '/api/v1/monitor/panels', {
        body: { dashboard_uid: 'mine', title, type: 'timeseries', query },
      });
    await put('A', 'rate(a[$__rate_interval])');
    await put('B', 'rate(a[$__rate_interval])');
    await put('C', 'last_over_time(b[$__interval:]) + $__range_s + $__interval_ms');
    const shown = await show('mine', '?from=1795190400&to=1795197600&step=30s');
    assert.deepEqual(
      [shown.from, shown.to, shown.step],
      ['2026-11-20T16:00:00.000Z', '2026-11-20T18:00:00.000Z', '30s'],
    );
    assert.deepEqual(stores.asked.map(({ query }) => query).sort(), [
      'last_over_time(b[30s:]) + 7200 + 30000',
      'rate(a[1m])',
    ]);
    assert.deepEqual(stores.asked[0]!.window, {
      start: 1_795_190_400_000,
      end: 1_795_197_600_000,
      step: 30_000,
    });
    assert.deepEqual(
      shown.panels.map(({ expanded_query: asked }: Json) => asked),
      ['rate(a[1m])', 'rate(a[1m])', 'last_over_time(b[30s:]) + 7200 + 30000'],
    );
  });

  test('goes by the settings: how often samples come, and how long it may take', async (t) => {
    const stores = standIns();
    const { house, ask, panel } = await monitorHouse(t, {
      plugins: ['monitor', 'setting'],
      services: stores.services,
    });
    const set = async (key: string, value: string): Promise<void> => {
      const { status, body } = await ask('PUT', `/api/v1/system-settings/monitor/${key}`, {
        body: { value },
      });
      assert.equal(status, 200, JSON.stringify(body));
    };
    await ask('POST', '/api/v1/monitor/panels', {
      body: {
        dashboard_uid: 'mine',
        title: 'A',
        type: 'timeseries',
        query: 'rate(a[$__rate_interval])',
      },
    });
    await set('sample_interval', '1m');
    assert.equal((await panel('mine', 'A')).expanded_query, 'rate(a[4m])');
    assert.equal(stores.asked.at(-1)!.window!.step, 60_000);

    await set('deadline', '1s');
    const never = new Promise<never>(() => undefined);
    stores.range = () => never;
    const { error } = await panel('mine', 'A');
    assert.equal(error.kind, 'timeout');
    assert.match(error.message, /no answer within the 1 s of the dashboard/);
    assert.ok(stores.asked.at(-1)!.options!.timeoutMs! <= 1_000);
    assert.equal(house.host.explain('monitor').strikes.length, 0);
  });

  test('asks few questions at a time, and no more once its reader has left', async (t) => {
    const stores = standIns();
    const { house, ask } = await monitorHouse(t, { services: stores.services });
    for (let index = 0; index < 20; index++) {
      await ask('POST', '/api/v1/monitor/panels', {
        body: {
          dashboard_uid: 'mine',
          title: `P ${index}`,
          type: 'timeseries',
          query: `m${index}`,
        },
      });
    }
    let aborted = 0;
    let started!: () => void;
    const four = new Promise<void>((resolve) => void (started = resolve));
    let gone!: () => void;
    const all = new Promise<void>((resolve) => void (gone = resolve));
    let running = 0;
    stores.range = (_query, options) =>
      new Promise((_resolve, reject) => {
        running += 1;
        if (running === 4) {
          started();
        }
        options!.signal!.addEventListener('abort', () => {
          aborted += 1;
          reject(queryError('canceled', 'canceled'));
          if (aborted === 4) {
            gone();
          }
        });
      });
    const client = request(`${house.url}${path}/mine`, {
      headers: { authorization: 'Bearer ada' },
    });
    client.on('error', () => undefined);
    client.end();
    await four;
    const closed = new Promise((resolve) => client.once('close', resolve));
    client.destroy();
    await closed;
    await all;
    assert.deepEqual([running, aborted], [4, 4]);
  });

  test('shows at most fifty series a panel, fewer when there are many panels of many points, and counts the rest', async (t) => {
    const stores = standIns();
    const { ask, panel } = await monitorHouse(t, { services: stores.services });
    const many = Array.from({ length: 70 }, (_, index) => ({ __name__: 'm', i: String(index) }));
    stores.range = async () => matrix(many, 600, ['careful']);
    const put = (title: string): Promise<unknown> =>
      ask('POST', '/api/v1/monitor/panels', {
        body: { dashboard_uid: 'mine', title, type: 'timeseries', query: 'm' },
      });
    await put('A');
    const one = await panel('mine', 'A', '?from=now-2h&step=15s');
    assert.deepEqual(
      [one.data.result.length, one.series_left_out, one.warnings],
      [50, 20, ['careful']],
    );
    for (let index = 0; index < 39; index++) {
      await put(`B ${index}`);
    }
    const crowded = await panel('mine', 'A', '?from=now-2h&step=15s');
    const points = 600;
    assert.deepEqual(
      [crowded.data.result.length, crowded.series_left_out],
      [Math.floor(240_000 / 40 / points), 70 - Math.floor(240_000 / 40 / points)],
    );
  });

  test('says for each panel what went wrong with it, and shows the others', async (t) => {
    const stores = standIns();
    const { ask, show, house } = await monitorHouse(t, { services: stores.services });
    const failures: Record<string, unknown> = {
      syntax: queryError('bad_data', '2:14: parse error: unexpected "}"'),
      slow: queryError('timeout', 'the query timed out'),
      huge: queryError('too_large', 'query processing would load too many samples'),
      away: new SvcError('upstream_error', 'http://prometheus refused the connection'),
      bug: new TypeError('secret-canary of undefined'),
    };
    for (const title of [...Object.keys(failures), 'fine']) {
      await ask('POST', '/api/v1/monitor/panels', {
        body: { dashboard_uid: 'mine', title, type: 'timeseries', query: title },
      });
    }
    stores.range = async (query) => {
      if (query in failures) {
        throw failures[query];
      }
      return matrix([{ __name__: 'fine' }]);
    };
    const { panels } = await show('mine');
    const errors = Object.fromEntries(panels.map(({ title, error }: Json) => [title, error]));
    assert.deepEqual(errors['syntax'], {
      kind: 'query',
      message: '2:14: parse error: unexpected "}"',
      line: 2,
      column: 14,
    });
    assert.deepEqual(
      [errors['slow'].kind, errors['huge'].kind, errors['away'].kind, errors['bug'].kind],
      ['timeout', 'too_large', 'store', 'internal'],
    );
    assert.ok(
      !JSON.stringify(panels).includes('secret-canary') &&
        house.lines.some((line) => line.includes('failed to render a panel')),
    );
    assert.equal(panels.find(({ title }: Json) => title === 'fine').data.result.length, 1);
  });
});

describe('a variable', () => {
  const series = [
    { __name__: 'garden_moisture', bed: '10' },
    { __name__: 'garden_moisture', bed: '9' },
    { __name__: 'garden_moisture', bed: 'a.b' },
  ];

  test('has the values that there are, stands for one, several or all of them, and is refused when there is no such', async (t) => {
    const stores = standIns();
    stores.series = async () => series;
    const { ask, show } = await monitorHouse(t, {
      plugins: ['monitor', gardenFolder],
      services: stores.services,
    });
    const moisture = async (query: string): Promise<unknown> =>
      (await show('beds', query)).panels.find(({ title }: Json) => title === 'Moisture')
        .expanded_query;
    assert.deepEqual((await show('beds')).variables, [
      {
        name: 'bed',
        title: 'Which bed',
        type: 'query',
        multi: true,
        all: true,
        value: ['$__all'],
        values: ['9', '10', 'a.b'],
      },
      {
        name: 'every',
        title: 'every',
        type: 'interval',
        multi: false,
        all: false,
        value: ['auto'],
        values: ['auto', '10m'],
      },
    ]);
    assert.equal(
      await moisture(''),
      'avg_over_time(garden_moisture{bed=~"(?:9|10|a\\\\.b)"}[15s])',
    );
    assert.equal(await moisture('?var-bed=9'), 'avg_over_time(garden_moisture{bed=~"9"}[15s])');
    assert.equal(
      await moisture('?var-bed=9&var-bed=a.b&var-every=10m'),
      'avg_over_time(garden_moisture{bed=~"(?:9|a\\\\.b)"}[10m])',
    );
    const injected = parse(
      String(await moisture(`?var-bed=${encodeURIComponent('"} or up{x=~".*')}`)),
    );
    assert.deepEqual(
      selectorsOf(injected).map(({ matchers }) =>
        matchers.map(({ name, matches }) => [name, matches('"} or up{x=~".*')]),
      ),
      [
        [
          ['bed', true],
          ['__name__', false],
        ],
      ],
    );
    for (const [query, message] of [
      ['?var-nobody=1', /no variable nobody; it has bed, every/],
      ['?var-every=7m', /must be one of auto, 10m/],
      ['?var-every=auto&var-every=10m', /takes one value/],
      ['?var-bed=9&var-bed=$__all', /takes \$__all alone/],
      ['?var-every=$__all', /does not allow/],
      ['?var-bed=' + 'x'.repeat(201), /var-bed/],
      ['?from=never', /not a time/],
      ['?step=0', /a step is/],
      ['?tenant=9', /tenant/],
    ] as const) {
      const { status, body } = await ask('GET', `${path}/beds${query}`);
      assert.deepEqual([status, body.error], [400, 'invalid_argument'], query);
      assert.match(JSON.stringify(body), message);
    }
  });

  test('that has nothing to choose from explains its panels; one whose store is away does, too', async (t) => {
    const stores = standIns();
    stores.range = async () => matrix([]);
    const { panel, show } = await monitorHouse(t, {
      plugins: ['monitor', gardenFolder],
      services: stores.services,
    });
    const { missing, data, error } = await panel('device', 'Load');
    assert.deepEqual([data, error], [{ result_type: 'matrix', result: [] }, undefined]);
    assert.match(
      missing.message,
      /the variable device has no values to choose from: no metric node_load1 in the last 1w; it comes from the plugin hostmetrics of the edge/,
    );
    assert.deepEqual(
      missing.metrics.map(({ name, seen }: Json) => [name, seen]),
      [['node_load1', 'never']],
    );
    stores.series = async () => {
      throw new SvcError('unavailable', 'the thread is starting');
    };
    const away = await show('device');
    assert.deepEqual([away.variables[0].error.kind, away.panels[0].error.kind], ['store', 'store']);
    assert.match(
      away.panels[0].error.message,
      /The variable device has no values: the thread is starting/,
    );
  });
});
