import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { createBackup } from '../../bin/upkeep/backup/backup.ts';
import { type Household, household, password, shippedPlugins } from './household.ts';

/** Plugin with secrets among its settings. */
const torchFolder = fileURLToPath(new URL('../plugins/setting/torch', import.meta.url));

/** Plants a secret in every place where one may be typed, and remembers what must not be found afterwards. */
async function plant({ house, ask, person }: Household): Promise<Map<string, string>> {
  const planted = new Map<string, string>();
  const canary = (what: string, shape = (word: string) => word): string => {
    const secret = shape(`canary-${planted.size.toString().padStart(2, '0')}-Xq7Zr9Lm2Kv8`);
    planted.set(what, secret);
    return secret;
  };
  const as = house.token;
  planted.set('the operator token', as);
  planted.set('the password of everybody', password);
  const ann = await person('ann', 'user');
  planted.set('an access token', ann.access);
  planted.set('a refresh token', ann.refresh);

  await ask('POST', '/api/v1/users', as, {
    email: 'cat@example.org',
    display_name: 'Cat',
    role: 'viewer',
    password: canary('password of a new user'),
  });
  await ask('POST', '/api/v1/users', as, {
    email: 'no mail',
    display_name: 'X',
    role: 'viewer',
    password: canary('password of a user that was refused'),
  });
  await ask('POST', '/api/v1/users', as, {
    email: 'dog@example.org',
    passwrod: canary('password under a misspelt name'),
  });
  await ask('PATCH', `/api/v1/users/${ann.id}/password`, ann.access, {
    password: canary('new password'),
    current_password: canary('wrong current password'),
  });
  await ask('PATCH', `/api/v1/users/${ann.id}/password`, as, {
    password: canary('password that an admin set'),
  });
  await ask('POST', '/api/v1/auth/login', undefined, {
    email: 'ann@example.org',
    password: canary('password of a failed login'),
  });
  await ask('POST', '/api/v1/auth/login', undefined, {
    email: 'nobody@example.org',
    password: canary('password of an unknown user'),
  });
  await ask('POST', '/api/v1/auth/login', undefined, {
    email: 'ann@example.org',
    password: canary('password in the wrong field'),
    token: canary('unknown field of a login'),
  });
  await ask(
    'POST',
    '/api/v1/auth/login',
    undefined,
    `{"email": "ann@example.org", "password": "${canary('password in broken JSON')}"`,
  );
  await ask('POST', '/api/v1/auth/refresh', undefined, {
    refresh_token: canary('refresh token that nobody knows'),
  });
  await ask('POST', '/api/v1/auth/register', undefined, {
    email: 'eve@example.org',
    password: canary('password of a registration'),
  });
  await ask('POST', '/api/v1/auth/setup', undefined, {
    token: canary('set-up token'),
    email: 'eve@example.org',
    password: canary('password of a set-up'),
  });
  await ask('GET', '/api/v1/me', `Bearer ${canary('bearer that nobody knows')}`);
  await ask(
    'GET',
    '/api/v1/me',
    `Basic ${Buffer.from(`user:${canary('basic password')}`).toString('base64')}`,
  );
  await ask('GET', `/api/v1/me?access_token=${canary('token in a query')}`, as);
  await ask(
    'GET',
    `/api/v1/users?q=${encodeURIComponent('Bearer ')}${canary('token in a search')}`,
    as,
  );
  await ask('GET', `/api/v1/nowhere/${canary('secret in a path', (word) => `svc_sk_${word}`)}`, as);
  await ask('POST', '/api/v1/orgs', as, {
    name: 'Org',
    description: `key ${canary('key in a text', (word) => `sk-${word}`)}`,
  });
  await ask(
    'DELETE',
    `/api/v1/tokens/${canary('API token in place of an id', (word) => `svc_pat_${word}`)}`,
    ann.access,
  );
  await ask(
    'DELETE',
    `/api/v1/roles/${canary('key in place of a role', (word) => `sk-live-${word.toLowerCase()}`)}`,
    as,
  );
  await ask(
    'PUT',
    `/api/v1/system-settings/llm/${canary('key in place of a setting', (word) => `sk-${word}`)}`,
    as,
    { value: 1 },
  );
  for (const key of [
    'password',
    'secret',
    'token',
    'authorization',
    'api_key',
    'private_key',
    'cookie',
    'client_secret',
  ]) {
    await ask('POST', '/api/v1/orgs', as, { name: key, [key]: canary(`field ${key}`) });
    await ask('PATCH', `/api/v1/users/${ann.id}`, as, {
      display_name: 'Ann',
      nested: { [key]: canary(`nested field ${key}`) },
    });
  }
  const again = await ask('POST', '/api/v1/auth/login', undefined, {
    email: 'ann@example.org',
    password: planted.get('password that an admin set'),
  });
  planted.set('access token of a second login', again.body.access_token);
  planted.set('refresh token of a second login', again.body.refresh_token);
  const { body: pat } = await ask('POST', '/api/v1/tokens', again.body.access_token, {
    name: 'script',
    actions: [],
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
  });
  planted.set('an API token', pat.token);
  await ask('PUT', '/api/v1/system-settings/auth/admin_password', as, {
    value: canary('setting that is only read at the start'),
  });
  await ask('PUT', '/api/v1/system-settings/torch/api_key', as, {
    value: canary('sensitive setting', (word) => `sk-${word.toLowerCase()}`),
  });
  await ask('PUT', '/api/v1/system-settings/torch/api_key', as, {
    value: canary('sensitive setting that does not fit'),
  });
  await ask('PUT', '/api/v1/system-settings/auth/admin_password', as, {
    value: { wrong: canary('sensitive setting of a wrong shape') },
  });
  await ask('GET', '/api/v1/system-settings', as);
  await ask('GET', '/api/v1/admin/audit-logs', as);
  return planted;
}

/**
 * Places where these may occur: the description that a user typed is content, and the operator's
 * token is in its own file.
 */
const inPlace = new Map([
  ['the operator token', /keys\/operator\.token$/],
  ['key in a text', /svc\.db(-wal)?$/],
]);

test('no secret that anybody typed or was given stands in a log line, a table, an audit row, an error or a backup', async (t) => {
  const people = await household(t, { plugins: [...shippedPlugins, torchFolder] });
  const bodies: string[] = [];
  const listening: Household = {
    ...people,
    async ask(method, path, token, body) {
      const answer = await people.ask(method, path, token, body);
      if (answer.status >= 400 || path.includes('audit-logs') || path.includes('system-settings')) {
        bodies.push(answer.text);
      }
      return answer;
    },
  };
  const planted = await plant(listening);
  assert.ok(planted.size >= 40, `${planted.size} canaries`);
  assert.ok(
    [...planted.values()].every((secret) => typeof secret === 'string' && secret.length > 8),
    'every canary was planted',
  );
  await people.house.stop();
  await backUp(people.house.dataDir);

  const hits: string[] = [];
  const search = (where: string, text: string): void => {
    for (const [what, secret] of planted) {
      if (text.includes(secret) && !inPlace.get(what)?.test(where)) {
        hits.push(`${what} in ${where}`);
      }
    }
  };
  people.house.lines.forEach((line) => search('a log line', line));
  bodies.forEach((body) => search('an answer', body));
  for (const file of filesBelow(people.house.dataDir)) {
    search(file, readFileSync(file, 'latin1'));
  }
  assert.deepEqual(hits, []);
  t.diagnostic(
    `${planted.size} canaries, ${people.house.lines.length} log lines, ${bodies.length} answers, ${filesBelow(people.house.dataDir).length} files`,
  );
});

/** Creates a backup without the key, next to the data, so that it is searched with it. */
async function backUp(dataDir: string): Promise<void> {
  await createBackup(join(dataDir, 'backups', 'canaries'), {
    dataDir,
    product: { version: '0', root: '' },
  });
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) =>
    statSync(join(folder, name)).isDirectory()
      ? filesBelow(join(folder, name))
      : [join(folder, name)],
  );
