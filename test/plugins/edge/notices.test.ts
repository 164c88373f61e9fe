import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import type { TunnelMethod } from 'svc/tunnel';

import { edgeHouse, machine, until } from './house.ts';

const sample = fileURLToPath(new URL('../../fixtures/edge-sample', import.meta.url));

test('agents on one machine, and what an agent cannot do, are told with the edge', async (t) => {
  const { ask, create, edge, simulate, house } = await edgeHouse(t, {
    plugins: ['edge', 'device', 'topology', 'doctor', sample],
  });
  const join = async (
    n: number,
    {
      boot = 'boot-1',
      hostname = 'box',
      fingerprint = 'f1',
      methods,
    }: {
      boot?: string;
      hostname?: string;
      fingerprint?: string;
      methods?: Readonly<Record<string, TunnelMethod>>;
    } = {},
  ) => {
    const keys = await create(`agent-${n}`);
    const { session } = await simulate(keys, {
      machine: machine(n),
      boot,
      ...(methods && { methods }),
    });
    await session.call(
      'tell',
      { event: 'host_info', payload: { hostname, fingerprint } },
      { timeoutMs: 5_000 },
    );
    return { id: keys.id, session };
  };
  const first = await join(1);
  assert.equal((await edge(first.id)).notice, null);
  const second = await join(2);
  const third = await join(3);
  // A container shares the boot, a clone the machine id, and each may share the name.
  const others = [
    await join(4, { hostname: 'container' }),
    await join(5, { boot: 'boot-2' }),
    await join(6, { fingerprint: 'f2' }),
  ];
  assert.match(
    (await edge(first.id)).notice,
    new RegExp(
      `^runs on the same machine as edge ${second.id} \\(agent-2\\), edge ${third.id} \\(agent-3\\), so the machine counts as 3 devices .+"svc edge rm ${second.id}"$`,
    ),
  );
  for (const { id } of others) {
    assert.equal((await edge(id)).notice, null);
  }
  assert.ok(house.lines.some((line) => line.includes('edge.machine_shared')));
  await second.session.close();
  await third.session.close();
  await until('the first is alone', async () => (await edge(first.id)).notice === null);

  const health = {
    state: 'running',
    last_error: '/var/log/syslog cannot be read',
    restart_count: 0,
    started_at: null,
    updated_at: new Date().toISOString(),
    samples: 0,
  };
  const policy = {
    file: '/var/lib/svc-edge/policy.yaml',
    source: 'file',
    problem: null,
    tcp: [],
    webshell: true,
    skills: {
      enabled: true,
      paths: [],
      measure: [],
      views: [],
      containers: [],
      databases: [],
      kubeconfig: null,
      services: [],
      probes: [],
    },
    plugins: { allowed: ['*'] },
    logs: { paths: ['/var/log/**'] },
  };
  const seventh = await join(7, {
    boot: 'boot-7',
    hostname: 'other',
    fingerprint: 'f7',
    methods: { host_policy: { handle: () => ({ ...policy, more: 1 }) } },
  });
  assert.deepEqual((await ask('GET', `/edges/${seventh.id}/policy`)).body, policy);
  assert.equal((await ask('GET', `/edges/${first.id}/policy`)).status, 503);
  seventh.session.emit('policy', { problem: 'policy.yaml is invalid: line 3' });
  const stopped = { state: 'stopped', last_error: 'the owner does not allow it' };
  seventh.session.emit('plugin_health', { name: 'sample', health: { ...health, ...stopped } });
  await until('it is told', async () =>
    (await edge(seventh.id)).notice?.endsWith('line 3; sample: the owner does not allow it'),
  );
  const { items } = (await ask('GET', '/doctor')).body;
  const { verdict, detail, fix } = items.find(
    ({ subject }: { subject: string }) => subject === 'edges',
  );
  assert.equal(verdict, 'warn');
  assert.match(detail, /agent-7 have an invalid policy\.yaml/);
  assert.match(fix, /"svc edge show ID"/);
  seventh.session.emit('policy', { problem: null });
  await ask('PUT', `/edges/${seventh.id}/plugins/sample`, { enabled: false });
  await until('all is well', async () => (await edge(seventh.id)).notice === null);

  const lost = {
    lane: 'metrics',
    file: '/var/lib/svc-edge/wal/1.seg',
    bytes: 900,
    from: '2026-11-22T00:00:00.000Z',
    to: null,
  };
  const waiting = { dropped: 1, queued_bytes: 0, oldest_at: null };
  seventh.session.emit('buffer', { ...waiting, damaged: [lost] });
  await until('the loss is told', async () => (await edge(seventh.id)).notice !== null);
  assert.equal(
    (await edge(seventh.id)).notice,
    '900 bytes of unsent metrics from after 2026-11-22T00:00:00.000Z are lost: /var/lib/svc-edge/wal/1.seg is damaged; check the disk of that machine',
  );
  assert.deepEqual((await edge(seventh.id)).buffer, { ...waiting, damaged: [lost] });
  const [examined] = (await ask('GET', '/doctor')).body.items.filter(
    ({ subject }: { subject: string }) => subject === 'edges',
  );
  assert.match(examined.detail, /agent-7 have lost unsent data to a damaged buffer/);

  first.session.emit('plugin_health', { name: 'sample', health });
  await until('it is told', async () => (await edge(first.id)).notice !== null);
  assert.equal((await edge(first.id)).notice, 'sample: /var/log/syslog cannot be read');
  const listed = (await ask('GET', '/edges')).body.items;
  assert.equal(
    listed.find(({ id }: { id: number }) => id === first.id).notice,
    'sample: /var/log/syslog cannot be read',
  );
});
