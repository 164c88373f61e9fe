import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import type { TestHost } from 'svc/testing';

import {
  ask,
  cleaned,
  manifest,
  personaText,
  type Reply,
  sha256,
  skillText,
  startMarket,
  type Texts,
  upload,
  uploadConfirmed,
} from './market.ts';

const setBlocked = (house: TestHost, hashes: readonly string[]): Promise<unknown> =>
  house.json('/api/v1/system-settings/marketplace/blocked_hashes', {
    method: 'PUT',
    body: JSON.stringify({ value: hashes }),
  });
const shown = async (house: TestHost, id: string): Promise<Reply['body']> =>
  (await ask(house, 'GET', `/installed/${id}`)).body;
const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
  for (
    const deadline = Date.now() + 20_000;
    !(await holds());
    await new Promise((resolve) => setTimeout(resolve, 30))
  ) {
    assert.ok(Date.now() < deadline, what);
  }
};
const texts = (id: string, skill: string, more: object = {}): Texts => ({
  'plugin.json': manifest(id, more),
  [`skills/${skill}/SKILL.md`]: skillText(skill),
});
const uninstall = async (house: TestHost, id: string, query = ''): Promise<void> => {
  assert.equal((await ask(house, 'DELETE', `/installed/${id}${query}`)).status, 204);
  await cleaned(house);
};

test('what is on the list of blocked hashes goes, does not come back by any way, and is known in any packing', async (t) => {
  const house = await startMarket(t);
  assert.equal((await upload(house, texts('bad', 'bad'))).status, 201);
  assert.equal((await upload(house, texts('bad', 'bad', { version: '2.0.0' }))).status, 201);
  assert.equal((await upload(house, texts('good', 'good'))).status, 201);
  await setBlocked(house, [sha256(Buffer.from(skillText('bad')))]);
  await until('it is switched off', async () => (await shown(house, 'bad')).state === 'disabled');
  assert.match(
    (await shown(house, 'bad')).error,
    /skills\/bad\/SKILL\.md of bad is on the list of blocked hashes/,
  );
  assert.equal((await shown(house, 'good')).state, 'active');
  for (const verb of ['enable', 'rollback']) {
    const { status, body } = await ask(house, 'POST', `/installed/bad/${verb}`);
    assert.deepEqual(
      [status, /list of blocked hashes/.test(body.message)],
      [403, true],
      `${verb}: ${body.message}`,
    );
  }
  const repacked = await upload(house, {
    ...texts('worse', 'other'),
    'skills/other/more.md': skillText('bad'),
  });
  assert.deepEqual(
    [repacked.status, /skills\/other\/more\.md of worse/.test(repacked.body.message)],
    [403, true],
  );
  await setBlocked(house, []);
  assert.equal((await ask(house, 'POST', '/installed/bad/enable')).body.state, 'active');
  await setBlocked(house, [(await shown(house, 'good')).content_hash]);
  await until('also by its content', async () => (await shown(house, 'good')).state === 'disabled');
});

test('ids that begin with one another, and what is away, are kept apart', async (t) => {
  const house = await startMarket(t);
  const setting = (id: string): object => ({
    settings: {
      [`${id}.word`]: { schema: { type: 'string' }, default: '', description: 'A word.' },
    },
  });
  const ids = ['lamp', 'lamp-post', 'la'];
  for (const id of ids) {
    assert.equal((await uploadConfirmed(house, texts(id, `${id}-skill`, setting(id)))).status, 201);
    await house.json(`/api/v1/system-settings/${id}/word`, {
      method: 'PUT',
      body: JSON.stringify({ value: id }),
    });
    mkdirSync(join(house.dataDir, 'plugins', id), { recursive: true });
    writeFileSync(join(house.dataDir, 'plugins', id, 'own'), id);
  }
  await uninstall(house, 'lamp');
  for (const id of ['lamp-post', 'la']) {
    const { items } = await house.json<{
      items: { category: string; key: string; value: unknown }[];
    }>('/api/v1/system-settings?limit=200');
    assert.equal(items.find(({ category, key }) => category === id && key === 'word')?.value, id);
    assert.deepEqual(
      [(await shown(house, id)).state, existsSync(join(house.dataDir, 'plugins', id, 'own'))],
      ['active', true],
      id,
    );
  }
  assert.equal(existsSync(join(house.dataDir, 'plugins/lamp')), false);
  mkdirSync(join(house.dataDir, 'plugins/away'), { recursive: true });
  writeFileSync(join(house.dataDir, 'plugins/away/own'), 'of a plugin that is not here now');
  const taken = await upload(house, texts('away', 'away'));
  assert.deepEqual(
    [taken.status, /has data for "away" that belongs to no pack/.test(taken.body.message)],
    [409, true],
    taken.body.message,
  );
  assert.ok(existsSync(join(house.dataDir, 'plugins/away/own')));
});

test('a variable of the environment that belongs to svc or to another pack is read by no pack', async (t) => {
  const house = await startMarket(t);
  const reading = (id: string, env: string): Texts =>
    texts(id, `${id}-skill`, {
      settings: {
        [`${id}.word`]: { schema: { type: 'string' }, default: '', env, description: 'A word.' },
      },
    });
  for (const [id, env] of [
    ['secret', 'SVC_SECRET_KEY'],
    ['tls', 'SVC_TLS_KEY'],
    ['secret', 'SVC_SECRET_KEY_FILE'],
  ] as const) {
    const { status, body } = await upload(house, reading(id, env));
    assert.deepEqual(
      [status, /which belongs to a setting of svc or of another pack/.test(body.message)],
      [400, true],
      body.message,
    );
  }
  assert.equal((await uploadConfirmed(house, reading('ab-c', 'SVC_AB_C_WORD'))).status, 201);
  const { status, body } = await upload(house, reading('ab', 'SVC_AB_C_WORD'));
  assert.deepEqual(
    [status, /which belongs to a setting of svc or of another pack/.test(body.message)],
    [400, true],
    body.message,
  );
});

test('data that was kept is given to a later pack of the id only by a word, and purged whole', async (t) => {
  const house = await startMarket(t);
  const vault = texts('vault', 'vault', {
    settings: { 'vault.word': { schema: { type: 'string' }, default: '', description: 'A word.' } },
  });
  assert.equal((await uploadConfirmed(house, vault)).status, 201);
  await house.json('/api/v1/system-settings/vault/word', {
    method: 'PUT',
    body: JSON.stringify({ value: 'secret' }),
  });
  mkdirSync(join(house.dataDir, 'plugins/vault'), { recursive: true });
  writeFileSync(join(house.dataDir, 'plugins/vault/own'), 'kept');
  await uninstall(house, 'vault', '?keep_data=true');
  const later = await upload(house, texts('vault', 'other'));
  assert.deepEqual(
    [later.status, /tables and settings that version 1\.0\.0 has left/.test(later.body.message)],
    [409, true],
    later.body.message,
  );
  assert.equal((await ask(house, 'DELETE', '/history/vault')).status, 204);
  assert.equal(existsSync(join(house.dataDir, 'plugins/vault')), false);
  assert.equal((await upload(house, texts('vault', 'other'))).status, 201);
  await uninstall(house, 'vault');
  assert.equal((await ask(house, 'DELETE', '/history/vault')).status, 204);
  assert.equal((await ask(house, 'DELETE', '/history/vault')).status, 404);
  assert.equal(
    (await ask(house, 'DELETE', '/history/gate')).status,
    404,
    'a part of svc is no pack that was taken away',
  );
});

test('what was let in is what was seen: a server that moves and a persona that changes are asked for again', async (t) => {
  const house = await startMarket(t);
  const kit = (version: string, url: string, persona: string): Texts => ({
    '.claude-plugin/plugin.json': JSON.stringify({
      name: 'kit',
      version,
      description: 'x',
      mcpServers: { pager: { type: 'http', url } },
    }),
    'agents/kit-clerk.md': personaText('kit-clerk', persona),
    'skills/kit/SKILL.md': skillText('kit'),
  });
  assert.equal(
    (await uploadConfirmed(house, kit('1.0.0', 'https://mcp.pager.example/mcp', ''))).status,
    201,
  );
  const admitted = { personas: ['kit-clerk'], mcp_servers: ['pager'] };
  assert.equal((await ask(house, 'PUT', '/installed/kit/admitted', admitted)).status, 200);
  const same = await uploadConfirmed(house, kit('1.0.1', 'https://mcp.pager.example/mcp', ''));
  assert.deepEqual(same.body.admitted, admitted, JSON.stringify(same.body));
  const asks = await upload(house, kit('1.1.0', 'https://evil.example/mcp', 'tools: ["*"]\n'));
  assert.match(
    asks.body.message,
    /it changes files of personas, of which these were admitted: kit-clerk/,
  );
  const moved = await uploadConfirmed(
    house,
    kit('1.1.0', 'https://evil.example/mcp', 'tools: ["*"]\n'),
  );
  assert.deepEqual(moved.body.admitted, { personas: ['kit-clerk'], mcp_servers: [] });
  const back = await ask(house, 'POST', '/installed/kit/rollback');
  assert.deepEqual(back.body.admitted, { personas: ['kit-clerk'], mcp_servers: [] });
});

test('a first install whose migration fails leaves nothing, and says why', async (t) => {
  const house = await startMarket(t);
  const pack: Texts = {
    'plugin.json': manifest('mill', { entry: 'index.js', permissions: { disk_mb: 4 } }),
    'index.js': 'module.exports = {};',
    'migrations/001.sql': 'CREATE TABLE grains (a); CREATE TABLE grains (a);',
  };
  const { status, body } = await uploadConfirmed(house, pack);
  assert.deepEqual(
    [status, /The tables of mill cannot be opened: .*grains already exists/.test(body.message)],
    [409, true],
    body.message,
  );
  assert.equal((await ask(house, 'GET', '/installed/mill')).status, 404);
  for (const left of ['packs/mill', 'plugins/mill']) {
    assert.equal(existsSync(join(house.dataDir, left)), false, left);
  }
  const mended = await uploadConfirmed(house, {
    ...pack,
    'migrations/001.sql': 'CREATE TABLE grains (a);',
  });
  assert.deepEqual(
    [mended.status, mended.body.state],
    [201, 'active'],
    JSON.stringify(mended.body),
  );
  const worse = await uploadConfirmed(house, {
    ...pack,
    'plugin.json': manifest('mill', {
      version: '2.0.0',
      entry: 'index.js',
      permissions: { disk_mb: 4 },
    }),
    'migrations/001.sql': 'CREATE TABLE grains (a);',
    'migrations/002.sql': 'no sql',
  });
  assert.equal(worse.status, 409);
  assert.deepEqual(
    [(await shown(house, 'mill')).version, (await shown(house, 'mill')).state],
    ['1.0.0', 'active'],
  );
});
