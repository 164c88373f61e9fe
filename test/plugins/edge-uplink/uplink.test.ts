import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Shipping, Uplink } from 'svc/contracts/edge-uplink';
import type { HostPolicy } from 'svc/edge-protocol';
import { startTestEdge } from 'svc/testing';
import { makeCredentials } from 'svc/tunnel';

import { systemClock, systemIds } from '../../../core/boot/time.ts';
import { startManager, until } from './far-side.ts';

const lamp = fileURLToPath(new URL('../../fixtures/edge-plugins/edge-lamp', import.meta.url));
const hash = 'a'.repeat(64);
const otherHash = 'b'.repeat(64);

const folder = (): string => mkdtempSync(join(tmpdir(), 'svc-uplink-'));
/** Removes a folder after what serves in it has stopped: hooks run in the order they were added. */
const remove = (t: TestContext, made: string): void =>
  t.after(() => rmSync(made, { recursive: true, force: true }));

async function pair(t: TestContext, policy?: string) {
  const dataDir = folder();
  const manager = await startManager(t);
  writeFileSync(join(dataDir, 'edge.json'), JSON.stringify(manager.credentials), { mode: 0o600 });
  if (policy !== undefined) {
    writeFileSync(join(dataDir, 'policy.yaml'), policy);
  }
  const edge = await startTestEdge(t, { plugins: ['edge-uplink', lamp, 'setting'], dataDir });
  remove(t, dataDir);
  return { dataDir, manager, edge, session: await manager.session() };
}

test('an enrolled agent connects, says who it is and what it can, and takes what is wanted of its plugins', async (t) => {
  const { manager, edge, session, dataDir } = await pair(t);

  await t.test('it tells its machine, its capabilities and its plugins', async () => {
    const [hello] = manager.hellos;
    assert.equal(
      hello!.agent_id,
      (JSON.parse(readFileSync(join(dataDir, 'machine.json'), 'utf8')) as { uuid: string }).uuid,
    );
    assert.ok(
      [
        'call:plugin_status',
        'call:config_apply',
        'call:rotate_secret',
        'call:lamp_watts',
        'stream:tcp',
        'webshell',
      ].every((cap) => hello!.caps.includes(cap)),
      hello!.caps.join(),
    );
    await until(
      'host_info and plugin_health are told',
      () => manager.events('host_info').length > 0 && manager.events('plugin_health').length > 0,
    );
    assert.equal(typeof manager.events('host_info')[0]!['cpu_count'], 'number');
    assert.equal(edge.host.explain('setting').state, 'discovered');
  });

  await t.test('a specification reloads the plugin with the defaults it declares', async () => {
    assert.equal(await session.call('lamp_watts', {}, { timeoutMs: 5_000 }), 40);
    const answer = await session.call(
      'config_apply',
      { hash, plugins: { lamp: { enabled: true, spec: { watts: 60 } } } },
      { timeoutMs: 5_000, idempotencyKey: 'k1' },
    );
    assert.deepEqual(answer, { hash });
    await until('the lamp has 60 watts', () => edge.host.explain('edge-lamp').generation === 2);
    const again = await manager.session();
    assert.equal(await again.call('lamp_watts', {}, { timeoutMs: 5_000 }), 60);
  });

  await t.test('what does not fit is not used, and shows as a crash with its reason', async () => {
    const current = await manager.session();
    await current.call(
      'config_apply',
      { hash: otherHash, plugins: { lamp: { enabled: true, spec: { watts: 0 } } } },
      { timeoutMs: 5_000, idempotencyKey: 'k2' },
    );
    const crashed = async () =>
      (
        await (
          await manager.session()
        ).call<{ health: { state: string; last_error: string } }[]>(
          'plugin_status',
          {},
          { timeoutMs: 5_000 },
        )
      )[0]!.health;
    await until('the lamp is off', () => edge.host.explain('edge-lamp').state === 'disabled');
    const { state, last_error } = await crashed();
    assert.equal(state, 'crashed');
    assert.match(last_error, /spec of lamp is invalid: \/watts/);
  });

  await t.test('what a plugin cannot do while it runs is told with its state', async () => {
    const health = async () => {
      const current = await manager.session();
      const [lamp] = await current.call<{ health: { state: string; last_error: string | null } }[]>(
        'plugin_status',
        {},
        { timeoutMs: 5_000 },
      );
      return [lamp!.health.state, lamp!.health.last_error];
    };
    const current = await manager.session();
    await current.call(
      'config_apply',
      { hash, plugins: { lamp: { enabled: true, spec: { watts: 1 } } } },
      { timeoutMs: 5_000, idempotencyKey: 'k2b' },
    );
    await until('the lamp is on', () => edge.host.explain('edge-lamp').state === 'active');
    assert.deepEqual(await health(), ['running', 'too dim to read by; use a stronger bulb']);
    await (
      await manager.session()
    ).call(
      'config_apply',
      { hash: otherHash, plugins: { lamp: { enabled: true, spec: { watts: 0 } } } },
      { timeoutMs: 5_000, idempotencyKey: 'k2c' },
    );
    await until('the lamp is off', () => edge.host.explain('edge-lamp').state === 'disabled');
  });

  await t.test('a plugin that breaks is started again, ever later', async () => {
    // What the edge serves has changed, so it is coming anew.
    await until(
      'the edge has said what it serves now',
      () => !manager.hellos.at(-1)!.caps.includes('call:lamp_watts'),
    );
    const current = await manager.session();
    await current.call(
      'config_apply',
      { hash, plugins: { lamp: { enabled: true, spec: { broken: true } } } },
      { timeoutMs: 5_000, idempotencyKey: 'k3' },
    );
    await until('it was tried again twice', () =>
      manager
        .events('plugin_health')
        .some(({ health }) => (health as { restart_count: number }).restart_count >= 2),
    );
    assert.match(edge.host.explain('edge-lamp').cause!, /the bulb is broken/);
    await (
      await manager.session()
    ).call(
      'config_apply',
      { hash, plugins: { lamp: { enabled: false, spec: {} } } },
      { timeoutMs: 5_000, idempotencyKey: 'k4' },
    );
    await until(
      'the manager hears that it is off',
      () =>
        (manager.events('plugin_health').at(-1)!['health'] as { state: string }).state ===
        'stopped',
    );
  });

  await t.test(
    'a new secret is proved on a second connection before the old one goes',
    async () => {
      const next = makeCredentials(systemIds(systemClock));
      const current = await manager.session();
      await assert.rejects(
        current.call(
          'rotate_secret',
          { secret_key: next.secret_key, generation: 2 },
          { timeoutMs: 20_000, idempotencyKey: 'r1' },
        ),
        /the old one stays/,
      );
      assert.equal(existsSync(join(dataDir, 'edge.next.json')), false);
      manager.behaviour.accept = false;
      await assert.rejects(
        current.call(
          'rotate_secret',
          { secret_key: next.secret_key, generation: 2 },
          { timeoutMs: 20_000, idempotencyKey: 'r1-lost' },
        ),
        /the old one stays/,
      );
      assert.equal(
        existsSync(join(dataDir, 'edge.next.json')),
        true,
        'the manager may have seen the proof: then this is the way back in',
      );
      manager.behaviour.accept = true;
      manager.keys.push({ ...next, access_key: manager.credentials.access_key });
      assert.deepEqual(
        await current.call(
          'rotate_secret',
          { secret_key: next.secret_key, generation: 2 },
          { timeoutMs: 20_000, idempotencyKey: 'r2' },
        ),
        {},
      );
      assert.equal(manager.hellos.at(-1)!.purpose, 'probe');
      const kept = join(dataDir, 'edge.json');
      assert.equal(
        (JSON.parse(readFileSync(kept, 'utf8')) as { secret_key: string }).secret_key,
        next.secret_key,
      );
      assert.equal(statSync(kept).mode & 0o777, 0o600);
      assert.equal(
        edge.lines.some((line) => line.includes(next.secret_key)),
        false,
      );
    },
  );
});

test('streams lead only where the owner of the machine allows it, whatever the manager says', async (t) => {
  const echo = createServer((socket) => void socket.pipe(socket)).listen(0, '127.0.0.1');
  t.after(() => echo.close());
  await until('the echo listens', () => echo.listening);
  const { port } = echo.address() as { port: number };
  const { session, dataDir } = await pair(t, `tcp: ["127.0.0.1:${port}"]\n`);

  for (const [host, to] of [
    ['10.0.0.1', 22],
    ['127.0.0.1', 22],
    ['localhost', port],
    ['127.0.0.1', String(port)],
  ] as const) {
    await assert.rejects(
      session.open('tcp', { host, port: to }),
      (error: { code: string }) => ['forbidden', 'invalid_argument'].includes(error.code),
      `${host}:${to}`,
    );
  }
  const stream = await session.open('tcp', { host: '127.0.0.1', port });
  stream.write('through the wall');
  const [heard] = (await once(stream, 'data')) as [Buffer];
  assert.equal(heard.toString(), 'through the wall');
  stream.destroy();

  writeFileSync(join(dataDir, 'policy.yaml'), 'tcp: everything\n');
  await assert.rejects(
    session.open('tcp', { host: '127.0.0.1', port }),
    /(does not allow|allows no)/,
  );
});

test('what is shipped arrives in order, through refusals, overload and an outage', async (t) => {
  const { manager, edge } = await pair(t);
  const ship = async (body: string, signal = 'metrics') =>
    await (await manager.session()).call('lamp_ship', { body, signal }, { timeoutMs: 10_000 });
  const taken: string[] = [];
  let trouble: number[] = [429, 503, 0];
  manager.behaviour.push = ({ body }, response) => {
    const status = body === 'poison' ? 400 : (trouble.shift() ?? 204);
    if (status === 0) {
      response.destroy();
      return;
    }
    if (status === 204) {
      taken.push(body);
    }
    response.writeHead(status, { 'retry-after': '0' }).end(status === 400 ? 'no such sample' : '');
  };

  for (const body of ['one', 'two', 'poison', 'three']) {
    await ship(body);
  }
  await until('all but the poison are taken', () => taken.length === 3);
  assert.deepEqual(taken, ['one', 'two', 'three']);
  assert.equal(manager.pushes[0]!.user, manager.credentials.access_key);
  assert.ok(edge.lines.some((line) => line.includes('no such sample') && line.includes('dropped')));
  const status = await (
    await manager.session()
  ).call<{ health: { samples: number } }[]>('plugin_status', {}, { timeoutMs: 5_000 });
  assert.equal(status[0]!.health.samples, 4);

  trouble = Array.from({ length: 1_000 }, () => 503);
  await ship('four');
  await ship('five');
  assert.deepEqual(taken, ['one', 'two', 'three']);
  const { dataDir } = edge;
  await edge.stop();
  trouble = [];
  const later = await startTestEdge(t, { plugins: ['edge-uplink', lamp], dataDir });
  await until('what has waited on disk is taken', () => taken.length === 5);
  assert.deepEqual(taken.slice(3), ['four', 'five']);
  await later.stop();
});

test('where the manager takes pushes through tunnels nothing else is opened for them, but for what is large', async (t) => {
  const { manager, edge, session } = await pair(t);
  const ship = async (body: string) =>
    await (
      await manager.session()
    ).call('lamp_ship', { body, signal: 'metrics' }, { timeoutMs: 10_000 });
  const ways = () =>
    manager.pushes.map(({ user, body }) => [user === '' ? 'tunnel' : 'request', body.slice(0, 7)]);
  await ship('before');
  await until('it went as a request', () => ways().length === 1);

  manager.behaviour.takesPushes = true;
  void session.close();
  await until('it is back', () => manager.hellos.length === 2);
  for (const body of ['one', 'haste', 'poison', 'large'.padEnd(200_000, '!')]) {
    await ship(body);
  }
  await until('all of it came', () => ways().length === 7);
  const haste = ['tunnel', 'haste'];
  assert.deepEqual(ways(), [
    ['request', 'before'],
    ['tunnel', 'one'],
    haste,
    haste,
    haste,
    ['tunnel', 'poison'],
    ['request', 'large!!'],
  ]);

  // While the tunnel is away for a moment nothing is sent around it.
  const last = await manager.session();
  manager.behaviour.accept = false;
  void last.close();
  await until('the tunnel is gone', () => !edge.service(Uplink).online);
  const head = {
    signal: 'metrics',
    path: '/api/v1/write',
    contentType: 'text/plain',
    items: 1,
    from: 'edge-lamp',
  } as const;
  await edge.service(Shipping).ship({ ...head, body: Buffer.from('patient') });
  manager.behaviour.accept = true;
  await until('it came', () => ways().length === 8);
  assert.deepEqual(ways().at(-1), ['tunnel', 'patient']);
});

test('what has to arrive is told until the manager has answered, and what the owner forbids stops by itself', async (t) => {
  const { manager, edge, dataDir } = await pair(t);
  await until('the machine is introduced', () => manager.events('host_info').length === 1);
  manager.behaviour.deaf = true;
  await edge.service(Uplink).report('lamp', { lit: true });
  await until('the tunnel has refused it', () =>
    edge.lines.some((line) => line.includes('"lane":"events"') && line.includes('not now')),
  );
  assert.deepEqual(manager.events('lamp'), []);
  manager.behaviour.deaf = false;
  await until('it is told again', () => manager.events('lamp').length > 0);
  assert.deepEqual(manager.events('lamp')[0], { lit: true });

  // A plugin that goes off changes the capabilities, so the edge may reconnect in the middle of a call.
  const asked = async <T>(method: string): Promise<T> => {
    try {
      return await (await manager.session()).call<T>(method, {}, { timeoutMs: 20_000 });
    } catch (error) {
      assert.match((error as Error).message, /capabilities changed/);
      return await asked<T>(method);
    }
  };
  const health = async () => {
    const [lamp] =
      await asked<{ health: { state: string; last_error: string | null } }[]>('plugin_status');
    return lamp!.health;
  };
  writeFileSync(join(dataDir, 'policy.yaml'), 'plugins: { allowed: [] }\n');
  await until('the lamp is off', () => edge.host.explain('edge-lamp').state === 'disabled');
  const { state, last_error: reason } = await health();
  assert.equal(state, 'stopped', 'the owner decided so: nothing crashed');
  assert.match(reason!, /owner can add it to "plugins\.allowed"/);

  writeFileSync(
    join(dataDir, 'policy.yaml'),
    'skills:\n  databases: ["orders=postgres://svc:s3cret@db/orders?password=s3cret"]\n' +
      'webshell: maybe\nplugin: { allowed: [lamp] }\n',
  );
  const policy = () => manager.events('policy').at(-1)?.['problem'];
  await until('the manager hears what is wrong', () => policy() !== null);
  assert.equal(
    policy(),
    `${join(dataDir, 'policy.yaml')} is invalid: line 4: the file has no key "plugin"; known keys: tcp, webshell, skills, plugins, logs; until it is corrected, "tcp", "logs" allow nothing and only plugins that measure the machine run; line 3: webshell must be true or false; until it is corrected, "webshell" allows nothing`,
  );
  assert.match((await health()).last_error!, /is invalid; the plugin starts once it is corrected/);
  const { skills, ...rest } = await asked<HostPolicy>('host_policy');
  assert.deepEqual(rest, {
    file: join(dataDir, 'policy.yaml'),
    source: 'file',
    problem: policy(),
    tcp: [],
    webshell: false,
    plugins: { allowed: [] },
    logs: { paths: [] },
  });
  assert.deepEqual(skills.databases, ['orders=postgres://svc:…@db/orders?…']);
  assert.ok(skills.enabled && skills.views.includes('*'));
  rmSync(join(dataDir, 'policy.yaml'));
  await until('the lamp is on again', () => edge.host.explain('edge-lamp').state === 'active');
  await until('the manager hears that all is well', () => policy() === null);
});

test('a data folder that was copied to another machine gives that one an identity of its own', async (t) => {
  const dataDir = folder();
  writeFileSync(
    join(dataDir, 'machine.json'),
    JSON.stringify({
      uuid: '0190a0a0-0000-7000-8000-000000000000',
      fingerprint: 'of another machine',
    }),
  );
  const edge = await startTestEdge(t, { plugins: ['edge-uplink'], dataDir });
  remove(t, dataDir);
  const { uuid } = JSON.parse(readFileSync(join(dataDir, 'machine.json'), 'utf8')) as {
    uuid: string;
  };
  assert.equal(uuid === '0190a0a0-0000-7000-8000-000000000000', !existsSync('/etc/machine-id'));
  await assert.rejects(
    startTestEdge(t, { plugins: ['edge-uplink'], dataDir }),
    /in use by another svc edge/,
  );
  await edge.stop();
});

test('what an earlier version kept of the desired state is asked for again, since it lacks the addresses of the manager', async (t) => {
  const dataDir = folder();
  const manager = await startManager(t);
  writeFileSync(join(dataDir, 'edge.json'), JSON.stringify(manager.credentials), { mode: 0o600 });
  const kept = join(dataDir, 'plugins/edge-uplink/desired.json');
  mkdirSync(dirname(kept), { recursive: true });
  writeFileSync(kept, JSON.stringify({ hash, plugins: {} }));
  const edge = await startTestEdge(t, { plugins: ['edge-uplink'], dataDir });
  remove(t, dataDir);
  const session = await manager.session();
  assert.equal((manager.hellos[0]!.state as { config_hash?: string }).config_hash, undefined);
  const apply = (managers: unknown, idempotencyKey: string) =>
    session.call(
      'config_apply',
      { hash, plugins: {}, managers },
      { timeoutMs: 20_000, idempotencyKey },
    );
  await assert.rejects(apply([{ url: 'https://u:p@other' }], 'm1'), /at most 8 managers/);
  await apply([{ url: 'http://127.0.0.1:1' }], 'm2');
  await edge.stop();
  const again = await startTestEdge(t, { plugins: ['edge-uplink'], dataDir });
  await until('it came again', () => manager.hellos.length === 2);
  assert.equal((manager.hellos[1]!.state as { config_hash?: string }).config_hash, hash);
  await again.stop();
});
