import assert from 'node:assert/strict';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, test, type TestContext } from 'node:test';

import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

import { onDisk } from '../../on-disk.ts';

const home = mkdtempSync(join(onDisk(), 'svc-acceptance-'));
after(() => rmSync(home, { recursive: true, force: true }));

const route = {
  method: 'GET',
  path: '/api/v1/lamp',
  access: 'public',
  summary: 'Tells what it found.',
};
const asked = { entry: 'index.ts', mounts: ['/api/v1/lamp'], routes: [route] };
const answering = (value: string): string => `import { definePack } from 'svc/sdk';
export default definePack({ routes: { 'GET /api/v1/lamp': () => (${value}) } });`;

interface Shown {
  readonly id: string;
  readonly state: string;
  readonly rights: readonly string[];
  readonly hash: string;
  readonly accepted: boolean;
  readonly accepted_by: string | null;
  readonly refused: string | null;
}

/** Creates the pack `lamp`: a manifest with files. */
function lamp(
  manifest: object = asked,
  files: Readonly<Record<string, string>> = { 'index.ts': answering('{ lit: true }') },
): string {
  const folder = join(mkdtempSync(join(home, 'case-')), 'lamp');
  mkdirSync(folder);
  describe(folder, manifest);
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

function describe(folder: string, manifest: object): void {
  const every = {
    id: 'lamp',
    version: '1.0.0',
    title: 'Lamp',
    description: 'Shines.',
    kind: 'pack',
    engines: { host: '^1.0.0' },
  };
  writeFileSync(join(folder, 'plugin.json'), JSON.stringify({ ...every, ...manifest }));
}

const houseWith = (t: TestContext, pack: string, dataDir?: string): Promise<TestHost> =>
  startTestHost(t, {
    plugins: ['packs', 'audit'],
    packs: [pack],
    ...(dataDir !== undefined && { dataDir }),
  });

const shown = (house: TestHost): Promise<Shown> => house.json<Shown>('/api/v1/packs/lamp');

const accept = (house: TestHost, hash: string): Promise<Shown> =>
  house.json<Shown>('/api/v1/packs/lamp/accept', {
    method: 'POST',
    body: JSON.stringify({ hash }),
  });

const revoke = (house: TestHost): Promise<Shown> =>
  house.json<Shown>('/api/v1/packs/lamp/revoke', { method: 'POST', body: '{}' });

const anonymously = (house: TestHost): Promise<Response> => fetch(`${house.url}/api/v1/lamp`);

test('a pack that was dropped in waits with its rights shown, serves once they are accepted by hash, and ends when they are revoked', async (t) => {
  const house = await houseWith(t, lamp());
  useNoLeaks(t, house);
  const { state, cause } = house.host.explain('lamp');
  assert.equal(state, 'waiting');
  assert.match(
    cause!,
    /^it waits for acceptance: it runs code .*answers GET \/api\/v1\/lamp for everybody, without signing in/,
  );
  assert.equal((await anonymously(house)).status, 503);
  const before = await shown(house);
  assert.deepEqual([before.accepted, before.accepted_by, before.refused], [false, null, null]);
  assert.equal((await fetch(`${house.url}/readyz`)).status, 200);

  const wrong = await house.fetch('/api/v1/packs/lamp/accept', {
    method: 'POST',
    body: JSON.stringify({ hash: '0'.repeat(64) }),
  });
  assert.equal(wrong.status, 409);
  assert.equal(house.host.explain('lamp').state, 'waiting');

  const after = await accept(house, before.hash);
  assert.deepEqual([after.state, after.accepted], ['active', true]);
  assert.deepEqual(await (await anonymously(house)).json(), { lit: true });

  assert.deepEqual(
    [(await revoke(house)).state, (await anonymously(house)).status],
    ['waiting', 503],
  );
  await house.settled();
  assert.deepEqual(
    readdirSync(join(house.dataDir, 'cache', 'packs', 'lamp')),
    [],
    'the copy of its files is gone',
  );
  const { items } = await house.json<{
    items: { action: string; resource_id: string; status: string }[];
  }>('/api/v1/admin/audit-logs');
  const rows = items
    .filter(({ resource_id: id }) => id === 'lamp')
    .map(({ action, status }) => `${action} ${status}`);
  assert.deepEqual(rows.toSorted(), [
    'pack:accept failure',
    'pack:accept success',
    'pack:revoke success',
  ]);
});

test('accepted rights outlast a restart; other rights wait again while what was accepted serves on', async (t) => {
  const folder = lamp();
  const dataDir = mkdtempSync(join(home, 'data-'));
  const first = await houseWith(t, folder, dataDir);
  await accept(first, (await shown(first)).hash);
  await first.stop();

  const house = await houseWith(t, folder, dataDir);
  assert.equal(house.host.explain('lamp').state, 'active');
  describe(folder, { ...asked, permissions: { network: true } });
  await assert.rejects(
    house.reload('lamp'),
    /change pending: it waits for acceptance: .*opens network connections/,
  );
  assert.deepEqual(await (await anonymously(house)).json(), { lit: true });
  const { hash, accepted, state } = await shown(house);
  assert.deepEqual([accepted, state], [false, 'active']);
  await accept(house, hash);
  assert.equal(house.host.explain('lamp').generation, 2);

  // What was accepted once needs no second word.
  describe(folder, asked);
  await house.reload('lamp');
  assert.equal(house.host.explain('lamp').generation, 3);
});

test('other code with the same rights needs no new word; a change of any right does', async (t) => {
  const folder = lamp();
  const house = await houseWith(t, folder);
  const { hash } = await shown(house);
  await accept(house, hash);
  writeFileSync(join(folder, 'index.ts'), answering('{ lit: false }'));
  await house.reload('lamp');
  assert.deepEqual(await (await anonymously(house)).json(), { lit: false });

  const changes: readonly object[] = [
    { permissions: { read: ['/srv'] } },
    { permissions: { network: true } },
    { routes: [{ ...route, method: 'POST' }] },
    { routes: [{ ...route, access: 'any' }] },
    { limits: { rss_mb: 512 } },
    { mounts: ['/api/v1/lamp', '/api/v1/lamp/more'] },
    { actions: { 'lamp:light': 'Light it.' } },
    {
      settings: {
        'lamp.colour': { schema: { type: 'string' }, default: 'red', description: 'Colour.' },
      },
    },
    { contributes: { 'cli.verbs': { 'lamp light': { method: 'POST', path: '/api/v1/lamp' } } } },
  ];
  const hashes = new Set([hash]);
  for (const change of changes) {
    describe(folder, { ...asked, ...change });
    await assert.rejects(house.reload('lamp'), /change pending/, JSON.stringify(change));
    hashes.add((await shown(house)).hash);
  }
  assert.equal(hashes.size, changes.length + 1);
});

test('the host that a setting has by default is accepted by name, and another default is another right', async (t) => {
  const withDefault = (value: unknown): object => ({
    ...asked,
    permissions: { hosts: ['{lamp.url}'] },
    settings: { 'lamp.url': { schema: {}, default: value, description: 'x' } },
  });
  const folder = lamp(withDefault(''));
  const house = await houseWith(t, folder);
  const hashes = new Set<string>();
  for (const [value, said] of [
    ['', 'calls the host in its setting lamp.url, through svc'],
    [
      'https://evil.example.com/x',
      'calls the host in its setting lamp.url, by default evil.example.com, through svc',
    ],
    [
      ['https://a.example.com', 'https://b.example.com:8443'],
      'calls the host in its setting lamp.url, by default a.example.com, b.example.com:8443, through svc',
    ],
    [['https://*.example.com'], 'calls the host in its setting lamp.url, through svc'],
  ] as const) {
    describe(folder, withDefault(value));
    await house.reload('lamp').catch(() => undefined);
    const { rights, hash } = await shown(house);
    assert.ok(rights.includes(said), `${said} of ${rights.join('; ')}`);
    hashes.add(hash);
  }
  assert.equal(hashes.size, 3);
});

test('hosts that are no names of hosts are refused with the manifest', async (t) => {
  const folder = lamp();
  const house = await houseWith(t, folder);
  for (const host of [
    '*',
    '*.com',
    '**.example.com',
    'a.*.example.com',
    '*example.com',
    'https://api.example.com',
    'api.example.com/path',
    'user@api.example.com',
    'api.example.com:*',
    'api.example.com:8443-9000',
    'api.example.com:123456',
    'API.example.com',
    'api .example.com',
    'api.example.com\n',
    '{lamp}',
    '{lamp.url}/x',
    '{lamp.url}.example.com',
    '',
  ]) {
    describe(folder, { ...asked, permissions: { hosts: [host] } });
    await assert.rejects(house.reload('lamp'), /permissions|hosts/, JSON.stringify(host));
  }
  describe(folder, { ...asked, permissions: { hosts: ['{other.url}'] } });
  await house.reload('lamp').catch(() => undefined);
  assert.match((await shown(house)).refused ?? '', /names the host \{other\.url\}, but has no/);
});

test('what would reach into svc or the system is refused whatever an administrator says', async (t) => {
  const folder = lamp();
  const inside = mkdtempSync(join(home, 'granted-'));
  const house = await houseWith(t, folder);
  const link = join(home, 'link-to-etc');
  symlinkSync('/etc', link);
  const refusals: readonly (readonly [object, RegExp])[] = [
    ...[
      house.dataDir,
      join(house.dataDir, 'keys'),
      '/',
      '/etc',
      '/proc/self',
      '/root',
      link,
      `${inside}${'/..'.repeat(12)}/etc`,
    ].map(
      (read) =>
        [
          { permissions: { read: [read] } },
          /folders of svc and of the system are closed to packs/,
        ] as const,
    ),
    [{ mounts: ['/api/v1/users'], routes: [] }, /a pack answers below \/api\/v1\/lamp only/],
    [{ actions: { 'users:delete': 'Delete.' } }, /actions of a pack must begin with "lamp:"/],
    [
      { settings: { 'http.addr': { schema: {}, description: 'x' } } },
      /settings of a pack must begin with "lamp\."/,
    ],
    [
      { settings: { 'lamp.key': { schema: {}, env: 'SVC_SECRET_KEY', description: 'x' } } },
      /their variables with SVC_LAMP_/,
    ],
  ];
  for (const [change, cause] of refusals) {
    describe(folder, { ...asked, ...change });
    await house.reload('lamp').catch(() => undefined);
    const { refused, hash } = await shown(house);
    assert.match(refused ?? 'not refused', cause, JSON.stringify(change));
    assert.equal(
      (
        await house.fetch('/api/v1/packs/lamp/accept', {
          method: 'POST',
          body: JSON.stringify({ hash }),
        })
      ).status,
      409,
    );
    assert.equal(house.host.explain('lamp').state, 'waiting');
  }
  for (const manifest of [
    { critical: true },
    { early: true },
    { sealed: [{ table: 'lamp_a', row: 'id', columns: ['b'] }] },
  ]) {
    describe(folder, { ...asked, ...manifest });
    await assert.rejects(house.reload('lamp'), /only plugins that ship with svc/);
  }
});

test('a granted folder is read, unless a link leads out of it; a hard link or a link in the folder of a pack is refused', async (t) => {
  const granted = mkdtempSync(join(home, 'granted-'));
  writeFileSync(join(granted, 'map.txt'), 'a map');
  const read = `require('node:fs').readFileSync(${JSON.stringify(join(granted, 'map.txt'))}, 'utf8')`;
  const folder = lamp(
    { ...asked, entry: 'index.js', permissions: { read: [granted] } },
    { 'index.js': answering(`{ map: ${read} }`) },
  );
  const house = await houseWith(t, folder);
  const { hash } = await shown(house);
  symlinkSync('/etc', join(granted, 'out'));
  await accept(house, hash);
  assert.match(house.host.explain('lamp').cause!, /the link .*out" leads out/);
  rmSync(join(granted, 'out'));
  await house.reload('lamp');
  assert.deepEqual(await (await anonymously(house)).json(), { map: 'a map' });

  linkSync(join(granted, 'map.txt'), join(folder, 'hard.txt'));
  await assert.rejects(house.reload('lamp'), /hard\.txt is a link/);
  rmSync(join(folder, 'hard.txt'));
  symlinkSync('/etc/hostname', join(folder, 'soft.txt'));
  await assert.rejects(house.reload('lamp'), /soft\.txt is a symbolic link/);
});

test('personas and skills are data: a pack of them alone waits for nobody', async (t) => {
  const folder = lamp({}, { 'README.md': 'nothing yet' });
  const house = await houseWith(t, folder);
  assert.equal(house.host.explain('lamp').state, 'active');
});
