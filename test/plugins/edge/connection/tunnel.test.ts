import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { EdgeFleet } from 'svc/contracts/edge';
import { useNoLeaks } from 'svc/testing';

import { HandClock } from '../../alert/engine-house.ts';
import { around, edgeHouse, freshMachine, machine, simulator, until } from '../house.ts';

test('an edge is created, connects with its keys, introduces its machine and answers', async (t) => {
  const { house, ask, create, edge, simulate } = await edgeHouse(t);
  useNoLeaks(t, house);
  const keys = await create('web-1');
  assert.match(keys.access_key, /^svc_ak_/);
  assert.match(keys.secret_key, /^svc_sk_/);
  const pending = await edge(keys.id);
  assert.deepEqual(
    [pending.status, pending.last_registered_at, pending.secret_key, pending.device_id],
    ['pending', null, undefined, null],
  );
  assert.equal((await ask('GET', `/edges/${keys.id}/processes`)).status, 503);
  assert.equal((await ask('GET', '/edges/999/metrics')).status, 404);

  const row = {
    pid: 1,
    ppid: 0,
    name: 'init',
    cmdline: '/sbin/init',
    user: 'root',
    state: 'S',
    cpu_percent: 0.5,
    mem_percent: 1,
    rss_bytes: 4096,
    started_at: null,
  };
  const { session, welcome } = await simulate(keys, {
    version: 'v0.0.1',
    methods: {
      processes: {
        handle: ({ top, sort_by: by }) => ({
          sampled_at: '2026-11-22T00:00:00.000Z',
          processes: [{ ...row, name: `${by} ${top}`, extra: 1 }],
        }),
      },
      host_snapshot: {
        handle: () => ({
          sampled_at: '2026-11-22T00:00:00.000Z',
          metrics: { node_load1: 0.5, secret_thing: 3 },
        }),
      },
    },
    services: {
      echo: (stream) => void stream.pipe(stream),
    },
  });
  assert.deepEqual([welcome.body['edge_id'], welcome.body['name']], [keys.id, 'web-1']);
  session.emit('host_info', {
    hostname: 'web-1',
    os: 'linux',
    arch: 'x64',
    cpu_count: 2,
    constructor: 'x',
    ip_address: 'a\nb',
  });
  const online = await until('it watches a device', async () => {
    const now = await edge(keys.id);
    return now.device_id !== null && now;
  });
  assert.deepEqual(
    [online.status, online.agent_version, online.version_drift, online.host_info],
    [
      'online',
      'v0.0.1',
      true,
      { hostname: 'web-1', os: 'linux', arch: 'x64', ip_address: 'a b', cpu_count: 2 },
    ],
  );
  session.emit('buffer', { dropped: 'x', queued_bytes: 1, oldest_at: null });
  session.emit('buffer', {
    dropped: 3,
    queued_bytes: 1_000,
    oldest_at: '2026-11-22T00:00:00.000Z',
    more: 1,
  });
  const buffer = await until('its buffer is known', async () => (await edge(keys.id)).buffer);
  assert.deepEqual(buffer, {
    dropped: 3,
    queued_bytes: 1_000,
    oldest_at: '2026-11-22T00:00:00.000Z',
    damaged: [],
  });
  const device = (await ask('GET', `/devices/${online.device_id}`)).body;
  assert.deepEqual([device.online, device.hostname], [true, 'web-1']);
  assert.equal(
    (await ask('GET', `/devices/${online.device_id}/edges`)).body.items[0].name,
    'web-1',
  );

  const processes = await ask('GET', `/edges/${keys.id}/processes?top=3&sort_by=mem`);
  assert.deepEqual(
    [processes.status, processes.body.processes],
    [200, [{ ...row, name: 'mem 3' }]],
    processes.text,
  );
  const metrics = await ask('GET', `/edges/${keys.id}/metrics`);
  assert.deepEqual(
    [metrics.status, metrics.body.device_id, Object.keys(metrics.body.metrics).length],
    [200, online.device_id, 13],
    metrics.text,
  );
  assert.deepEqual(
    [
      metrics.body.metrics.node_load1,
      metrics.body.metrics.node_load5,
      metrics.body.metrics.secret_thing,
    ],
    [0.5, null, undefined],
  );

  const fleet = house.service(EdgeFleet);
  assert.deepEqual(fleet.capabilities(keys.id), {
    methods: ['processes', 'host_snapshot'],
    streams: ['echo'],
    webshell: false,
  });
  await assert.rejects(fleet.call(keys.id, 'upgrade', {}, { timeoutMs: 1_000 }), {
    code: 'unavailable',
  });
  const stream = await fleet.openStream(keys.id, 'echo', {});
  stream.end('hello');
  const heard: string[] = [];
  for await (const chunk of stream) {
    heard.push(String(chunk));
  }
  assert.equal(heard.join(''), 'hello');
  assert.deepEqual(
    (await ask('GET', '/edges?status=online&q=WEB&version_drift=true')).body.total,
    1,
  );
  assert.deepEqual((await ask('GET', '/edges?status=pending')).body.total, 0);

  await session.close();
  await until('the manager sees it', () => fleet.online().size === 0);
  assert.equal((await ask('GET', `/edges/${keys.id}/metrics`)).status, 503);
  assert.equal((await edge(keys.id)).status, 'online', 'a short break is nobody’s business');
});

test('a clock is compared by the moment in which the edge looked at it, and not at all when the proof was on its way for long', async (t) => {
  const clock = new HandClock();
  const { create, edge, simulate } = await edgeHouse(t, { clock });
  const skewOf = async (ahead: number, waitedMs = 0): Promise<unknown> => {
    const keys = await create();
    const now = (): number => {
      clock.advance(waitedMs);
      return clock.now() + ahead;
    };
    await simulate(keys, { now, machine: freshMachine() });
    return await until('it is online', async () => {
      const { status, clock_skew_ms: skew } = await edge(keys.id);
      return status === 'online' && [skew];
    });
  };
  assert.deepEqual(
    [await skewOf(0), await skewOf(-22_504), await skewOf(0, 1_000), await skewOf(0, 100_000)],
    [[0], [-22_504], [500], [null]],
  );

  // Compared again while the tunnel holds.
  const keys = await create();
  const { session } = await simulate(keys, {
    now: () => clock.now() - 22_504,
    machine: freshMachine(),
  });
  const tell = (payload: object) =>
    session.call('tell', { event: 'clock', payload }, { timeoutMs: 10_000 });
  assert.deepEqual(
    [await tell({}), (await edge(keys.id)).clock_skew_ms],
    [{ now: clock.now() }, -22_504],
  );
  await tell({ skew_ms: 12 });
  assert.equal((await edge(keys.id)).clock_skew_ms, 12);
  await tell({ skew_ms: 'soon' });
  assert.equal((await edge(keys.id)).clock_skew_ms, 12);

  // Our own clock steps: whose fault it was is not known any more.
  clock.jump(-3_600_000);
  await until('it is forgotten', async () => (await edge(keys.id)).clock_skew_ms === null);
  await tell({ skew_ms: 12 });
  assert.equal((await edge(keys.id)).clock_skew_ms, 12);
});

test('an edge that was taken off its device, or whose device is gone, watches none', async (t) => {
  const { ask, create, edge, simulate, house } = await edgeHouse(t);
  const fleet = house.service(EdgeFleet);
  const bound = async (n: number): Promise<[id: number, device: number]> => {
    const keys = await create();
    const { session } = await simulate(keys, { machine: machine(n) });
    session.emit('host_info', { hostname: `host-${n}` });
    const { device_id: device } = await until('it watches a device', async () => {
      const now = await edge(keys.id);
      return now.device_id !== null && now;
    });
    await session.close();
    await until('it is gone', () => !fleet.online().has(keys.id));
    return [keys.id, device];
  };
  const [[detached, from], [orphan, gone]] = [await bound(1), await bound(2)];
  assert.equal((await ask('DELETE', `/devices/${from}/edges/${detached}`)).status, 204);
  assert.equal((await ask('DELETE', `/devices/${gone}`)).status, 204);
  await until(
    'neither watches anything',
    async () =>
      (await edge(detached)).device_id === null && (await edge(orphan)).device_id === null,
  );
});

test('without the right secret nobody gets in, and a stranger cannot tell an unknown key from a wrong secret', async (t) => {
  const { create, simulate, ask } = await edgeHouse(t);
  const [one, other] = [await create('one'), await create('other')];
  const refusal = async (keys: { access_key: string; secret_key: string }): Promise<string> => {
    try {
      await simulate(keys);
    } catch (error) {
      return `${(error as { closeCode?: number }).closeCode} ${(error as Error).message}`;
    }
    return assert.fail('it was let in');
  };
  const wrong = await refusal({ access_key: one.access_key, secret_key: other.secret_key });
  assert.match(wrong, /^4401 /);
  assert.equal(await refusal({ access_key: 'svc_ak_nobody', secret_key: other.secret_key }), wrong);
  const { session } = await simulate(one);
  assert.equal((await ask('DELETE', `/edges/${one.id}`)).status, 204);
  assert.equal((await session.closed).code, 4403);
  assert.equal(await refusal(one), wrong);
});

test('a database that was stolen holds no secret', async (t) => {
  const { house, create } = await edgeHouse(t);
  const { secret_key: secret } = await create();
  const bytes = Buffer.concat(
    readdirSync(house.dataDir)
      .filter((name) => name.includes('.db'))
      .map((name) => readFileSync(`${house.dataDir}/${name}`)),
  );
  assert.ok(bytes.length > 0);
  assert.ok(!bytes.includes(secret) && !bytes.includes(secret.slice(7, 40)));
});

test('too many at once are told in plain HTTP when to come back', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-edge-'));
  writeFileSync(join(dataDir, 'svc.yaml'), 'edge:\n  handshakes_per_address: 1\n');
  const { create, simulate } = await edgeHouse(t, { dataDir });
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const keys = await create();
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      simulate(keys, { purpose: 'probe', machine: machine(index) }).then(
        () => 'in',
        (error: Error & { closeCode?: number; retry?: { minMs: number } }) =>
          error.retry && error.retry.minMs >= 1_000 ? `later ${error.closeCode}` : error.message,
      ),
    ),
  );
  assert.ok(outcomes.includes('later 4503'), String(outcomes));
  assert.ok(
    outcomes.every((outcome) => ['in', 'later 4503'].includes(outcome)),
    String(outcomes),
  );
});

test('after a restart of the manager edges come back when they are told to, and are shown as online meanwhile', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-edge-'));
  const first = await edgeHouse(t, { dataDir });
  const keys = await first.create();
  const { session } = await first.simulate(keys);
  await until('it is online', async () => (await first.edge(keys.id)).status === 'online');
  await first.house.stop();
  const end = await session.closed;
  assert.equal(end.code, 1012);
  assert.ok(end.retry && end.retry.maxMs >= 1_500 && end.retry.maxMs <= 3_000, JSON.stringify(end));

  const second = await edgeHouse(t, { dataDir });
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const back = around(second.house);
  const before = await back.edge(keys.id);
  assert.equal(before.status, 'online', 'it is awaited');
  assert.ok(before.last_seen_at);
  assert.equal((await back.ask('GET', `/edges/${keys.id}/metrics`)).status, 503);
  await simulator(t, second.house.url)(keys);
  assert.equal((await back.edge(keys.id)).status, 'online');
});
