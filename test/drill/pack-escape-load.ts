import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { startTestHost, type TestHost } from 'svc/testing';

import { type Ground, loot, type Try } from './pack-escape-ground.ts';

const route = {
  method: 'GET',
  path: '/api/v1/thief',
  access: 'public',
  summary: 'Tells what it took.',
};
const verb = {
  summary: 'Helps',
  example: 'svc thief help',
  method: 'DELETE',
  path: '/api/v1/thief',
  text: ['done'],
};
const code = `import { definePack } from 'svc/sdk';
console.log('${loot}');
export default definePack({ start() { console.log('${loot}'); }, routes: { 'GET /api/v1/thief': () => '${loot}' } });`;

/** Manifests that ask for rights, or take them. None was accepted: nothing of them may run, answer or change anything. */
const manifests: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'a public route': {},
  'a route for everybody who is signed in': { routes: [{ ...route, access: 'any' }] },
  'no right but code': { routes: [], mounts: [] },
  'the data folder': { permissions: { read: ['D'] } },
  'the keys': { permissions: { read: ['D/keys'] } },
  'the system': { permissions: { read: ['/etc'] } },
  'the root': { permissions: { read: ['/'] } },
  'a way around': { permissions: { read: ['/tmp/../etc'] } },
  'the network': { permissions: { network: true } },
  everything: { permissions: { read: ['/'], network: true, write: ['/'] } },
  'a critical place': { critical: true },
  'an early place': { early: true },
  trust: { trusted: ['child_process', 'process', 'timers', 'v8'] },
  'the process of svc': { kind: 'area', routes: [] },
  'a service of core': { requires: [{ service: 'core.keys', range: '^1.0.0' }] },
  'to be the audit trail': { provides: [{ service: 'audit.trail', version: '1.0.0' }] },
  'to be the loader': { provides: [{ service: 'packs.loader', version: '1.0.0' }] },
  'sealed columns': {
    sealed: [{ table: 'setting_values', row: 'category|key', columns: ['value'] }],
  },
  'paths of others': {
    mounts: ['/api/v1/users', '/'],
    routes: [{ ...route, path: '/api/v1/users' }],
  },
  'a setting of core': { settings: { 'data.secret_key': { schema: {}, description: 'x' } } },
  'a variable of the host': {
    settings: { 'thief.key': { schema: {}, env: 'SVC_SECRET_KEY', description: 'x' } },
  },
  'an action of others': { actions: { 'setting:reveal': 'x' } },
  'a command': { contributes: { 'cli.verbs': { 'thief help': verb } } },
  'an entry outside': { entry: '../../keys/secret.key' },
  'much memory': { limits: { heap_mb: 4096, rss_mb: 8192 } },
  'the edge': { runs_on: ['manager', 'edge'] },
};

/** Attempts by manifests that nobody has accepted, and by ones accepted for something else. */
export async function loadTries(
  ground: Ground,
): Promise<{ readonly tries: readonly Try[]; readonly end: () => Promise<void> }> {
  const undo: (() => unknown)[] = [];
  const dataDir = join(ground.home, 'data');
  const packs = join(ground.home, 'packs');
  const ids = Object.keys(manifests).map((_name, index) => `thief${index}`);
  ids.forEach((id, index) => lay(join(packs, id), id, Object.values(manifests)[index]!, dataDir));
  dropIn(packs);
  const extra = ['tables', 'linked', 'built', 'late'];
  const house = await startTestHost(
    { after: (step) => void undo.push(step as () => unknown) },
    {
      plugins: ['packs', 'version'],
      packs: [...ids, ...extra].map((id) => join(packs, id)),
      dataDir,
    },
  );
  const dropped = Object.keys(manifests).map((name, index): Try => ({
    stage: 'load',
    name,
    attempt: () => left(house, ids[index]!),
  }));
  const late = `${packs}/late/plugin.json`;
  return {
    tries: [
      ...dropped,
      ...['tables', 'linked', 'built'].map((id): Try => ({
        stage: 'load',
        name: `dropped in: ${id}`,
        attempt: () => left(house, id),
      })),
      { stage: 'load', name: 'not accepted', attempt: () => acceptedBy(house, 'late', {}) },
      {
        stage: 'load',
        name: 'accepted by a stranger',
        attempt: () => acceptedBy(house, 'late', { authorization: 'Bearer of-nobody' }),
      },
      {
        stage: 'load',
        name: 'accepted by the hash of another',
        attempt: () =>
          acceptedBy(house, 'late', { authorization: `Bearer ${house.token}` }, 'built'),
      },
      { stage: 'load', name: 'rights that came after the word', attempt: () => grown(house, late) },
      {
        stage: 'load',
        name: 'a word for what is closed',
        attempt: () => acceptedBy(house, 'thief3', { authorization: `Bearer ${house.token}` }),
      },
    ],
    end: async () => {
      for (const step of undo.toReversed()) {
        await step();
      }
    },
  };
}

function lay(
  folder: string,
  id: string,
  manifest: Readonly<Record<string, unknown>>,
  dataDir: string,
): void {
  mkdirSync(folder, { recursive: true });
  const every = {
    id,
    version: '1.0.0',
    title: 'Thief',
    description: 'Takes.',
    kind: 'pack',
    entry: 'index.ts',
    engines: { host: '^1.0.0' },
  };
  const text = JSON.stringify({
    ...every,
    mounts: [`/api/v1/${id}`],
    routes: [route],
    ...manifest,
  });
  writeFileSync(
    join(folder, 'plugin.json'),
    text.replaceAll('"D', `"${dataDir}`).replaceAll('/api/v1/thief"', `/api/v1/${id}"`),
  );
  writeFileSync(join(folder, 'index.ts'), code.replaceAll('/api/v1/thief', `/api/v1/${id}`));
}

/** Forms of a folder that no manifest tells of. */
function dropIn(packs: string): void {
  lay(join(packs, 'tables'), 'tables', { entry: undefined, routes: undefined, mounts: [] }, '');
  mkdirSync(join(packs, 'tables', 'migrations'));
  writeFileSync(
    join(packs, 'tables', 'migrations', '001-loot.sql'),
    `CREATE TABLE tables_loot (a TEXT) STRICT;`,
  );
  lay(join(packs, 'linked'), 'linked', {}, '');
  symlinkSync('/etc/passwd', join(packs, 'linked', 'k.txt'));
  lay(join(packs, 'built'), 'built', { entry: 'index.cjs' }, '');
  writeFileSync(join(packs, 'built', 'index.cjs'), `console.log('${loot}')`);
  lay(join(packs, 'late'), 'late', {}, '');
  cpSync(join(packs, 'late', 'index.ts'), join(packs, 'late', 'other.ts'));
}

/** Returns the traces of an unaccepted pack: its state, answers of its paths, output, changes. */
async function left(house: TestHost, id: string): Promise<string> {
  const { state, effects } = house.host.explain(id);
  const answers = await Promise.all(
    ['thief', id].map(async (path) => (await fetch(`${house.url}/api/v1/${path}`)).text()),
  );
  const printed = house.lines.filter((line) => line.includes(loot) && line.includes(id));
  const tables = house.host
    .list()
    .filter(
      (plugin) =>
        plugin.id === id &&
        plugin.lastAttempt?.timings['migrate'] !== undefined &&
        plugin.kind !== 'pack',
    );
  const runs = state === 'active' && id !== 'tables' ? loot : '';
  return `${runs} ${answers.join(' ')} ${printed.join(' ')} ${tables.length > 0 ? loot : ''} ${JSON.stringify(effects ?? '')}`;
}

async function acceptedBy(
  house: TestHost,
  id: string,
  headers: Record<string, string>,
  of = id,
): Promise<string> {
  const { hash } = await house.json<{ hash: string }>(`/api/v1/packs/${of}`);
  const answer = await fetch(`${house.url}/api/v1/packs/${id}/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ hash }),
  });
  return `${answer.ok ? loot : ''} ${await left(house, id)}`;
}

/** Accepted as it is; then it asks for more. What serves on is what was accepted. */
async function grown(house: TestHost, manifest: string): Promise<string> {
  const { hash } = await house.json<{ hash: string }>('/api/v1/packs/late');
  writeFileSync(
    manifest,
    JSON.stringify({
      id: 'late',
      version: '1.0.0',
      title: 'Thief',
      description: 'Takes.',
      kind: 'pack',
      entry: 'index.ts',
      engines: { host: '^1.0.0' },
      permissions: { network: true },
    }),
  );
  await house.reload('late').catch(() => undefined);
  const answer = await house.fetch('/api/v1/packs/late/accept', {
    method: 'POST',
    body: JSON.stringify({ hash }),
  });
  return `${answer.ok ? loot : ''} ${await left(house, 'late')}`;
}
