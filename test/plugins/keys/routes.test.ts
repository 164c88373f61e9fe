import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { readKeys } from '../../../core/storage/keys.ts';
import { addressOf, settingHouse, torchFolder } from '../setting/house.ts';
import { storedIn } from '../../kit/stored.ts';

const plugins = ['keys', 'setting', torchFolder];
const canary = 'sk-canary-5f1d';
const revealed = `${addressOf('torch.api_key')}/reveal`;

const folders: string[] = [];
after(() => folders.forEach((path) => rmSync(path, { recursive: true, force: true })));

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'svc-keys-'));
  folders.push(path);
  return path;
}

function sealedIn(dataDir: string): readonly unknown[] {
  const database = storedIn(dataDir, { readonly: true });
  try {
    return database.prepare('select value from setting_values order by key').pluck().all();
  } finally {
    database.close();
  }
}

test('a rotation gives every secret a new seal and changes nothing else; the trail knows who', async (t) => {
  const dataDir = folder();
  const first = await settingHouse(t, { plugins, dataDir });
  await first.set('torch.api_key', canary);
  await first.set('torch.built_in', 'another');
  const before = sealedIn(dataDir);
  const { status, body } = await first.ask('POST', '/api/v1/keys/rotate');
  assert.deepEqual([status, body.resealed, body.unreadable, body.unused.length], [200, 2, 0, 1]);
  assert.ok(
    sealedIn(dataDir).every(
      (value, index) => value !== before[index] && String(value).startsWith(`v1.${body.kid}.`),
    ),
  );
  assert.deepEqual(
    first.audit
      .filter(({ action }) => action === 'key:rotate')
      .map(({ status: outcome, principal }) => [outcome, principal.id]),
    [['success', 'ada']],
  );
  assert.equal((await first.ask('GET', revealed)).body.value, canary);
  await first.house.stop();

  const second = await settingHouse(t, { plugins, dataDir });
  assert.equal((await second.ask('GET', revealed)).body.value, canary);
  assert.equal(readKeys(join(dataDir, 'keys', 'secret.key')).length, 1);
});

test('no new key is made when the trail cannot take the row, and none with a single key in the environment', async (t) => {
  const dataDir = folder();
  const trail = { append: () => Promise.reject(new Error('full')) };
  const first = await settingHouse(t, { plugins, dataDir, services: { 'audit.trail': trail } });
  assert.equal((await first.ask('POST', '/api/v1/keys/rotate')).status, 503);
  assert.equal((await first.set('torch.brightness', 70)).status, 503);
  assert.equal((await first.item('torch.brightness')).source, 'default', 'no row, no change');
  await first.house.stop();
  assert.equal(readKeys(join(dataDir, 'keys', 'secret.key')).length, 1);

  const given = await settingHouse(t, {
    plugins,
    environment: { SVC_SECRET_KEY: Buffer.alloc(32, 9).toString('base64') },
  });
  const { status, body } = await given.ask('POST', '/api/v1/keys/rotate');
  assert.deepEqual([status, body.error], [409, 'conflict']);
  assert.match(body.message, /append it to the old one, separated by a comma/);
});

test('only an administrator rotates', async (t) => {
  const { ask } = await settingHouse(t, { plugins });
  for (const as of ['bob', 'vera'] as const) {
    assert.equal((await ask('POST', '/api/v1/keys/rotate', { as })).status, 403);
  }
});
