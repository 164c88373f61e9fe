import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';

import { MetricsIngest } from 'svc/contracts/metricsdb';

import { parseSearch } from '../../../plugins/device/search-terms.ts';
import { deviceHouse } from './house.ts';

const now = Date.now();

/** Three hosts with tags, roles and figures; web-10 has a critical alert. */
async function threeHosts(t: TestContext) {
  const { house, connect, ask } = await deviceHouse(t, {
    plugins: ['device', 'topology', 'metricsdb', 'setting', 'programs'],
  });
  await connect(1, 1, {
    hostname: 'shop-db',
    os: 'Rocky',
    os_version: '9',
    ip_address: '10.0.0.10',
  });
  await connect(2, 2, {
    hostname: 'web-9',
    os: 'Debian',
    os_version: '12',
    ip_address: '10.0.0.9',
  });
  await connect(3, 3, { hostname: 'web-10', os: 'Debian', os_version: '12' });
  await ask('PATCH', '/devices/1', { tags: { env: 'prod' } });
  await ask('PATCH', '/devices/3', { tags: { env: 'test', owner: 'Ann Lee' } });
  await ask('PATCH', '/devices/1/roles', { roles: ['db'] });
  await ask('PATCH', '/devices/2/roles', { roles: ['web', 'cache'] });
  const row = (name: string, id: number, value: number, more = {}) => ({
    labels: { __name__: name, device_id: String(id), ...more },
    time: now,
    value,
  });
  await house
    .service(MetricsIngest)
    .write([
      row('node_cpu_usage_percent', 1, 91),
      row('node_cpu_usage_percent', 2, 12),
      row('node_load1', 2, 3),
      row('node_filesystem_used_percent', 1, 40, { mountpoint: '/' }),
      row('node_filesystem_used_percent', 1, 95, { mountpoint: '/var' }),
      row('ALERTS', 3, 1, { alertname: 'x', alertstate: 'firing', severity: 'critical' }),
      row('ALERTS', 2, 1, { alertname: 'x', alertstate: 'pending', severity: 'critical' }),
    ]);
  const search = async (text: string, sort = 'name'): Promise<string> => {
    const query = new URLSearchParams({ search: text, sort });
    const { body, status, text: said } = await ask('GET', `/devices/search?${query.toString()}`);
    assert.equal(status, 200, said);
    assert.equal(body.total, body.items.length);
    return body.items.map((one: { display_name: string }) => one.display_name).join(' ');
  };
  return { ask, search };
}

test('one search finds devices by names, roles, tags, systems, figures and alerts', async (t) => {
  const { search } = await threeHosts(t);
  for (const [text, found] of [
    ['', 'shop-db web-9 web-10'],
    ['WEB', 'web-9 web-10'],
    ['role:db', 'shop-db'],
    ['role:db,cache', 'shop-db web-9'],
    ['env=prod', 'shop-db'],
    ['env!=prod', 'web-9 web-10'],
    ['tag:owner', 'web-10'],
    ['owner="Ann Lee"', 'web-10'],
    ['os:rocky', 'shop-db'],
    ['os:"debian 12" -web-9', 'web-10'],
    ['address:10.0.0.9', 'web-9'],
    ['cpu > 80', 'shop-db'],
    ['cpu>80%', 'shop-db'],
    ['-cpu>80', 'web-9 web-10'],
    ['disk >= 95 env=prod', 'shop-db'],
    ['node_load1 == 3', 'web-9'],
    ['incident:any', 'web-10'],
    ['incident:critical', 'web-10'],
    ['incident:warning', ''],
    ['status:offline', 'shop-db web-9 web-10'],
    ['name:web role:db', ''],
  ] as const) {
    assert.equal(await search(text), found, text);
  }
});

test('a search is sorted by any column, and what has no value is last', async (t) => {
  const { search, ask } = await threeHosts(t);
  assert.equal(await search('', '-name'), 'web-10 web-9 shop-db');
  assert.equal(await search('', 'cpu'), 'web-9 shop-db web-10');
  assert.equal(await search('', '-cpu'), 'shop-db web-9 web-10');
  assert.equal(await search('', 'address'), 'web-9 shop-db web-10');
  assert.equal(await search('', '-incidents'), 'web-10 shop-db web-9');
  const { body } = await ask('GET', '/devices/search?sort=-cpu&limit=2');
  assert.deepEqual(
    [body.total, body.items.length, body.items[0].cpu, body.items[0].disk, body.items[1].load],
    [3, 2, 91, 95, 3],
  );
  const next = await ask('GET', `/devices/search?sort=-cpu&limit=2&cursor=${body.next_cursor}`);
  assert.deepEqual(
    next.body.items.map((one: { display_name: string; firing: number; severity: string }) => [
      one.display_name,
      one.firing,
      one.severity,
    ]),
    [['web-10', 1, 'critical']],
  );
});

test('groups have their health, and each device has a cell, with a figure if one is asked for', async (t) => {
  const { ask } = await threeHosts(t);
  const { body } = await ask('GET', '/devices/groups?by=tag:env');
  assert.deepEqual(body.groups, [
    { name: 'prod', devices: 1, offline: 1, critical: 0, warning: 0 },
    { name: 'test', devices: 1, offline: 1, critical: 1, warning: 0 },
    { name: '', devices: 1, offline: 1, critical: 0, warning: 0 },
  ]);
  const cells = await ask('GET', '/devices/cells?search=web');
  assert.deepEqual(cells.body, {
    total: 2,
    cells: [
      { id: 2, name: 'web-9', state: 'offline' },
      { id: 3, name: 'web-10', state: 'offline' },
    ],
  });
  const valuesOf = async (figure: string): Promise<unknown> =>
    (await ask('GET', `/devices/cells?figure=${figure}`)).body.cells.map(
      ({ name, value }: Record<string, unknown>) => [name, value],
    );
  assert.deepEqual(await valuesOf('disk'), [
    ['shop-db', 95],
    ['web-9', null],
    ['web-10', null],
  ]);
  assert.deepEqual(await valuesOf('node_load1'), [
    ['shop-db', null],
    ['web-9', 3],
    ['web-10', null],
  ]);
  assert.equal((await ask('GET', '/devices/cells?figure=a%7Bb')).status, 400);
});

test('a view is saved under a name, replaced, listed and deleted', async (t) => {
  const { ask } = await threeHosts(t);
  const path = '/devices/views';
  const made = await ask('POST', path, { name: ' Databases ', query: 'q=role%3Adb&sort=-cpu' });
  assert.equal(made.status, 201, made.text);
  await ask('POST', path, { name: 'All', query: '' });
  const again = await ask('POST', path, { name: 'Databases', query: 'q=role%3Adb' });
  assert.equal(again.body.id, made.body.id);
  const { body } = await ask('GET', path);
  assert.deepEqual(
    body.views.map(({ name, query }: Record<string, unknown>) => [name, query]),
    [
      ['All', ''],
      ['Databases', 'q=role%3Adb'],
    ],
  );
  for (const wrong of [
    { name: ' ', query: '' },
    { name: 'x', query: 'q=a#b' },
    { name: 'x', query: 'q=a b' },
    { name: 'x'.repeat(81), query: '' },
  ]) {
    assert.equal((await ask('POST', path, wrong)).status, 400, JSON.stringify(wrong));
  }
  for (let at = 2; at < 100; at++) {
    assert.equal((await ask('POST', path, { name: `view ${at}`, query: '' })).status, 201);
  }
  const full = await ask('POST', path, { name: 'one more', query: '' });
  assert.deepEqual([full.status, /saved 100 views/.test(full.text)], [409, true], full.text);
  assert.equal((await ask('POST', path, { name: 'All', query: 'view=map' })).status, 201);
  assert.equal((await ask('DELETE', `${path}/${made.body.id}`)).status, 204);
  const gone = await ask('DELETE', `${path}/${made.body.id}`);
  assert.deepEqual([gone.status, /You have no saved view/.test(gone.text)], [404, true]);
});

test('a search that cannot be read says where, and what can be written', async (t) => {
  const { ask } = await threeHosts(t);
  for (const [text, message] of [
    ['colour:red', /no field colour; use one of name, host/],
    ['name:"open', /cannot be read at name:/],
    ['status:up', /use online or offline/],
    ['> 80', /cannot be read at >/],
    [Array.from({ length: 21 }, () => 'a').join(' '), /more than 20 conditions/],
  ] as const) {
    const { status, body } = await ask('GET', `/devices/search?search=${encodeURIComponent(text)}`);
    assert.deepEqual([status, message.test(body.message)], [400, true], body.message);
  }
});

test('a search of any characters is read or refused, in little time', () => {
  const parts = ['"', '\\', ':', '=', '!', '<', '>', '-', ' ', 'a', '80', '%', '{', "'", '\0', 'é'];
  let seed = 7;
  const next = (): number => (seed = (seed * 48_271) % 2_147_483_647);
  for (let round = 0; round < 5_000; round++) {
    const text = Array.from({ length: next() % 12 }, () => parts[next() % parts.length]).join('');
    try {
      assert.ok(parseSearch(text).length <= 20);
    } catch (error) {
      assert.match(
        (error as { reason?: string }).reason ?? String(error),
        /^device\.search_/,
        text,
      );
    }
  }
});
