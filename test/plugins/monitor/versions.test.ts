import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type Json, monitorHouse } from './house.ts';
import { standIns } from './stand-ins.ts';

const path = '/api/v1/monitor/dashboards';
const panel = { title: 'Load', type: 'timeseries', query: 'node_load1' };

test('each change of a dashboard is a version that says what it changed, and can be restored', async (t) => {
  const { ask, show } = await monitorHouse(t, { services: standIns().services });
  const put = (body: object) => ask('PUT', `${path}/ops`, { as: 'mo', body });
  const draft = async (): Promise<Json> => (await ask('GET', `${path}/ops`)).body;
  const versions = async (): Promise<Json[]> =>
    (await ask('GET', `${path}/ops/versions`, { as: 'vera' })).body.items;
  const detail = async (version: number, query = ''): Promise<Json> =>
    (await ask('GET', `${path}/ops/versions/${version}${query}`, { as: 'vera' })).body;

  await put({ title: 'Ops', panels: [panel, { ...panel, title: 'Memory' }] });
  const first = await draft();
  assert.equal(first.version, 1);
  const [load, memory] = first.panels;

  const changed = {
    title: 'Operations',
    variables: [{ name: 'job', type: 'custom', values: ['a'] }],
    panels: [
      { ...load, position: { x: 12, y: 0, w: 12, h: 8 } },
      { ...memory, query: 'node_memory_free' },
      { ...panel, title: 'New' },
    ],
    version: 1,
  };
  assert.equal((await put(changed)).status, 200);
  const second = await draft();
  assert.deepEqual(
    second.panels.slice(0, 2).map(({ id }: Json) => id),
    [load.id, memory.id],
    'panels keep their ids',
  );
  const late = await put(changed);
  assert.equal(late.status, 409, JSON.stringify(late.body));
  assert.match(late.body.message, /version 2, made by mo@example.org/);

  const { against, author, changes } = await detail(2);
  assert.deepEqual([against, author], [1, 'mo@example.org']);
  assert.deepEqual(
    changes.map(({ kind, what, name }: Json) => `${kind} ${what} ${name}`),
    [
      'changed dashboard Operations',
      'added variable job',
      'moved panel Load',
      'changed panel Memory',
      'added panel New',
    ],
  );
  assert.deepEqual(changes[2].fields, [
    {
      field: 'position',
      before: 'column 1, row 1, 12 wide, 8 high',
      after: 'column 13, row 1, 12 wide, 8 high',
    },
  ]);
  assert.deepEqual(changes[3].fields, [
    { field: 'query', before: 'node_load1', after: 'node_memory_free' },
  ]);

  // A single panel is a change as well, and so is the deletion, which can be undone.
  assert.equal(
    (await ask('DELETE', `/api/v1/monitor/panels/${load.id}`, { as: 'mo' })).status,
    204,
  );
  assert.equal((await ask('DELETE', `${path}/ops`, { as: 'mo' })).status, 204);
  assert.deepEqual(
    (await versions()).map(({ version, deleted, panels }) => [version, deleted, panels]),
    [
      [4, true, 0],
      [3, false, 2],
      [2, false, 3],
      [1, false, 2],
    ],
  );
  assert.equal((await ask('POST', `${path}/ops/versions/4/restore`, { as: 'mo' })).status, 409);
  assert.equal((await ask('POST', `${path}/ops/versions/2/restore`, { as: 'vera' })).status, 403);
  const restored = await ask('POST', `${path}/ops/versions/2/restore`, { as: 'mo' });
  assert.equal(restored.status, 200, JSON.stringify(restored.body));
  const shown = await show('ops');
  assert.equal(shown.title, 'Operations');
  assert.deepEqual(shown.panels.map(({ title }: Json) => title).toSorted(), [
    'Load',
    'Memory',
    'New',
  ]);
  assert.deepEqual(
    (await detail(5, '?against=2')).changes.filter(({ kind }: Json) => kind === 'changed'),
    [],
    'what was restored is what it was',
  );
  assert.equal((await ask('GET', `${path}/ops/versions/9`)).status, 404);
});

test('of the versions of a dashboard the last fifty stay, and what was there before the first change', async (t) => {
  const { ask } = await monitorHouse(t, { services: standIns().services });
  const made = await ask('POST', '/api/v1/monitor/panels', {
    as: 'mo',
    body: { ...panel, dashboard_uid: 'busy' },
  });
  for (let round = 1; round <= 52; round++) {
    await ask('PATCH', `/api/v1/monitor/panels/${made.body.id}`, {
      as: 'mo',
      body: { title: `Round ${round}` },
    });
  }
  const { body } = await ask('GET', `${path}/busy/versions?limit=100`);
  assert.deepEqual([body.total, body.items[0].version, body.items.at(-1).version], [50, 53, 4]);
});

test('a dashboard is copied, also one of a plugin, and neither is changed by the other', async (t) => {
  const { ask, show } = await monitorHouse(t, { services: standIns().services });
  const body = { uid: 'mine', title: 'Mine' };
  const copied = await ask('POST', `${path}/manager/copy`, { as: 'mo', body });
  assert.equal(copied.status, 201, JSON.stringify(copied.body));
  const [origin, mine] = [await show('manager'), await show('mine')];
  assert.deepEqual(
    mine.panels.map(({ title, source }: Json) => [title, source]),
    origin.panels.map(({ title }: Json) => [title, 'user']),
  );
  assert.equal((await ask('POST', `${path}/manager/copy`, { as: 'mo', body })).status, 409);
  assert.equal(
    (await ask('POST', `${path}/mine/copy`, { as: 'mo', body: { uid: 'manager', title: 'M' } }))
      .status,
    409,
  );
  await ask('DELETE', `${path}/mine`, { as: 'mo' });
  assert.equal((await show('manager')).panels.length, origin.panels.length);
});

test('a preview draws panels that are not saved, and saves nothing', async (t) => {
  const { ask, show } = await monitorHouse(t, { services: standIns().services });
  const preview = (uid: string, body: object, as: 'mo' | 'vera' = 'mo') =>
    ask('POST', `/api/v1/observability/dashboards/${uid}/preview`, { as, body });
  const repeated = { ...panel, query: 'up{job="$job"}', repeat: { variable: 'job' } };
  const { status, body } = await preview('fresh', {
    variables: [{ name: 'job', type: 'custom', values: ['a', 'b'], multi: true, all: true }],
    panels: [panel, repeated],
  });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(
    body.panels.map(({ id, data }: Json) => [id, data.result.length]),
    [
      [1, 1],
      [2, 1],
    ],
    'each panel once, by its place',
  );
  assert.equal((await ask('GET', '/api/v1/observability/dashboards/fresh')).status, 404);
  assert.equal((await preview('fresh', { variables: [], panels: [] }, 'vera')).status, 403);

  const own = await show('manager');
  const added = await preview('manager', { variables: [], panels: [panel] });
  assert.deepEqual(
    [added.body.panels.length, added.body.panels.filter(({ id }: Json) => id === 1).length],
    [own.panels.length + 1, 1],
  );
});
