import assert from 'node:assert/strict';
import { test } from 'node:test';

import { DeviceReports, type ReportedHost } from 'svc/contracts/device';

import { deviceHouse } from './house.ts';

const host = (name: string, more: Partial<ReportedHost> = {}): ReportedHost => ({
  name,
  addresses: [],
  online: true,
  info: { os: 'Linux' },
  ...more,
});

test('a host that a store reports is the device that an agent watches, or a new one, or the one of an agent that comes later', async (t) => {
  const { house, ask, deviceOf, connect, fleet } = await deviceHouse(t);
  const reports = house.service(DeviceReports);
  const web = await deviceOf(1, 1, { hostname: 'web-1.example.org', ip_address: '10.0.0.1' });
  const mail = await deviceOf(2, 2, { hostname: 'mail', ip_address: '10.0.0.2' });
  const twins = [
    await deviceOf(3, 3, { hostname: 'node', ip_address: '10.0.0.3' }),
    await deviceOf(4, 4, { hostname: 'node', ip_address: '10.0.0.4' }),
  ];

  const hosts = [
    host('WEB-1'),
    host('10.0.0.2:9100', { addresses: ['10.0.0.2'] }),
    host('node', { addresses: ['10.0.0.4'] }),
    host('fresh', { addresses: ['127.0.0.1'] }),
    host('asleep', { online: false }),
  ];
  const before = await reports.match('prod', hosts);
  assert.deepEqual([...before.keys()], ['WEB-1', '10.0.0.2:9100', 'node']);
  const found = await reports.report('prod', hosts);
  const idOf = (name: string): number => found.get(name)!.device_id;
  assert.deepEqual(
    ['WEB-1', '10.0.0.2:9100', 'node'].map(idOf),
    [web, mail, twins[1]],
    'by its name with or without domain, by its address, and by both where a name is not enough',
  );
  assert.deepEqual(
    hosts.map(({ name }) => found.get(name)!.has_agent),
    [true, true, true, false, false],
  );
  const fresh = idOf('fresh');
  const shown = (await ask('GET', `/devices/${fresh}`)).body;
  assert.deepEqual(
    [shown.display_name, shown.online, shown.reported_by, shown.os],
    ['fresh', true, ['prod'], 'Linux'],
  );
  assert.equal((await ask('GET', `/devices/${web}`)).body.hostname, 'web-1.example.org');
  const online = (await ask('GET', '/devices?online=false')).body.items;
  assert.deepEqual(
    online.map(({ display_name: name }: { display_name: string }) => name),
    ['asleep'],
  );

  // Last seen is the time of the newest sample, of one that is down as well.
  const now = Date.now();
  const seen = async (name: string): Promise<number> =>
    Date.parse((await ask('GET', `/devices/${idOf(name)}`)).body.last_seen_at);
  await reports.report('prod', [
    host('fresh', { seen_at: now + 5_000 }),
    host('asleep', { online: false, seen_at: now - 3_600_000 }),
    host('gone', { online: false, seen_at: now - 7_200_000 }),
  ]);
  assert.equal(await seen('fresh'), now + 5_000);
  const gone = (await ask('GET', '/devices?q=gone')).body.items[0];
  assert.equal(Date.parse(gone.last_seen_at), now - 7_200_000, 'it was down when it was found');

  // Neither a second report nor a second store makes another device of it.
  const again = await reports.report('prod', hosts);
  const other = await reports.report('lab', [host('Fresh', { info: {} })]);
  assert.deepEqual([again.get('fresh')!.device_id, other.get('Fresh')!.device_id], [fresh, fresh]);

  // It cannot be deleted while a store would bring it back, and is never deleted by itself.
  assert.equal((await ask('DELETE', `/devices/${fresh}`)).status, 409);
  await reports.report('prod', []);
  await reports.withdraw('lab');
  const offline = (await ask('GET', `/devices/${fresh}`)).body;
  assert.deepEqual([offline.online, offline.display_name.toLowerCase()], [false, 'fresh']);

  // An agent that is installed on it later is the same device; one that only says so of a machine is not.
  const adopted = await connect(9, 9, { hostname: 'fresh' });
  assert.deepEqual([adopted.status, adopted.device_id], ['bound', fresh]);
  assert.equal((await reports.report('prod', hosts)).get('fresh')!.has_agent, true);
  fleet.up.delete(9);
  const stranger = await connect(10, 10, { hostname: 'fresh' });
  assert.notEqual(stranger.device_id, fresh);
});
