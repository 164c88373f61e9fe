import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import type Database from 'better-sqlite3';

import { undeclaredSeals } from '../../storage/sealed-places.ts';
import { addressOf, type Json, mask, settingHouse } from './house.ts';
import { changedOnPurpose } from '../../on-purpose.ts';
import { everythingStored, storedIn } from '../../kit/stored.ts';

const canary = 'sk-canary-5f1d';

const folders: string[] = [];
after(() => folders.forEach((dir) => rmSync(dir, { recursive: true, force: true })));

/** Returns a data folder for consecutive hosts. */
function folder(): string {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-setting-'));
  folders.push(dataDir);
  return dataDir;
}

const inDatabase = <T>(dataDir: string, work: (database: Database.Database) => T): T => {
  const database = storedIn(dataDir);
  try {
    return work(database);
  } finally {
    database.close();
    changedOnPurpose(dataDir);
  }
};

const revealOf = (name: string): string => `${addressOf(name)}/reveal`;

test('a secret is sealed on disk and masked everywhere: in lists, answers, refusals, logs and audit rows', async (t) => {
  const dataDir = folder();
  const { ask, set, item, house, audit, everythingSaid } = await settingHouse(t, { dataDir });
  assert.equal((await item('torch.api_key')).value, null, 'not set');
  assert.deepEqual(
    [(await item('torch.built_in')).value, (await item('torch.built_in')).default],
    [mask, mask],
  );

  const { status, body } = await set('torch.api_key', canary);
  assert.deepEqual([status, body.value, body.source], [200, mask, 'database']);
  assert.equal(
    await item('torch.api_key', 'vera'),
    undefined,
    'that there is a key, and that it is set, is for administrators',
  );
  assert.equal(
    await item('torch.built_in', 'vera'),
    undefined,
    'even where its declaration says otherwise',
  );
  assert.equal(
    (await ask('PUT', addressOf('torch.api_key'), { body: { value: `${canary} wrong` } })).status,
    400,
  );
  assert.equal(
    (
      await ask('PUT', addressOf('torch.headers'), {
        body: { value: { 'x-key': `${canary}-much-too-long` } },
      })
    ).status,
    400,
  );
  await set('torch.headers', { 'x-key': canary });
  await ask('DELETE', addressOf('torch.headers'));
  assert.deepEqual(audit.find(({ before }) => before !== undefined)?.after, {
    value: mask,
    source: 'database',
  });

  assert.ok(!everythingSaid().includes(canary) && !everythingSaid().includes('factory-canary'));
  const text = inDatabase(
    dataDir,
    (database) => database.prepare('select value from setting_values').pluck().all() as string[],
  );
  assert.equal(text.length, 1);
  assert.match(text[0]!, /^v1\./);
  await house.stop();
  assert.ok(!everythingStored(dataDir).includes(canary));
  assert.deepEqual(undeclaredSeals(dataDir), []);
});

test('putting back what was read never changes a secret', async (t) => {
  const { ask, set, item, house } = await settingHouse(t);
  await set('torch.api_key', canary);
  const before = await now();
  const { body } = await ask('GET', '/api/v1/system-settings?limit=200');
  for (const { category, key, value } of body.items as Json[]) {
    const answer = await set(`${category}.${key}`, value);
    assert.ok(
      [200, 400, 409].includes(answer.status),
      `${category}.${key}: ${JSON.stringify(answer.body)}`,
    );
  }
  assert.deepEqual(await now(), before);
  assert.equal((await item('torch.built_in')).source, 'default', 'the mask itself is never stored');
  assert.equal((await ask('GET', revealOf('torch.api_key'))).body.value, canary);
  await house.settled();

  async function now(): Promise<unknown> {
    return (await ask('GET', '/api/v1/torch')).body.now;
  }
});

test('an administrator reveals a secret, in one audit row each; nobody else does', async (t) => {
  const { ask, set, audit, house } = await settingHouse(t);
  await set('torch.api_key', canary);
  for (const as of ['bob', 'vera'] as const) {
    const { status, body } = await ask('GET', revealOf('torch.api_key'), { as });
    assert.deepEqual([status, body.error], [403, 'forbidden']);
  }
  assert.equal((await fetch(house.url + revealOf('torch.api_key'))).status, 401);

  const rows = audit.length;
  const { status, body, headers } = await ask('GET', revealOf('torch.api_key'));
  assert.deepEqual([status, body], [200, { category: 'torch', key: 'api_key', value: canary }]);
  assert.equal(headers.get('cache-control'), 'no-store');
  const [row, ...more] = audit.slice(rows);
  assert.deepEqual(
    [row?.action, row?.resourceId, row?.status, row?.principal.email, more.length],
    ['setting:reveal', 'torch.api_key', 'success', 'ada@example.org', 0],
  );
  assert.equal((await ask('GET', revealOf('torch.built_in'))).body.value, 'factory-canary');
  assert.equal((await ask('GET', revealOf('torch.headers'))).status, 200);
  assert.equal((await ask('GET', revealOf('torch.api_kez'))).status, 404);
  assert.ok(!JSON.stringify(audit).includes(canary));
  assert.ok(!house.lines.join('\n').includes(canary));
});

test('a secret is revealed to somebody who signed in just now, not to an old sign-in and not to a script', async (t) => {
  const { ask, set, audit, house } = await settingHouse(t);
  await set('torch.api_key', canary);
  for (const [as, sentence] of [
    ['old', /within the last 5 minutes: sign in again with your password/],
    ['bot', /not to API tokens: sign in with your password/],
  ] as const) {
    const { status, body } = await ask('GET', revealOf('torch.api_key'), { as });
    assert.deepEqual([status, body.error], [403, 'forbidden']);
    assert.match(body.message, sentence);
    assert.deepEqual(
      [audit.at(-1)?.action, audit.at(-1)?.status, audit.at(-1)?.principal.id],
      ['setting:reveal', 'denied', as],
    );
    assert.equal(
      (await ask('GET', '/api/v1/system-settings', { as })).status,
      200,
      'everything else goes on',
    );
  }
  assert.equal(
    (await house.json(revealOf('torch.api_key'))).value,
    canary,
    'the operator reads the key folder anyway',
  );
});

test('what is only read at the start is neither stored nor revealed, whoever declares it', async (t) => {
  const pin = 'canary-pin-77';
  const { ask, set, item, everythingSaid } = await settingHouse(t, {
    environment: { SVC_TORCH_PIN: pin },
  });
  const { value, writable } = await item('torch.pin');
  assert.deepEqual([value, writable], [mask, false]);
  assert.deepEqual(
    [(await set('torch.pin', 'other')).status, (await ask('GET', revealOf('torch.pin'))).status],
    [409, 409],
  );
  assert.ok(!everythingSaid().includes(pin));

  const unset = await settingHouse(t);
  const refused = await unset.set('torch.pin', pin);
  assert.deepEqual(
    [refused.status, refused.body.message],
    [
      409,
      'torch.pin is read only at startup: set it in SVC_TORCH_PIN or svc.yaml and restart svc.',
    ],
  );
});

test('the key of all secrets is not revealed', async (t) => {
  const key = Buffer.alloc(32, 9).toString('base64');
  const { ask, item, everythingSaid } = await settingHouse(t, {
    environment: { SVC_SECRET_KEY: key },
  });
  assert.deepEqual(
    [(await item('data.secret_key')).value, (await item('data.secret_key')).source],
    [mask, 'env'],
  );
  const { status, body } = await ask('GET', revealOf('data.secret_key'));
  assert.equal(status, 409);
  assert.match(body.message, /cannot be revealed: it is set outside svc/);
  assert.ok(!everythingSaid().includes(key));
});

test('ten reveals a minute for each administrator; the eleventh waits, and is written down', async (t) => {
  let monotonic = 1_000;
  const clock = { now: () => 1_790_000_000_000 + monotonic, monotonic: () => monotonic };
  const { ask, set, audit } = await settingHouse(t, { clock });
  await set('torch.api_key', canary);
  for (let count = 0; count < 10; count++) {
    assert.equal((await ask('GET', revealOf('torch.api_key'))).status, 200);
    monotonic += 1_000;
  }
  const { status, body, headers } = await ask('GET', revealOf('torch.api_key'));
  assert.deepEqual([status, body.error, headers.get('retry-after')], [429, 'rate_limited', '50']);
  assert.equal(audit.at(-1)?.status, 'failure');
  assert.equal(
    (await ask('GET', revealOf('torch.api_key'), { as: 'eve' })).status,
    200,
    'somebody else has an allowance of her own',
  );
  monotonic += 50_000;
  assert.equal((await ask('GET', revealOf('torch.api_key'))).status, 200);
});

test('with the key lost a start ends with a sentence; with another one it names the unreadable secrets, and everything else works', async (t) => {
  const dataDir = folder();
  const first = await settingHouse(t, { dataDir });
  await first.set('torch.api_key', canary);
  await first.set('torch.brightness', 70);
  await first.house.stop();

  const keyFile = join(dataDir, 'keys', 'secret.key');
  renameSync(keyFile, join(dataDir, 'lost.key'));
  await assert.rejects(
    settingHouse(t, { dataDir }),
    /The key that seals the secrets in .* is missing: restore .*secret\.key from a backup/,
  );
  writeFileSync(keyFile, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  const second = await settingHouse(t, { dataDir });
  const { value, source, problem } = await second.item('torch.api_key');
  assert.deepEqual([value, source], [null, 'default']);
  assert.match(
    problem,
    /^unreadable: the secret in setting_values\.value of row torch\|api_key was sealed with key [0-9a-f]{8}, .*put that key back, or enter the secret again\.$/,
  );
  assert.equal((await second.item('torch.brightness')).value, 70);
  const refused = await second.ask('GET', revealOf('torch.api_key'));
  assert.deepEqual([refused.status, refused.body.error], [409, 'conflict']);
  assert.equal((await second.ask('GET', '/readyz')).status, 200);
  await second.house.stop();

  renameSync(join(dataDir, 'lost.key'), keyFile);
  const third = await settingHouse(t, { dataDir });
  assert.equal(
    (await third.ask('GET', revealOf('torch.api_key'))).body.value,
    canary,
    'the key was put back',
  );
  await third.set('torch.api_key', 'sk-other');
  assert.equal((await third.item('torch.api_key')).problem, undefined);
});

test('two secrets that changed places in the database open in neither', async (t) => {
  const dataDir = folder();
  const first = await settingHouse(t, { dataDir });
  await first.set('torch.api_key', canary);
  await first.set('torch.built_in', 'another');
  await first.house.stop();
  inDatabase(dataDir, (database) => {
    const [one, other] = database
      .prepare("select value from setting_values where key in ('api_key', 'built_in') order by key")
      .pluck()
      .all();
    const put = database.prepare('update setting_values set value = ? where key = ?');
    put.run(other, 'api_key');
    put.run(one, 'built_in');
  });
  const { item } = await settingHouse(t, { dataDir });
  for (const name of ['torch.api_key', 'torch.built_in']) {
    assert.match(
      (await item(name)).problem,
      /^unreadable: .*altered, or moved here from another row/,
    );
  }
});
