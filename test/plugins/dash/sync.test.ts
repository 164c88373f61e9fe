import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { DashboardViews, type DashboardView } from 'svc/contracts/monitor';
import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

import { dashboardJson } from '../../../plugins/dash/dashboard-json.ts';
import { translate } from '../../../plugins/monitor/grafana/translate.ts';
import { grafanaOf } from '../../../plugins/monitor/grafana/write.ts';
import type { Dashboard, DashboardPanel } from '../../../plugins/monitor/model/dashboard.ts';
import { type FakeGrafana, fakeGrafana } from './grafana.ts';

const view = (
  uid: string,
  more: Partial<Pick<DashboardView, 'title' | 'description'>> = {},
): DashboardView => {
  const panels: DashboardPanel[] = [
    {
      id: null,
      source: 'garden',
      title: 'Up',
      type: 'stat',
      query: 'up',
      legend: '',
      unit: 'none',
      thresholds: [{ value: 2, state: 'critical' }],
      position: { x: 0, y: 0, w: 6, h: 4 },
    },
  ];
  const whole = { uid, title: `Board ${uid}`, description: '', panels, ...more };
  return {
    ...whole,
    grafana: (sources) =>
      grafanaOf({ ...whole, source: 'garden', variables: [], sources: [] }, sources),
  };
};

interface Stand {
  readonly house: TestHost;
  readonly grafana: FakeGrafana;
  /** Dashboards of monitor; replaced by tests. */
  views: DashboardView[];
  sync(order?: object): Promise<{
    ok: boolean;
    changed: number;
    items: { kind: string; uid: string; result: string; detail: string }[];
  }>;
  results(order?: object): Promise<Record<string, string>>;
}

async function stand(t: TestContext, settings: Record<string, string> = {}): Promise<Stand> {
  const grafana = await fakeGrafana(t);
  const parts = { views: [view('one'), view('two')] };
  const house = await startTestHost(t, {
    plugins: ['dash'],
    services: {
      'monitor.views': { all: async () => parts.views },
      'metrics.queries': {},
      'logs.queries': {},
      'traces.queries': {},
    },
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8',
      SVC_PUBLIC_URL: 'https://svc.example',
      SVC_DASH_URL: grafana.url,
      SVC_DASH_TOKEN: 'glsa_admin',
      SVC_DASH_SVC_TOKEN: 'svc_pat_reader',
      ...settings,
    },
  });
  useNoLeaks(t, house);
  const sync: Stand['sync'] = (order = {}) =>
    house.json('/api/v1/integrations/dash/sync', { method: 'POST', body: JSON.stringify(order) });
  return Object.assign(parts, {
    house,
    grafana,
    sync,
    results: async (order?: object) =>
      Object.fromEntries(
        (await sync(order)).items.map(({ uid, kind, result }) => [
          kind === 'folder' ? 'folder' : uid,
          result,
        ]),
      ),
  });
}

const all = (result: string) => ({
  'svc-metrics': result,
  'svc-logs': result,
  'svc-traces': result,
  folder: result,
  'svc-one': result,
  'svc-two': result,
});

test('a Grafana is given data sources and dashboards that point back here, once', async (t) => {
  const house = await stand(t);
  const { grafana, results } = house;
  assert.deepEqual(await results({ dry_run: true }), all('created'));
  assert.deepEqual(grafana.writes, []);
  assert.deepEqual(await results(), all('created'));
  assert.deepEqual(
    [...grafana.sources.values()].map(({ type, url, secureJsonData }) => [
      type,
      url,
      secureJsonData.httpHeaderValue1,
    ]),
    [
      ['prometheus', 'https://svc.example/prometheus', 'Bearer svc_pat_reader'],
      ['loki', 'https://svc.example', 'Bearer svc_pat_reader'],
      ['tempo', 'https://svc.example/tempo', 'Bearer svc_pat_reader'],
    ],
  );
  assert.deepEqual(
    [...grafana.dashboards.values()].map(({ meta }) => meta.folderUid),
    ['svc', 'svc'],
  );
  const wrote = grafana.writes.length;
  const again = await house.sync();
  assert.deepEqual([again.changed, again.ok, grafana.writes.length], [0, true, wrote]);
  assert.equal(again.items[0]!.detail, 'Grafana reaches it');
  assert.ok(again.items.every(({ result }) => result === 'unchanged'));
  grafana.refusedBySvc = true;
  const refused = await house.sync();
  assert.deepEqual([refused.ok, refused.items[0]!.result], [false, 'failed']);
  assert.match(refused.items[0]!.detail, /cannot query it: 401 Unauthorized; .*dash\.svc_token/);
  grafana.refusedBySvc = false;

  // A restart remembers; what changes here changes there, and what is gone here goes there.
  await house.house.reload('dash');
  house.views = [view('one', { title: 'Renamed' })];
  assert.deepEqual(await results({ dry_run: true }), {
    ...all('unchanged'),
    'svc-one': 'updated',
    'svc-two': 'removed',
  });
  assert.deepEqual(await results(), {
    ...all('unchanged'),
    'svc-one': 'updated',
    'svc-two': 'removed',
  });
  assert.deepEqual(
    [...grafana.dashboards.values()].map(({ dashboard }) => dashboard.title),
    ['Renamed'],
  );
});

test('what people changed there is kept until it is to be overwritten', async (t) => {
  const house = await stand(t);
  const { grafana, results } = house;
  await results();
  const touch = (uid: string) => {
    const found = grafana.dashboards.get(uid)!;
    found.dashboard = {
      ...found.dashboard,
      title: `${uid}, mine`,
      version: found.dashboard.version + 1,
    };
  };
  touch('svc-one');
  assert.equal((await results())['svc-one'], 'kept');
  house.views = [view('one', { description: 'new' })];
  touch('svc-two');
  assert.deepEqual(await results(), { ...all('unchanged'), 'svc-one': 'kept', 'svc-two': 'kept' });
  assert.deepEqual(await results({ overwrite: true }), {
    ...all('unchanged'),
    'svc-one': 'updated',
    'svc-two': 'removed',
  });
  assert.equal(grafana.dashboards.get('svc-one')!.dashboard.title, 'Board one');

  // Moved into another folder, it stays there; a data source keeps the name it was given.
  grafana.folders.set('team', { uid: 'team', title: 'Team', version: 1 });
  grafana.dashboards.get('svc-one')!.meta.folderUid = 'team';
  Object.assign(grafana.sources.get('svc-logs'), { name: 'Our logs', url: 'http://elsewhere' });
  house.views = [view('one', { description: 'newer' })];
  assert.deepEqual(await results(), {
    'svc-metrics': 'unchanged',
    'svc-logs': 'updated',
    'svc-traces': 'unchanged',
    folder: 'unchanged',
    'svc-one': 'updated',
  });
  assert.equal(grafana.dashboards.get('svc-one')!.meta.folderUid, 'team');
  assert.deepEqual(
    [grafana.sources.get('svc-logs').name, grafana.sources.get('svc-logs').url],
    ['Our logs', 'https://svc.example'],
  );
});

test('somebody who writes at the same time, names that are taken and files that provision cost one object each', async (t) => {
  const { grafana, results, sync } = await stand(t);
  grafana.folders.set('mine', { uid: 'mine', title: 'svc', version: 3 });
  grafana.sources.set('x', { uid: 'x', name: 'svc logs', secureJsonData: {} });
  grafana.dashboards.set('other', {
    meta: {},
    dashboard: { uid: 'other', title: 'Board two', version: 1 },
  });
  const first = await sync();
  assert.equal(first.ok, false);
  const by = Object.fromEntries(
    first.items.map(({ uid, result, detail }) => [uid, `${result}: ${detail}`]),
  );
  assert.match(by['svc-logs']!, /^failed: Grafana has another data source by the name "svc logs"/);
  assert.match(by['svc']!, /^unchanged: a folder with that title/);
  assert.equal(by['svc-two'], 'created: ');
  assert.equal(grafana.dashboards.get('svc-two')!.dashboard.title, 'Board two (two)');
  assert.equal(grafana.dashboards.get('svc-two')!.meta.folderUid, 'mine');

  grafana.sources.delete('x');
  grafana.refusals.set('POST /api/datasources', [[403, { message: 'Permission denied' }]]);
  assert.match(
    (await sync()).items.find(({ uid }) => uid === 'svc-logs')!.detail,
    /Permission denied \(the token lacks permission; give its service account the role Admin\)/,
  );

  // The version moves between our read and our write, twice.
  let left = 2;
  grafana.before = (method, path) => {
    if (method === 'PUT' && path.endsWith('svc-metrics') && left-- > 0) {
      grafana.sources.get('svc-metrics').version += 1;
    }
  };
  grafana.sources.get('svc-metrics').url = 'http://elsewhere';
  assert.equal((await results())['svc-metrics'], 'updated');
  grafana.before = (method, path) =>
    void (
      method === 'PUT' &&
      path.endsWith('svc-metrics') &&
      (grafana.sources.get('svc-metrics').version += 1)
    );
  grafana.sources.get('svc-metrics').url = 'http://elsewhere';
  assert.match(
    (await sync()).items.find(({ uid }) => uid === 'svc-metrics')!.detail,
    /changed in Grafana 3 times meanwhile/,
  );
  grafana.before = () => undefined;

  grafana.sources.get('svc-metrics').readOnly = true;
  grafana.dashboards.get('svc-one')!.meta.provisioned = true;
  const provisioned = await results();
  assert.deepEqual([provisioned['svc-metrics'], provisioned['svc-one']], ['kept', 'kept']);
});

test('what was written before a kill is known by its tag; what is of somebody else is left alone', async (t) => {
  const { grafana, results } = await stand(t);
  grafana.folders.set('svc', { uid: 'svc', title: 'svc', version: 1 });
  grafana.dashboards.set('svc-one', {
    meta: { folderUid: 'svc' },
    dashboard: { uid: 'svc-one', title: 'half written', tags: ['svc'], version: 4, id: 90 },
  });
  grafana.dashboards.set('svc-two', {
    meta: { folderUid: 'svc' },
    dashboard: { uid: 'svc-two', title: 'not ours', tags: [], version: 4, id: 91 },
  });
  const { 'svc-one': one, 'svc-two': two } = await results();
  assert.deepEqual(
    [one, two, grafana.dashboards.get('svc-two')!.dashboard.title],
    ['updated', 'kept', 'not ours'],
  );
});

test('nothing is written into what is not set, not reached, too old or does not trust us', async (t) => {
  const refused = async (house: Stand, status: number, message: RegExp): Promise<void> => {
    const answer = await house.house.fetch('/api/v1/integrations/dash/sync', {
      method: 'POST',
      body: '{}',
    });
    const text = await answer.text();
    assert.equal(answer.status, status, text);
    assert.match(text, message);
    assert.ok(!text.includes('glsa_') && !text.includes('svc_pat_'), 'no secret');
    assert.deepEqual(house.grafana.writes, []);
  };
  await refused(await stand(t, { SVC_DASH_URL: '' }), 409, /dash\.url is not set/);
  await refused(
    await stand(t, { SVC_DASH_SVC_TOKEN: '' }),
    409,
    /dash\.svc_token is not set.*svc token create/,
  );
  await refused(
    await stand(t, { SVC_DASH_TOKEN: 'glsa_old' }),
    502,
    /does not accept the credentials/,
  );
  const old = await stand(t);
  old.grafana.version = '8.5.2';
  await refused(old, 502, /is Grafana 8\.5\.2; svc needs 9\.0 or later/);
  const test_ = await old.house.json('/api/v1/integrations/dash/test', { method: 'POST' });
  assert.deepEqual([test_.ok, test_.code, test_.version], [false, 'too_old', '8.5.2']);
  const other = await old.house.json('/api/v1/integrations/dash/test', {
    method: 'POST',
    body: JSON.stringify({ url: old.grafana.url }),
  });
  assert.equal(other.code, 'too_old');
  old.grafana.version = '12.0.1';
  const { code } = await old.house.json('/api/v1/integrations/dash/test', {
    method: 'POST',
    body: JSON.stringify({ url: old.grafana.url }),
  });
  assert.equal(code, 'unauthorized', 'the stored token is not sent to an address that is tried');
});

test('a dashboard comes back from Grafana as it went there', async (t) => {
  const house = await startTestHost(t, { plugins: ['monitor'] });
  const views = await house.service(DashboardViews).all();
  assert.ok(views.length >= 4);
  for (const one of views) {
    const { uid, variables, panels } = one as unknown as Dashboard;
    const back = translate(dashboardJson(one));
    assert.deepEqual(
      back.leftOut.filter(({ kind }) => kind !== 'time'),
      [],
      uid,
    );
    assert.deepEqual(
      back.panels.map(({ panel: { title: name, type, query, legend, thresholds, position } }) => ({
        name,
        type,
        query,
        legend,
        thresholds,
        position,
      })),
      panels.map(({ title: name, type, query, legend, unit, thresholds, position }) => ({
        name,
        type,
        query: unit === 'timestamp' ? `(${query}) * 1000` : query,
        legend,
        thresholds,
        position,
      })),
      uid,
    );
    assert.deepEqual(
      back.variables.map(({ variable: { name, type } }) => [name, type]),
      variables.map(({ name, type }) => [name, type]),
    );
  }
});
