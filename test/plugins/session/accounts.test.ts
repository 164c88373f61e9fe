import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { Board } from 'svc/sdk';
import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

import { type Answer, lampFolder, type Pair } from './house.ts';
import { trail } from './people.ts';

const password = 'correct horse battery';

interface Household {
  readonly house: TestHost;
  readonly audit: ReturnType<typeof trail>;
  ask(method: string, path: string, token?: string, body?: unknown): Promise<Answer>;
  /** An account and what it got for signing in. */
  person(name: string, role: string): Promise<Pair>;
  login(email: string, password: string): Promise<Answer<Pair>>;
}

/** Starts both identity plugins as shipped, without accounts. */
async function household(t: TestContext): Promise<Household> {
  const audit = trail();
  const house = await startTestHost(t, {
    plugins: ['iam', 'session', lampFolder],
    services: { 'audit.trail': audit },
  });
  useNoLeaks(t, house);
  const ask: Household['ask'] = async (method, path, token, body) => {
    const answer = await fetch(house.url + path, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        'content-type': 'application/json',
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      headers: answer.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
  const login: Household['login'] = (email, secret) =>
    ask('POST', '/api/v1/auth/login', undefined, { email, password: secret });
  return {
    house,
    audit,
    ask,
    login,
    async person(name, role) {
      const email = `${name}@example.org`;
      const made = await ask('POST', '/api/v1/users', house.token, {
        email,
        display_name: name,
        role,
        password,
      });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      const { status, body } = await login(email, password);
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    },
  };
}

test('known, unknown and disabled accounts cost the same hashing, whatever is tried', async (t) => {
  const { house, ask, person, login } = await household(t);
  const { user } = await person('gone', 'viewer');
  await person('known', 'viewer');
  assert.equal(
    (await ask('PATCH', `/api/v1/users/${user.id}`, house.token, { status: 'disabled' })).status,
    200,
  );
  const hashes = t.mock.method(crypto, 'scrypt');
  const costs: Record<string, unknown> = {};
  for (const [email, secret] of [
    ['known@example.org', 'a wrong password'],
    ['unknown@example.org', password],
    ['gone@example.org', password],
    ['known@example.org', 'x'.repeat(1_000)],
  ] as const) {
    hashes.mock.resetCalls();
    assert.equal((await login(email, secret)).status, 401);
    costs[`${email} with ${secret.slice(0, 20)}`] = hashes.mock.calls.map(
      ({ arguments: [, , bytes, cost] }) => [bytes, cost],
    );
  }
  const expected = [[32, { N: 2 ** 15, r: 8, p: 3, maxmem: 256 * 2 ** 15 * 8 }]];
  for (const [what, cost] of Object.entries(costs)) {
    assert.deepEqual(cost, expected, what);
  }
});

test('the first administrator comes with a row that names the account, and opens what only administrators may', async (t) => {
  const { house, ask, audit } = await household(t);
  const file = join(house.dataDir, 'plugins/session/setup-token');
  const body = { token: readFileSync(file, 'utf8').trim(), email: 'Root@example.org', password };
  assert.equal(
    (await ask('POST', '/api/v1/auth/setup', undefined, { ...body, password: 'short' })).status,
    400,
  );
  const both = await Promise.all([
    ask('POST', '/api/v1/auth/setup', undefined, body),
    ask('POST', '/api/v1/auth/setup', undefined, { ...body, email: 'other@example.org' }),
  ]);
  const made = both.filter(({ status }) => status === 201);
  assert.equal(made.length, 1);
  const { access_token: token, user } = made[0]!.body;
  assert.equal((await ask('GET', '/api/v1/lamp/sell', token)).status, 200);
  assert.equal((await ask('GET', '/api/v1/users', house.token)).body.total, 1);
  const row = audit.rows.find(
    ({ action, status }) => action === 'auth:setup' && status === 'success',
  );
  assert.deepEqual([row?.resourceType, row?.resourceId], ['user', String(user.id)]);
  assert.ok(!existsSync(file));
});

test('an administrator who is made elsewhere takes the set-up token away', async (t) => {
  const { house, person } = await household(t);
  const file = join(house.dataDir, 'plugins/session/setup-token');
  await person('vera', 'viewer');
  assert.ok(existsSync(file));
  await person('ada', 'admin');
  await until('the token is gone', () => !existsSync(file));
});

test('a new password signs out everywhere at once, and its session is listed no more', async (t) => {
  const { ask, person, login, house } = await household(t);
  const bob = await person('bob', 'user');
  const changed = { password: 'another long password', current_password: password };
  assert.equal(
    (await ask('PATCH', `/api/v1/users/${bob.user.id}/password`, bob.access_token, changed)).status,
    200,
  );
  assert.equal((await ask('GET', '/api/v1/me', bob.access_token)).status, 401);
  assert.equal(
    (await ask('POST', '/api/v1/auth/refresh', undefined, { refresh_token: bob.refresh_token }))
      .status,
    401,
  );
  assert.equal((await login('bob@example.org', password)).status, 401);
  const { body } = await login('bob@example.org', 'another long password');
  await until(
    'the old session is not listed',
    async () => (await ask('GET', '/api/v1/sessions', body.access_token)).body.total === 1,
  );
  assert.equal(
    (await ask('GET', `/api/v1/sessions?user_id=${bob.user.id}`, house.token)).body.total,
    1,
  );
});

test('a role that is changed, an account that is disabled and one that is deleted count from the next request on', async (t) => {
  const { ask, person, house } = await household(t);
  const changes: readonly ((id: number) => Promise<Answer>)[] = [
    (id) => ask('PATCH', `/api/v1/users/${id}/role`, house.token, { role: 'viewer' }),
    (id) => ask('PATCH', `/api/v1/users/${id}`, house.token, { status: 'disabled' }),
    (id) => ask('DELETE', `/api/v1/users/${id}`, house.token),
  ];
  for (const [index, change] of changes.entries()) {
    const { user, access_token: token } = await person(`p${index}`, 'user');
    assert.equal((await ask('GET', '/api/v1/me', token)).status, 200);
    assert.ok((await change(user.id)).status < 300);
    assert.equal((await ask('GET', '/api/v1/me', token)).status, 401);
  }
});

test('a reply of a login, a refresh and a registration shows the account as its own page does', async (t) => {
  const { house, ask, person } = await household(t);
  const first = await person('ada', 'admin');
  const shown = (await ask('GET', `/api/v1/users/${first.user.id}`, house.token)).body;
  assert.deepEqual(first.user, shown);
  assert.match(shown.last_login_at, /^20\d\d-/);
  const refreshed = await ask('POST', '/api/v1/auth/refresh', undefined, {
    refresh_token: first.refresh_token,
  });
  assert.deepEqual(refreshed.body.user, shown);
  house.service(Board).override('auth.registration', 'open');
  const registered = await ask('POST', '/api/v1/auth/register', undefined, {
    email: 'new@example.org',
    password,
  });
  assert.deepEqual(
    registered.body,
    (await ask('GET', `/api/v1/users/${registered.body.id}`, house.token)).body,
  );
  assert.equal(registered.body.last_login_at, null);
});

test('an API token does what its person and itself may, as /me says', async (t) => {
  const { ask, person } = await household(t);
  const { access_token: access } = await person('ada', 'admin');
  const wish = {
    name: 'ci',
    actions: ['lamp:switch'],
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  };
  const { body: made } = await ask('POST', '/api/v1/tokens', access, wish);
  const { body: me } = await ask('GET', '/api/v1/me', made.token);
  assert.deepEqual([me.kind, me.email, me.grants], ['token', 'ada@example.org', ['lamp:switch']]);
  assert.equal((await ask('POST', '/api/v1/users', made.token, {})).status, 403);
});

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 10_000; !(await holds()); await pause(20)) {
    assert.ok(Date.now() < deadline, `within 10 s: ${what}`);
  }
}
