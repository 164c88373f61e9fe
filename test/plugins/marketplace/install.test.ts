import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { useNoLeaks } from 'svc/testing';

import {
  ask,
  cleaned,
  folderFor,
  manifest,
  personaText,
  putFiles,
  sha256,
  skillText,
  startMarket,
  tgz,
  upload,
  uploadConfirmed,
} from './market.ts';

test('a pack of texts is installed by one call, serves at once, is updated, rolled back, and leaves nothing', async (t) => {
  const house = await startMarket(t);
  useNoLeaks(t, house);
  const files = {
    'plugin.json': manifest('disks'),
    'skills/disk-doctor/SKILL.md': skillText('disk-doctor'),
    'agents/disk-clerk.md': personaText('disk-clerk'),
  };
  const { status, body } = await upload(house, files);
  assert.equal(status, 201, JSON.stringify(body));
  assert.deepEqual(
    [body.pack_id, body.version, body.state, body.verdict, body.skills, body.agents],
    ['disks', '1.0.0', 'active', 'pass', ['disk-doctor'], ['disk-clerk']],
  );
  assert.equal(body.sha256, sha256(tgz(files)));
  assert.equal(body.signed_by, null);
  const detail = await ask(house, 'GET', '/installed/disks');
  assert.equal(
    detail.body.files.find(({ path }: { path: string }) => path === 'skills/disk-doctor/SKILL.md')
      .sha256,
    sha256(Buffer.from(files['skills/disk-doctor/SKILL.md'])),
  );

  const next = {
    ...files,
    'plugin.json': manifest('disks', { version: '2.0.0' }),
    'skills/raid/SKILL.md': skillText('raid'),
  };
  const updated = await upload(house, next);
  assert.deepEqual(
    [updated.status, updated.body.version, updated.body.version_before, updated.body.skills],
    [201, '2.0.0', '1.0.0', ['disk-doctor', 'raid']],
  );

  const back = await ask(house, 'POST', '/installed/disks/rollback');
  assert.deepEqual(
    [back.status, back.body.version, back.body.version_before, back.body.state],
    [200, '1.0.0', '2.0.0', 'active'],
    JSON.stringify(back.body),
  );
  assert.ok(!existsSync(join(house.dataDir, 'packs/disks/skills/raid')));

  assert.equal((await ask(house, 'POST', '/installed/disks/disable')).body.state, 'disabled');
  assert.equal((await ask(house, 'POST', '/installed/disks/enable')).body.state, 'active');
  assert.equal((await ask(house, 'DELETE', '/installed/disks')).status, 204);
  assert.deepEqual((await ask(house, 'GET', '/installed')).body.items, []);
  assert.deepEqual(readdirSync(join(house.dataDir, 'packs')), []);
  assert.deepEqual(
    (await ask(house, 'GET', '/history')).body.items.map(
      ({ action }: { action: string }) => action,
    ),
    ['uninstall', 'rollback', 'update', 'install'],
  );
  assert.equal((await ask(house, 'DELETE', '/history/disks')).status, 204);
  assert.deepEqual((await ask(house, 'GET', '/history')).body.items, []);
});

test('a pack is had as a file names it: that content with that ceiling, and no other', async (t) => {
  const house = await startMarket(t);
  useNoLeaks(t, house);
  const route = { method: 'GET', path: '/api/v1/lamp', access: 'any', summary: 'Tells.' };
  const code = (value: number) =>
    `import { definePack } from 'svc/sdk'; export default definePack({ routes: { 'GET /api/v1/lamp': () => ({ lit: ${value} }) } });`;
  const folder = folderFor(t, {
    'plugin.json': manifest('lamp', {
      entry: 'index.js',
      mounts: ['/api/v1/lamp'],
      routes: [route],
    }),
    'index.js': code(1),
  });
  const preview = await ask(house, 'POST', '/preview', { folder });
  assert.equal(preview.status, 200, JSON.stringify(preview.body));
  const file = {
    version: '1.0.0',
    source: { kind: 'folder', from: folder, path: '' },
    sha256: null,
    content_hash: preview.body.content_hash,
    ceiling: { classes: ['safe'], tools: [], hosts: ['example.org'], labels: [] },
    admitted: { personas: [], mcp_servers: [] },
  };
  const other = await ask(house, 'PUT', '/installed/lamp', {
    ...file,
    content_hash: '0'.repeat(64),
  });
  assert.equal(other.status, 409);
  assert.match(other.body.message, /which differs from the one in the file/);
  assert.equal(
    (await ask(house, 'PUT', '/installed/torch', file)).status,
    409,
    'it is the pack lamp',
  );
  const had = await ask(house, 'PUT', '/installed/lamp', file);
  assert.deepEqual(
    [had.status, had.body.state, had.body.content_hash, had.body.ceiling],
    [200, 'active', file.content_hash, file.ceiling],
    JSON.stringify(had.body),
  );
  assert.deepEqual(await house.json('/api/v1/lamp'), { lit: 1 });
  putFiles(folder, { 'index.js': code(2) });
  assert.equal(
    (await ask(house, 'PUT', '/installed/lamp', file)).status,
    200,
    'what is there is not brought again',
  );
  assert.deepEqual(await house.json('/api/v1/lamp'), { lit: 1 });
  const registry = folderFor(t, { 'index.json': JSON.stringify({ version: 1, packs: [] }) });
  const put = (url: string) => ask(house, 'PUT', '/registries/ours', { url, public_key: null });
  assert.equal((await put(registry)).status, 200);
  assert.equal((await put(registry)).status, 200);
  assert.equal((await put('/nowhere')).status, 400, 'an address that leads nowhere is not kept');
  assert.equal(
    (await ask(house, 'GET', '/registries')).body.items.find(
      ({ name }: { name: string }) => name === 'ours',
    ).url,
    registry,
  );
});

test('code waits for the hash of what was shown, then serves; a version that does not come up leaves the one before', async (t) => {
  const house = await startMarket(t);
  useNoLeaks(t, house);
  const route = { method: 'GET', path: '/api/v1/lamp', access: 'any', summary: 'Tells.' };
  const code = (value: string) =>
    `import { definePack } from 'svc/sdk'; export default definePack({ routes: { 'GET /api/v1/lamp': () => (${value}) } });`;
  const files = {
    'plugin.json': manifest('lamp', {
      entry: 'index.js',
      mounts: ['/api/v1/lamp'],
      routes: [route],
    }),
    'index.js': code('{ lit: 1 }'),
  };
  const first = await upload(house, files);
  assert.equal(first.status, 409);
  assert.match(first.body.message, /asks for permissions: it runs code/);
  assert.ok(!existsSync(join(house.dataDir, 'packs/lamp')));
  const { status, body } = await uploadConfirmed(house, files);
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal(body.state, 'active');
  assert.deepEqual(await house.json('/api/v1/lamp'), { lit: 1 });

  const broken = {
    ...files,
    'plugin.json': manifest('lamp', {
      version: '1.1.0',
      entry: 'index.js',
      mounts: ['/api/v1/lamp'],
      routes: [route],
    }),
    'index.js': 'throw new Error("no bulb");',
  };
  const failed = await uploadConfirmed(house, broken);
  assert.equal(failed.status, 409);
  assert.match(failed.body.message, /lamp failed.*no bulb/);
  assert.deepEqual(await house.json('/api/v1/lamp'), { lit: 1 });
  assert.match(readFileSync(join(house.dataDir, 'packs/lamp/index.js'), 'utf8'), /lit: 1/);
  assert.equal((await ask(house, 'GET', '/installed/lamp')).body.version, '1.0.0');

  assert.equal((await ask(house, 'DELETE', '/installed/lamp')).status, 204);
  await cleaned(house);
  assert.deepEqual(
    [
      existsSync(join(house.dataDir, 'cache/packs/lamp')),
      existsSync(join(house.dataDir, 'plugins/lamp')),
    ],
    [false, false],
  );
  assert.equal((await house.fetch('/api/v1/packs/lamp')).status, 404);
});

test('a folder of this machine is a registry: searched, installed from, and read anew', async (t) => {
  const house = await startMarket(t);
  useNoLeaks(t, house);
  const pack = tgz({
    'plugin.json': manifest('disks'),
    'skills/disk-doctor/SKILL.md': skillText('disk-doctor'),
  });
  const index = {
    version: 1,
    name: 'Ours',
    packs: [
      {
        id: 'disks',
        name: 'Disks',
        description: 'All on disks.',
        publisher: 'us',
        versions: [{ version: '1.0.0', url: 'disks.tgz', sha256: sha256(pack) }],
      },
    ],
  };
  const folder = folderFor(t, { 'index.json': JSON.stringify(index), 'disks.tgz': pack });
  const added = await ask(house, 'POST', '/registries', { name: 'ours', url: folder });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  assert.deepEqual([added.body.packs, added.body.signed, added.body.format], [1, false, 'svc']);
  const { body: found } = await ask(house, 'GET', '/search?q=disk');
  assert.deepEqual(
    [found.total, found.items[0].pack_id, found.items[0].installed],
    [1, 'disks', null],
  );
  const installed = await ask(house, 'POST', '/install', { registry: 'ours', pack_id: 'disks' });
  assert.equal(installed.status, 201, JSON.stringify(installed.body));
  assert.equal((await ask(house, 'GET', '/search?q=disk')).body.items[0].installed, '1.0.0');
});
