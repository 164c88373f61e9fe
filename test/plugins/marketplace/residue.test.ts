import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { startTestHost, type TestHost } from 'svc/testing';

import { FakeModel } from '../../../plugins/model/cli/fake-model/fake-model.ts';
import { contentsOf, differences } from './contents.ts';
import {
  ask,
  cleaned,
  confirmOf,
  folderFor,
  manifest,
  personaText,
  type Reply,
  rooms,
  sha256,
  skillText,
  startMarket,
  tgz,
  upload,
  uploadConfirmed,
} from './market.ts';
import { wholePack } from './whole-pack.ts';
import { changedOnPurpose } from '../../on-purpose.ts';
import { storedIn } from '../../kit/stored.ts';

const password = 'a long enough passphrase';
/**
 * Records of what people did, which are no trace of a pack: the trail, the feed made from it, what
 * they signed, the cost of their models.
 */
const records = /^[+-] (?:row (?:audit|changes|approval|model)_|file plugins\/audit\/)/;

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await holds()); await sleep(50)) {
    assert.ok(Date.now() < deadline, `within a minute: ${what}`);
  }
}

type Call = (method: string, path: string, body?: unknown, token?: string) => Promise<Reply>;

/** Everything that keeps something for packs, as it ships. */
async function startRooms(t: TestContext): Promise<{
  readonly house: TestHost;
  readonly call: Call;
  readonly anna: string;
  readonly port: number;
}> {
  const fake = await FakeModel.start({ rules: [{ reply: { text: 'Fine.' } }] });
  t.after(() => fake.close());
  const peer = createServer((_req, res) => void res.end('hello')).listen(0, '127.0.0.1');
  await once(peer, 'listening');
  t.after(() => {
    peer.closeAllConnections();
    peer.close();
  });
  const house = await startTestHost(t, {
    plugins: [
      ...rooms,
      'iam',
      'audit',
      'session',
      'model',
      'chat',
      'approval',
      'changes',
      'monitor',
    ],
    environment: {
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
      SVC_LLM_COMPATIBLE_BASE_URL: fake.url,
      SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
      SVC_LOG_LEVEL: 'error',
    },
  });
  const call: Call = async (method, path, body, token = house.token) => {
    const reply = await house.fetch(`/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    return { status: reply.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  await call('POST', '/users', {
    email: 'anna@example.org',
    display_name: 'anna',
    role: 'admin',
    password,
  });
  const { access_token: anna } = (
    await call('POST', '/auth/login', { email: 'anna@example.org', password })
  ).body as { access_token: string };
  await call('PUT', '/system-settings/agent/write_enabled', { value: true });
  return { house, call, anna, port: (peer.address() as AddressInfo).port };
}

test('a pack that had everything, used in every way, leaves no row and no file behind, but for what people did', async (t) => {
  const { house, call, anna, port } = await startRooms(t);
  const must = async (status: number, ...asked: Parameters<Call>): Promise<Reply['body']> => {
    const reply = await call(...asked);
    assert.equal(reply.status, status, `${asked[0]} ${asked[1]}: ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  // What the first pack of all leaves for good: folders that every pack is in, and the programs that run their code and have their tables.
  const first = {
    'plugin.json': manifest('first', { entry: 'index.js', permissions: { disk_mb: 1 } }),
    'index.js': 'module.exports = {};',
  };
  assert.equal((await uploadConfirmed(house, first)).status, 201);
  await must(204, 'DELETE', '/marketplace/installed/first');
  await must(204, 'DELETE', '/marketplace/history/first');
  mkdirSync(join(house.dataDir, 'plugins/skill/evidence'), { recursive: true });
  await house.settled();
  const before = contentsOf(house.dataDir);

  const archive = tgz(wholePack('1.0.0', port));
  const offers = [
    {
      id: 'whole',
      name: 'Whole',
      versions: [{ version: '1.0.0', url: 'whole.tgz', sha256: sha256(archive) }],
    },
  ];
  const registry = folderFor(t, {
    'whole.tgz': archive,
    'index.json': JSON.stringify({ version: 1, name: 'Ours', packs: offers }),
  });
  await must(201, 'POST', '/marketplace/registries', { name: 'ours', url: registry });
  const { confirm } = await must(200, 'POST', '/marketplace/preview', {
    registry: 'ours',
    pack_id: 'whole',
  });
  await must(201, 'POST', '/marketplace/install', { registry: 'ours', pack_id: 'whole', confirm });
  await must(200, 'PUT', '/marketplace/installed/whole/ceiling', {
    classes: ['safe', 'mutating'],
    tools: [],
    hosts: ['127.0.0.1'],
    labels: [],
  });
  await must(200, 'PUT', '/marketplace/installed/whole/admitted', {
    personas: ['whole-clerk'],
    mcp_servers: [],
  });
  await must(200, 'PUT', '/system-settings/whole/plain', { value: 'word' });
  await must(200, 'PUT', '/system-settings/whole/secret', { value: 'hunter2' });
  const seen = await must(200, 'GET', '/whole');
  assert.deepEqual(
    [seen.status, seen.secret, seen.notes.some(({ text }: { text: string }) => text === 'told')],
    [200, 'hunter2', true],
    JSON.stringify(seen),
  );

  const { evidence } = await must(200, 'POST', '/skills/whole-large/execute', { params: {} });
  assert.match(evidence, /^E\d+$/);
  await must(200, 'POST', '/skills/whole-change/execute', { params: {} }, anna);
  await must(201, 'POST', '/roles', {
    name: 'looker',
    description: 'Looks.',
    grants: ['whole:look'],
  });
  const expires = { expires_at: new Date(Date.now() + 3_600_000).toISOString() };
  const { token, id: tokenId } = await must(
    201,
    'POST',
    '/tokens',
    { name: 'both', actions: ['whole:look', 'skill:*'], ...expires },
    anna,
  );
  const { token: only } = await must(
    201,
    'POST',
    '/tokens',
    { name: 'only', actions: ['whole:look'], ...expires },
    anna,
  );
  await must(200, 'GET', '/whole/look', undefined, only);
  const { approval_id: approval } = await must(
    202,
    'POST',
    '/skills/whole-change/execute',
    { params: {} },
    token,
  );
  const { args_sha256: digest } = await must(200, 'GET', `/approvals/${approval}`, undefined, anna);
  await must(
    200,
    'POST',
    `/approvals/${approval}/approve`,
    { args_sha256: digest, comment: 'yes' },
    anna,
  );
  await until(
    'the signed call has run',
    async () =>
      (await call('GET', `/approvals/${approval}`, undefined, anna)).body.status === 'executed',
  );
  const { id: session } = await must(201, 'POST', '/chat/sessions', {}, anna);
  assert.equal(
    (
      await must(
        200,
        'POST',
        `/chat/sessions/${session}/messages`,
        { content: 'Hello?', agent: 'whole-clerk' },
        anna,
      )
    ).message,
    'Fine.',
  );
  await must(200, 'GET', '/observability/dashboards/whole');

  assert.equal((await uploadConfirmed(house, wholePack('2.0.0', port))).status, 201);
  await must(200, 'POST', '/marketplace/installed/whole/rollback');
  const { body: refused } = await uploadConfirmed(house, {
    ...wholePack('3.0.0', port),
    'index.js': 'throw new Error("no")',
  });
  assert.match(refused.message, /could not start: no/);
  await must(200, 'POST', '/marketplace/installed/whole/disable');
  await must(200, 'POST', '/marketplace/installed/whole/enable');
  await must(503, 'GET', '/whole/die');
  await must(200, 'POST', '/marketplace/installed/whole/disable');

  await must(204, 'DELETE', '/marketplace/installed/whole');
  await cleaned(house);
  const left = differences(before, contentsOf(house.dataDir)).filter(
    (line) => !records.test(line) && !/ row chat_/.test(line),
  );
  const isKnown = (line: string): boolean =>
    /row marketplace_(?:history|registries) |row iam_roles .*"grants":"\[\]"|row session_api_tokens .*\[\\"skill:\*\\"\]/.test(
      line,
    );
  assert.deepEqual(
    left.filter((line) => !isKnown(line)),
    [],
  );
  assert.equal(
    left.filter((line) => line.includes('row marketplace_history')).length,
    4,
    'install, update, rollback, uninstall',
  );
  assert.equal(
    (await call('GET', '/users', undefined, only)).status,
    401,
    'a token that held nothing else has ended',
  );

  await must(204, 'DELETE', '/marketplace/history/whole');
  await must(204, 'DELETE', '/marketplace/registries/ours');
  await must(204, 'DELETE', `/chat/sessions/${session}`, undefined, anna);
  await must(204, 'DELETE', `/tokens/${tokenId}`, undefined, anna);
  await must(204, 'DELETE', '/roles/looker');
  await until('the conversation is gone', () =>
    differences(before, contentsOf(house.dataDir)).every((line) => !/ row chat_/.test(line)),
  );
  const after = contentsOf(house.dataDir);
  assert.deepEqual(
    differences(before, after).filter((line) => !records.test(line)),
    [],
  );
  const naming = [...after].filter(
    (line) => /whole/.test(line) && !/^row (?:audit|changes|approval)_/.test(line),
  );
  assert.deepEqual(naming, [], 'only the trail, the feed and the approvals still name it');
});

test('with keep_data its tables, settings and what roles grant of it wait for the next install', async (t) => {
  const { house, call, port } = await startRooms(t);
  assert.equal((await uploadConfirmed(house, wholePack('1.0.0', port))).status, 201);
  await call('PUT', '/system-settings/whole/plain', { value: 'word' });
  await call('GET', '/whole');
  await call('POST', '/roles', { name: 'looker', description: 'Looks.', grants: ['whole:look'] });
  assert.equal((await call('DELETE', '/marketplace/installed/whole?keep_data=true')).status, 204);
  assert.deepEqual((await call('GET', '/roles/looker')).body.grants, ['whole:look']);
  assert.equal((await uploadConfirmed(house, wholePack('1.0.0', port))).status, 201);
  const { notes } = (await call('GET', '/whole')).body as { notes: { text: string }[] };
  assert.ok(notes.filter(({ text }) => text === 'called').length > 1, JSON.stringify(notes));
  assert.equal((await call('DELETE', '/marketplace/installed/whole')).status, 204);
  await cleaned(house);
  assert.deepEqual((await call('GET', '/roles/looker')).body.grants, []);
});

const stubborn = `import { defineExtensionPoint, definePlugin } from 'svc/sdk';
  let tries = 0;
  export default definePlugin({ activate: (ctx) => ctx.extend.contribute(defineExtensionPoint('marketplace.traces'), 'stubborn', {
    async forget() { tries += 1; if (tries === 1) throw new Error('not now'); } }) });`;

test('a cleaning that fails is told, and done again before the pack is installed anew', async (t) => {
  const folder = join(folderFor(t), 'stubborn');
  mkdirSync(folder);
  const about = {
    id: 'stubborn',
    version: '1.0.0',
    title: 'Stubborn',
    description: 'Fails once.',
    entry: 'index.ts',
    engines: { host: '^1.0.0' },
  };
  writeFileSync(join(folder, 'plugin.json'), JSON.stringify(about));
  writeFileSync(join(folder, 'index.ts'), stubborn);
  const house = await startMarket(t, { plugins: [...rooms, folder] });
  const files = {
    'plugin.json': manifest('clingy', {
      settings: {
        'clingy.word': { schema: { type: 'string' }, default: '', description: 'A word.' },
      },
    }),
    'skills/clingy/SKILL.md': skillText('clingy'),
  };
  assert.equal((await uploadConfirmed(house, files)).status, 201);
  await house.json('/api/v1/system-settings/clingy/word', {
    method: 'PUT',
    body: JSON.stringify({ value: 'kept?' }),
  });
  assert.equal((await ask(house, 'DELETE', '/installed/clingy')).status, 204);
  await until('the failure is told', () =>
    house.lines.some((line) => /marketplace.not_cleaned/.test(line)),
  );
  assert.equal((await ask(house, 'GET', '/installed/clingy')).status, 404);
  const { body } = await upload(house, files);
  const again = await upload(house, files, `?confirm=${confirmOf(body)}`);
  assert.equal(again.status, 201, JSON.stringify(again.body));
  const db = storedIn(house.dataDir, { readonly: true });
  t.after(() => db.close());
  assert.deepEqual(db.prepare("select * from setting_values where category = 'clingy'").all(), []);
  assert.deepEqual(db.prepare('select * from marketplace_changes').all(), []);
});

test('a start that finds a cleaning cut off waits for those who keep something of the pack', async (t) => {
  const dataDir = folderFor(t);
  const first = await startMarket(t, { dataDir });
  const files = {
    'plugin.json': manifest('ghost'),
    'agents/ghost-clerk.md': personaText('ghost-clerk'),
  };
  assert.equal((await upload(first, files)).status, 201);
  await first.json('/api/v1/agents/ghost-clerk');
  await first.stop();
  const db = storedIn(dataDir);
  t.after(() => db.close());
  const versions = () =>
    db.prepare("select count(*) from persona_versions where name = 'ghost-clerk'").pluck().get();
  assert.equal(versions(), 1);
  // As a kill leaves it behind the commit of an uninstall.
  db.exec(
    `delete from marketplace_packs; insert into marketplace_changes (pack_id, step, token, keep_data, personas) values ('ghost', 'cleaning', 'x', 0, '["ghost-clerk"]')`,
  );
  changedOnPurpose(dataDir);
  rmSync(join(dataDir, 'packs/ghost'), { recursive: true });
  await startMarket(t, { dataDir });
  await until(
    'the cleaning is done',
    () => db.prepare('select count(*) from marketplace_changes').pluck().get() === 0,
  );
  assert.equal(versions(), 0);
});
