import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type Json, monitorHouse } from './house.ts';
import { standIns } from './stand-ins.ts';

const path = '/api/v1/monitor/dashboards';
const panel = { title: 'Load', type: 'timeseries', query: 'node_load1' };

test('a dashboard is put whole, read whole, and put again without a difference', async (t) => {
  const { ask } = await monitorHouse(t, { services: standIns().services });
  const whole = {
    title: 'Ops',
    variables: [{ name: 'job', type: 'custom', values: ['a', 'b'] }],
    panels: [panel, { ...panel, title: 'Jobs', query: 'up{job="$job"}' }],
  };
  const made = await ask('PUT', `${path}/ops`, { as: 'mo', body: whole });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  assert.deepEqual(
    made.body.panels.map(({ title, position }: Json) => [title, position.y]),
    [
      ['Load', 0],
      ['Jobs', 8],
    ],
  );
  const list = async () => (await ask('GET', path, { as: 'vera' })).body.items as Json[];
  assert.deepEqual(await list(), [made.body]);
  const { uid: _uid, ...again } = made.body;
  assert.deepEqual((await ask('PUT', `${path}/ops`, { as: 'mo', body: again })).body, made.body);
  assert.deepEqual(await list(), [made.body]);
  assert.equal((await ask('PUT', `${path}/ops`, { as: 'vera', body: whole })).status, 403);
  const wrong = await ask('PUT', `${path}/ops`, {
    as: 'mo',
    body: { ...whole, panels: [{ ...panel, query: 'node_load1{' }] },
  });
  assert.equal(wrong.status, 400, JSON.stringify(wrong.body));
  assert.deepEqual(await list(), [made.body], 'what is refused changes nothing');
});

test('of a dashboard of a plugin users have the panels that they added, and nothing else', async (t) => {
  const { ask } = await monitorHouse(t, { services: standIns().services });
  const refused = await ask('PUT', `${path}/manager`, {
    as: 'mo',
    body: { title: 'Mine', panels: [panel] },
  });
  assert.equal(refused.status, 409, JSON.stringify(refused.body));
  const put = await ask('PUT', `${path}/manager`, {
    as: 'mo',
    body: { title: null, variables: [], panels: [panel] },
  });
  assert.deepEqual([put.status, put.body.title, put.body.panels.length], [200, null, 1]);
});
