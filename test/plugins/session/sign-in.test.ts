import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import type { PasswordsContract } from 'svc/contracts/iam';
import { Board, SvcError } from 'svc/sdk';

import { Throttle } from '../../../plugins/session/sign-in/throttle.ts';
import { sessionHouse } from './house.ts';
import { people, queued } from './people.ts';

test('a right password gives a pair of tokens, and the access token opens routes', async (t) => {
  const { login, ask } = await sessionHouse(t);
  const { status, body } = await login(' Bob@Example.ORG ');
  assert.equal(status, 200);
  const { access_token: access, refresh_token: refresh, ...rest } = body;
  assert.match(refresh, /^svc_rt_[\w-]{86}$/);
  const times = {
    created_at: '1970-01-01T00:00:00.002Z',
    updated_at: '1970-01-01T00:00:00.002Z',
    last_login_at: '2026-01-01T00:00:00.000Z',
  };
  const user = {
    id: 2,
    email: 'bob@example.org',
    display_name: 'bob@example.org',
    role: 'user',
    status: 'active',
    ...times,
  };
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 900, role: 'user', user });

  const [, session] = access.split('.').map((part) => Buffer.from(part, 'base64url').toString());
  const claims = JSON.parse(session!) as Record<string, unknown>;
  assert.deepEqual(Object.keys(claims), [
    'sub',
    'email',
    'role',
    'typ',
    'sid',
    'jti',
    'ver',
    'auth_time',
    'iat',
    'exp',
    'iss',
  ]);
  assert.deepEqual(
    [claims['sub'], claims['typ'], claims['iss'], Number(claims['exp']) - Number(claims['iat'])],
    ['2', 'access', 'svc', 900],
  );
  const me = await ask('GET', '/api/v1/lamp/look', { token: access });
  assert.deepEqual(me.body, {
    kind: 'user',
    id: '2',
    email: 'bob@example.org',
    name: 'bob@example.org',
    role: 'user',
    grants: ['lamp:*'],
    orgs: [1],
    session: claims['sid'],
    authenticatedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  });
});

test('a login that fails says the same for every reason, after the same work', async (t) => {
  const { people: accounts, login } = await sessionHouse(t);
  accounts.add({ email: 'gone@example.org', status: 'disabled' });
  const tries = [
    ['bob@example.org', 'wrong'],
    ['nobody@example.org', 'correct horse'],
    ['gone@example.org', 'correct horse'],
    ['not even an e-mail', 'correct horse'],
  ] as const;
  const answers = await Promise.all(tries.map(([email, password]) => login(email, password)));
  const told = answers.map(({ status, body }) => [
    status,
    (body as unknown as { message: string }).message,
  ]);
  assert.deepEqual(new Set(told.map(String)).size, 1, String(told));
  assert.equal(told[0]![0], 401);
  assert.deepEqual(
    accounts.checked.toSorted(),
    tries.map(([email]) => email).toSorted(),
    'one password check each',
  );
});

test('logins that succeed and logins that fail are rows of the trail, with who is behind them', async (t) => {
  const { audit, login, signIn, refresh } = await sessionHouse(t);
  const { refresh_token: token } = await signIn('bob@example.org');
  await login('vera@example.org', 'wrong');
  await refresh(token);
  await refresh('svc_rt_unknown');
  const rows = audit.rows.map(({ action, principal, resourceType, resourceId, status, after }) => ({
    what: `${action} ${resourceType} ${status}`,
    who: principal.email ?? principal.kind,
    named: resourceId !== undefined,
    after,
  }));
  assert.deepEqual(rows, [
    {
      what: 'auth:login session success',
      who: 'bob@example.org',
      named: true,
      after: { email: 'bob@example.org' },
    },
    {
      what: 'auth:login session denied',
      who: 'anonymous',
      named: false,
      after: { email: 'vera@example.org' },
    },
    { what: 'auth:refresh session success', who: 'bob@example.org', named: true, after: undefined },
    { what: 'auth:refresh session denied', who: 'anonymous', named: false, after: undefined },
  ]);
});

test('after ten failures an e-mail must wait, others need not, and time heals it', async (t) => {
  const { login, clock } = await sessionHouse(t);
  for (let i = 0; i < 10; i++) {
    assert.equal((await login('bob@example.org', 'wrong')).status, 401);
    clock.move(1_000);
  }
  const refused = await login('BOB@example.org');
  assert.equal(refused.status, 429);
  assert.equal((refused.body as unknown as { error: string }).error, 'rate_limited');
  assert.equal(refused.headers.get('retry-after'), '590');
  assert.equal((await login('ada@example.org')).status, 200, 'somebody else from the same address');
  clock.move(590_000);
  assert.equal((await login('bob@example.org')).status, 200);
});

test('guesses from elsewhere do not shut the owner out', () => {
  const clock = { now: () => 0, monotonic: () => 0 };
  const throttle = new Throttle(clock);
  const ends = (ip: string, how: 'succeeded' | 'failed'): void =>
    throttle.begin('bob@example.org', ip)[how]();
  ends('198.51.100.7', 'succeeded');
  for (let place = 0; place < 10; place++) {
    for (let i = 0; i < 10; i++) {
      ends(`203.0.113.${place}`, 'failed');
    }
    assert.throws(() => ends(`203.0.113.${place}`, 'succeeded'), { code: 'rate_limited' });
    ends('198.51.100.7', 'succeeded');
  }
  assert.throws(
    () => ends('192.0.2.1', 'failed'),
    { code: 'rate_limited' },
    'a hundred guesses from everywhere are enough',
  );
  ends('198.51.100.7', 'succeeded');
});

test('a right password within the window works and clears the count of its e-mail', async (t) => {
  const { login } = await sessionHouse(t);
  for (let round = 0; round < 2; round++) {
    for (let i = 0; i < 9; i++) {
      assert.equal((await login('bob@example.org', 'wrong')).status, 401);
    }
    assert.equal((await login('bob@example.org')).status, 200);
  }
});

test('after fifty failures an address must wait, whatever header it invents', async (t) => {
  const { login, house } = await sessionHouse(t);
  for (let i = 0; i < 50; i++) {
    assert.equal((await login(`guess${i}@example.org`, 'wrong')).status, 401);
  }
  assert.equal((await login('ada@example.org')).status, 429);
  const spoofed = await fetch(`${house.url}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9' },
    body: JSON.stringify({ email: 'ada@example.org', password: 'correct horse' }),
  });
  assert.equal(spoofed.status, 429);
});

test('an e-mail that is written in two ways is one e-mail to guess at', async (t) => {
  const { login } = await sessionHouse(t);
  for (let i = 0; i < 10; i++) {
    assert.equal(
      (await login(i % 2 ? 'zo\u00eb@example.org' : 'zoe\u0308@example.org', 'wrong')).status,
      401,
    );
  }
  assert.equal((await login('zoe\u0308@example.org', 'wrong')).status, 429);
  assert.equal((await login('zo\u00eb@example.org', 'wrong')).status, 429);
});

test('guesses at the same time cannot outrun the limit', async (t) => {
  const { login, people: accounts } = await sessionHouse(t);
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => login('bob@example.org', 'wrong')),
  );
  assert.equal(answers.filter(({ status }) => status === 401).length, 10);
  assert.equal(accounts.checked.length, 10);
});

test('when passwords cannot be checked nobody is counted as a guesser', async (t) => {
  const accounts = people();
  let busy = true;
  const { passwords } = accounts;
  const crowded = {
    ...accounts,
    passwords: {
      async verify(email: string, password: string) {
        if (busy) {
          throw new SvcError('rate_limited', 'too many logins at once', { retryAfterSeconds: 2 });
        }
        return await passwords.verify(email, password);
      },
    },
  };
  const { login } = await sessionHouse(t, { people: crowded });
  for (let i = 0; i < 60; i++) {
    assert.equal((await login('bob@example.org')).status, 429);
  }
  busy = false;
  assert.equal((await login('bob@example.org')).status, 200);
});

test('of many logins at the same moment a few are checked and the rest are told when to come back', async (t) => {
  const accounts = people();
  let most = 0;
  let running = 0;
  const counted: PasswordsContract = {
    async verify(email, password) {
      most = Math.max(most, (running += 1));
      await pause(50);
      running -= 1;
      return await accounts.passwords.verify(email, password);
    },
  };
  const { login } = await sessionHouse(t, { people: { ...accounts, passwords: queued(counted) } });
  for (let i = 0; i < 40; i++) {
    accounts.add({ email: `p${i}@example.org` });
  }
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => login(`p${i % 40}@example.org`)),
  );
  const refused = answers.filter(({ status }) => status === 429);
  assert.ok(most <= 2, `${most} at once`);
  assert.equal(answers.filter(({ status }) => status === 200).length, 200 - refused.length);
  assert.ok(refused.length > 0);
  assert.ok(refused.every(({ headers }) => Number(headers.get('retry-after')) >= 1));
});

test('what is not a login is refused by field', async (t) => {
  const { ask } = await sessionHouse(t);
  for (const body of [
    {},
    { email: 'bob@example.org' },
    { email: 7, password: 'x' },
    { email: 'b@x.org', password: 'x', role: 'admin' },
    { email: 'a'.repeat(321), password: 'x' },
  ]) {
    const { status, body: answer } = await ask('POST', '/api/v1/auth/login', { body });
    assert.deepEqual([status, answer.error], [400, 'invalid_argument'], JSON.stringify(answer));
    assert.ok(answer.details.length > 0);
  }
});

test('registration is closed until somebody opens it', async (t) => {
  const { ask } = await sessionHouse(t);
  const { status, body } = await ask('POST', '/api/v1/auth/register', {
    body: { email: 'new@example.org', password: 'long enough' },
  });
  assert.deepEqual([status, body.error], [403, 'forbidden']);
});

test('where registration is open anybody becomes a viewer, and nothing more', async (t) => {
  const { ask, audit, signIn, house } = await sessionHouse(t);
  house.service(Board).override('auth.registration', 'open');
  const made = await ask('POST', '/api/v1/auth/register', {
    body: { email: ' New@Example.org', password: 'correct horse' },
  });
  assert.equal(made.status, 201);
  const times = {
    created_at: '1970-01-01T00:00:00.004Z',
    updated_at: '1970-01-01T00:00:00.004Z',
    last_login_at: null,
  };
  assert.deepEqual(made.body, {
    id: 4,
    email: 'new@example.org',
    display_name: 'new',
    role: 'viewer',
    status: 'active',
    ...times,
  });
  assert.deepEqual([audit.rows[0]?.resourceType, audit.rows[0]?.resourceId], ['user', '4']);
  const again = await ask('POST', '/api/v1/auth/register', {
    body: { email: 'new@example.org', password: 'correct horse' },
  });
  assert.deepEqual([again.status, again.body.error], [409, 'conflict']);
  const greedy = await ask('POST', '/api/v1/auth/register', {
    body: { email: 'x@example.org', password: 'correct horse', role: 'admin' },
  });
  assert.equal(greedy.status, 400);
  await signIn('new@example.org');
});

test('an address registers ten times in ten minutes, whatever comes of it, and others sign in meanwhile', async (t) => {
  const { ask, house, clock, signIn } = await sessionHouse(t);
  const register = (name: string, password = 'correct horse') =>
    ask('POST', '/api/v1/auth/register', { body: { email: `${name}@example.org`, password } });
  assert.equal((await register('early')).status, 403, 'closed doors are not counted');
  house.service(Board).override('auth.registration', 'open');
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, i) => register(i < 6 ? 'bob' : `new${i}`)),
  );
  const statuses = answers.map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 429).length, 2, String(statuses));
  clock.move(100_000);
  const refused = await register('late');
  assert.deepEqual(
    [refused.status, refused.body.error, refused.headers.get('retry-after')],
    [429, 'rate_limited', '500'],
  );
  await signIn('bob@example.org');
  clock.move(500_000);
  assert.equal((await register('late')).status, 201);
});
