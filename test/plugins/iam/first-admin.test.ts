import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

import { parse } from 'yaml';

import { iamHouse } from './house.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const named = { SVC_ADMIN_EMAIL: 'Ada@Example.org', SVC_ADMIN_PASSWORD: 'the first passphrase' };

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'svc-iam-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

describe('the first administrator', () => {
  test('is made at the first start from the environment, and left alone at every other', async (t) => {
    const dataDir = folder(t);
    const first = await iamHouse(t, { dataDir, environment: named });
    const ada = await first.passwords().verify('ada@example.org', 'the first passphrase');
    assert.deepEqual([ada?.role, ada?.display_name], ['admin', 'ada']);
    await first.ask('PATCH', `/users/${ada!.id}/password`, { password: 'her own passphrase' });
    await first.house.stop();

    const second = await iamHouse(t, { dataDir, environment: { ...named, SVC_ADMIN_PASSWORD: 'the first passphrase, again' } });
    assert.equal((await second.ask('GET', '/users')).body.total, 1);
    assert.equal((await second.passwords().verify('ada@example.org', 'her own passphrase'))?.id, ada!.id);
    assert.ok(!second.house.lines.join().includes('passphrase'));
  });

  test('gets the password out of a file', async (t) => {
    const file = join(folder(t), 'password');
    writeFileSync(file, 'the filed passphrase\n');
    const { passwords } = await iamHouse(t, { environment: { SVC_ADMIN_EMAIL: 'ada@example.org', SVC_ADMIN_PASSWORD_FILE: file } });
    assert.equal((await passwords().verify('ada@example.org', 'the filed passphrase'))?.role, 'admin');
  });

  test('is not made out of somebody who registered under that e-mail', async (t) => {
    const dataDir = folder(t);
    const first = await iamHouse(t, { dataDir });
    await first.directory().create({ email: 'ada@example.org', display_name: '', role: 'viewer', password: 'a guessed passphrase' }, undefined);
    await first.house.stop();
    const second = await iamHouse(t, { dataDir, environment: named });
    assert.equal(await second.directory().hasAdmin(), false);
    assert.equal((await second.passwords().verify('ada@example.org', 'a guessed passphrase'))?.role, 'viewer');
    assert.match(second.house.lines.join('\n'), /no administrator was created: there is a user with the e-mail ada@example.org already/);
  });

  test('is not made of half a name, and the log says which half is missing', async (t) => {
    for (const [environment, missing] of [
      [{ SVC_ADMIN_EMAIL: 'ada@example.org' }, /SVC_ADMIN_PASSWORD or SVC_ADMIN_PASSWORD_FILE is not set/],
      [{ SVC_ADMIN_PASSWORD: 'the first passphrase' }, /SVC_ADMIN_EMAIL is not set/],
    ] as const) {
      const { house, directory } = await iamHouse(t, { environment });
      assert.equal(await directory().hasAdmin(), false);
      assert.match(house.lines.join('\n'), missing);
    }
    const { house } = await iamHouse(t, { environment: { SVC_ADMIN_EMAIL: 'ada@example.org', SVC_ADMIN_PASSWORD: 'ada@example.org' } });
    assert.match(house.lines.join('\n'), /no administrator was created: password must not be the e-mail address/);
  });

  test('has no default password: without a word from the operator there is nobody', async (t) => {
    const { ask } = await iamHouse(t);
    assert.equal((await ask('GET', '/users')).body.total, 0);
  });
});

test('what is shipped as configuration is what the room declares', () => {
  const { settings } = JSON.parse(readFileSync(join(root, 'plugins/iam/plugin.json'), 'utf8'));
  const shipped = parse(readFileSync(join(root, 'config/default.yaml'), 'utf8'));
  assert.deepEqual(shipped.policy.roles, settings['policy.roles'].default);
  assert.deepEqual([shipped.auth.admin_email, shipped.auth.admin_password], ['', '']);
});
