import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';

import Database from 'better-sqlite3';
import fc from 'fast-check';
import type { Person } from 'svc/contracts/iam';
import type { Principal } from 'svc/sdk';

import { holds } from '../../../core/auth/index.ts';
import { digest } from '../../../plugins/session/store/digest.ts';
import { intersection } from '../../../plugins/session/store/grants.ts';
import { beside } from '../../kit/beside.ts';
import { type SessionHouse, sessionHouse } from './house.ts';
import { people } from './people.ts';
import { storedIn } from '../../kit/stored.ts';

interface Made {
  readonly id: number;
  readonly token: string;
}

const june = '2026-06-01T00:00:00Z';
const day = 24 * 60 * 60_000;

async function make(
  { ask }: SessionHouse,
  token: string,
  actions: readonly string[],
  expires_at = june,
): Promise<Made> {
  const { status, body } = await ask('POST', '/api/v1/tokens', {
    token,
    body: { name: 'ci', expires_at, actions },
  });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

test('an API token is shown once, stored as a hash, and acts as its maker', async (t) => {
  const house = await sessionHouse(t);
  const { ask, signIn } = house;
  const { access_token: access } = await signIn('bob@example.org');
  const made = await ask('POST', '/api/v1/tokens', {
    token: access,
    body: { name: 'ci', expires_at: june, actions: ['lamp:switch', 'read:lamp'] },
  });
  const { token, ...shown } = made.body;
  assert.match(token, /^svc_pat_[\w-]{43}$/);
  const expected = {
    id: 1,
    user_id: 2,
    name: 'ci',
    actions: ['lamp:switch', 'read:lamp'],
    created_at: '2026-01-02T03:04:05.000Z',
    expires_at: '2026-06-01T00:00:00.000Z',
    last_used_at: null,
  };
  assert.deepEqual(shown, expected);
  assert.deepEqual((await ask('GET', '/api/v1/tokens', { token: access })).body, {
    items: [expected],
    next_cursor: '',
    total: 1,
  });

  const database = storedIn(house.house.dataDir, { readonly: true });
  const stored = JSON.stringify(database.prepare('select * from session_api_tokens').all());
  database.close();
  assert.ok(!stored.includes(String(token).slice(8)));
  const { body: principal } = await ask('GET', '/api/v1/lamp/look', { token });
  const grants = ['lamp:switch', 'read:lamp'];
  assert.deepEqual(principal, {
    kind: 'token',
    id: '2',
    email: 'bob@example.org',
    name: 'bob@example.org',
    role: 'user',
    grants,
    orgs: [1],
    session: 'token-1',
  });
});

test('a token can do what it names and what its person may, and nothing else', async (t) => {
  const house = await sessionHouse(t);
  const { ask, people } = house;
  const ada = await house.signIn('ada@example.org');
  const bob = await house.signIn('bob@example.org');
  const may = async (token: string): Promise<string> => {
    const doors = ['look', 'switch', 'break', 'sell'];
    const open = await Promise.all(
      doors.map(async (door) =>
        (await ask('GET', `/api/v1/lamp/${door}`, { token })).status === 200 ? door : '',
      ),
    );
    return open.filter(Boolean).join(' ');
  };
  const tokens = {
    nothing: await make(house, ada.access_token, []),
    'read:lamp': await make(house, bob.access_token, ['read:lamp']),
    'read:*': await make(house, bob.access_token, ['read:*']),
    'reading of another area': await make(house, bob.access_token, ['read:session']),
    'lamp:switch': await make(house, bob.access_token, ['lamp:switch']),
    'lamp:*': await make(house, bob.access_token, ['lamp:*']),
    'everything of an administrator': await make(house, ada.access_token, ['*']),
    'lamp:* of an administrator': await make(house, ada.access_token, ['lamp:*']),
  };
  const allowed = async (): Promise<Record<string, string>> =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(tokens).map(async ([name, { token }]) => [name, await may(token)]),
      ),
    );
  assert.deepEqual(await allowed(), {
    nothing: '',
    'read:lamp': 'look',
    'read:*': 'look',
    'reading of another area': '',
    'lamp:switch': 'switch',
    'lamp:*': 'look switch break',
    'everything of an administrator': 'look switch break sell',
    'lamp:* of an administrator': 'look switch break',
  });

  people.change(2, { grants: ['lamp:break'] });
  people.change(1, { grants: ['lamp:*'] });
  assert.deepEqual(await allowed(), {
    nothing: '',
    'read:lamp': 'look',
    'read:*': 'look',
    'reading of another area': '',
    'lamp:switch': '',
    'lamp:*': 'look break',
    'everything of an administrator': 'look switch break',
    'lamp:* of an administrator': 'look switch break',
  });
});

test('nobody makes a token that can do more than they can', async (t) => {
  const { ask, signIn } = await sessionHouse(t);
  const { access_token: token } = await signIn('bob@example.org');
  for (const actions of [['*'], ['edge:create'], ['lamp:switch', 'edge:*'], ['webshell']]) {
    const { status, body } = await ask('POST', '/api/v1/tokens', {
      token,
      body: { name: 'ci', expires_at: june, actions },
    });
    assert.deepEqual([status, body.error], [400, 'invalid_argument']);
    assert.match(body.details[0].path, /^\/actions\/\d$/);
  }
});

test('what is no token to make is refused by field', async (t) => {
  const { ask, signIn } = await sessionHouse(t);
  const { access_token: token } = await signIn('ada@example.org');
  const good = { name: 'ci', expires_at: june, actions: [] };
  const wrong: readonly [string, object][] = [
    ['/expires_at', { ...good, expires_at: '2025-12-31T00:00:00Z' }],
    ['/expires_at', { ...good, expires_at: '2027-02-01T00:00:00Z' }],
    ['/expires_at', { ...good, expires_at: 'tomorrow' }],
    ['/expires_at', { name: 'ci' }],
    ['/name', { ...good, name: '' }],
    ['/actions/0', { ...good, actions: ['lamp:sw*'] }],
    ['/actions/0', { ...good, actions: ['lamp'] }],
    ['/actions/0', { ...good, actions: ['read:cellar'] }],
    ['/actions/0', { ...good, actions: ['*:switch'] }],
    ['/hash', { ...good, hash: 'x' }],
    ['/id', { ...good, id: 1 }],
  ];
  for (const [path, body] of wrong) {
    const answer = await ask('POST', '/api/v1/tokens', { token, body });
    assert.equal(answer.status, 400, path);
    assert.ok(
      answer.body.details.some((detail: { path: string }) => detail.path === path),
      JSON.stringify(answer.body),
    );
  }
});

describe('an API token is refused', () => {
  const ends: Record<string, (house: SessionHouse, made: Made, access: string) => unknown> = {
    'at once when it is revoked': ({ ask }, { id }, token) =>
      ask('DELETE', `/api/v1/tokens/${id}`, { token }),
    'at once when an administrator revokes it': async ({ ask, signIn }, { id }) =>
      ask('DELETE', `/api/v1/tokens/${id}`, {
        token: (await signIn('ada@example.org')).access_token,
      }),
    'when it has expired': ({ clock }) => clock.move(151 * day),
    'once its person has a new password': ({ people }) => people.change(2, { version: 1 }),
    'once its person has another role': ({ people }) => people.change(2, { role: 'viewer' }),
    'when its person is disabled': ({ people }) => people.change(2, { status: 'disabled' }),
    'when its person is gone': ({ people }) => people.remove(2),
  };
  for (const [sentence, end] of Object.entries(ends)) {
    test(sentence, async (t) => {
      const house = await sessionHouse(t);
      const { access_token: access } = await house.signIn('bob@example.org');
      const made = await make(house, access, ['read:lamp']);
      assert.equal(await house.statusOf(made.token), 200);
      await end(house, made, access);
      assert.equal(await house.statusOf(made.token), 401);
    });
  }
});

test('an API token outlives a reload, and a new password ends it for good', async (t) => {
  const house = await sessionHouse(t);
  const { token } = await make(house, (await house.signIn('bob@example.org')).access_token, [
    'read:lamp',
  ]);
  await house.house.reload('session');
  assert.equal(await house.statusOf(token), 200);
  house.people.change(2, { version: 1 });
  await house.house.reload('session');
  assert.equal(await house.statusOf(token), 401);
  const fresh = await make(house, (await house.signIn('bob@example.org')).access_token, [
    'read:lamp',
  ]);
  assert.equal(await house.statusOf(fresh.token), 200);
});

test('tokens from before reading was an action of its own go on reading', async (t) => {
  const migration = readFileSync(
    new URL('../../../plugins/session/migrations/004-reading.sql', import.meta.url),
    'utf8',
  );
  const database = new Database(':memory:');
  t.after(() => database.close());
  database.exec('create table session_api_tokens (actions text)');
  const before = ['[]', '["lamp:switch"]', '["lamp:*","edge:create"]', '["*"]'];
  before.forEach((actions) =>
    database.prepare('insert into session_api_tokens values (?)').run(actions),
  );
  database.exec(migration);
  const after = database.prepare('select actions from session_api_tokens').pluck().all();
  assert.deepEqual(after, [
    '["read:*"]',
    '["lamp:switch","read:*"]',
    '["lamp:*","edge:create","read:*"]',
    '["*"]',
  ]);
});

test('a token that is made while the password is reset is as old as the session it is made in', async (t) => {
  const accounts = people();
  let resetting = false;
  const live = (id: number): Person | undefined => {
    const person = accounts.directory.live(id);
    if (resetting) {
      resetting = false;
      accounts.change(id, { version: 1 });
    }
    return person;
  };
  const house = await sessionHouse(t, {
    people: { ...accounts, directory: { ...accounts.directory, live } },
  });
  const { access_token: access } = await house.signIn('bob@example.org');
  resetting = true;
  const { token } = await make(house, access, []);
  assert.equal(await house.statusOf(token), 401);
});

test('a token from before versions were remembered holds while nothing has changed since the account was made', async (t) => {
  const house = await sessionHouse(t);
  house.people.change(3, { status: 'active' });
  const tokens = [2, 3].map((owner) => ({ owner, token: `svc_pat_${String(owner).repeat(43)}` }));
  await beside(house.house.dataDir, (database) => {
    const insert = database.prepare(
      `insert into session_api_tokens (user_id, name, hash, actions, created_at, expires_at) values (?, 'old', ?, '["read:lamp"]', 0, ?)`,
    );
    for (const { owner, token } of tokens) {
      insert.run(owner, digest(token), house.clock.now() + day);
    }
  });
  assert.deepEqual(await Promise.all(tokens.map(({ token }) => house.statusOf(token))), [200, 401]);
});

test('whoever finds a token cannot make another one with it, nor end anything', async (t) => {
  const house = await sessionHouse(t);
  const { ask, signIn } = house;
  const { access_token: access } = await signIn('ada@example.org');
  const { token, id } = await make(house, access, ['*']);
  const [session] = (await ask('GET', '/api/v1/sessions', { token })).body.items;
  for (const [method, path, body] of [
    ['POST', '/api/v1/tokens', { name: 'more', expires_at: june }],
    ['DELETE', `/api/v1/tokens/${id}`, undefined],
    ['DELETE', `/api/v1/sessions/${session.id}`, undefined],
  ] as const) {
    assert.equal((await ask(method, path, { token, ...(body && { body }) })).status, 403, path);
  }
  assert.equal((await ask('POST', '/api/v1/auth/logout', { token })).status, 409);
  assert.equal(await house.statusOf(access), 200);
});

test("somebody else's token is not found, and their list is for administrators", async (t) => {
  const house = await sessionHouse(t);
  const { ask, signIn } = house;
  const { id } = await make(house, (await signIn('ada@example.org')).access_token, []);
  const { access_token: token } = await signIn('bob@example.org');
  assert.equal((await ask('DELETE', `/api/v1/tokens/${id}`, { token })).status, 404);
  assert.equal((await ask('GET', '/api/v1/tokens?user_id=1', { token })).status, 403);
  assert.equal((await ask('GET', '/api/v1/tokens?user_id=2', { token })).body.total, 0);
  assert.equal((await ask('GET', '/api/v1/tokens', { token })).body.total, 0);
  const { access_token: admin } = await signIn('ada@example.org');
  await make(house, token, []);
  assert.equal((await ask('GET', '/api/v1/tokens?user_id=2', { token: admin })).body.total, 1);
});

test('the operator makes tokens for people, within what those may', async (t) => {
  const { ask, house, statusOf } = await sessionHouse(t);
  const body = { name: 'cli', expires_at: june, actions: ['lamp:switch', 'read:lamp'] };
  assert.equal(
    (await ask('POST', '/api/v1/tokens', { token: house.token, body })).status,
    400,
    'for whom?',
  );
  assert.equal(
    (await ask('POST', '/api/v1/tokens', { token: house.token, body: { ...body, user_id: 99 } }))
      .status,
    400,
  );
  assert.equal(
    (await ask('POST', '/api/v1/tokens', { token: house.token, body: { ...body, user_id: 3 } }))
      .status,
    400,
    'a viewer may not switch',
  );
  const made = await ask('POST', '/api/v1/tokens', {
    token: house.token,
    body: { ...body, user_id: 2 },
  });
  assert.equal(made.status, 201);
  assert.equal(await statusOf(made.body.token), 200);
});

test('one person has at most fifty tokens', async (t) => {
  const house = await sessionHouse(t);
  const { access_token: token } = await house.signIn('bob@example.org');
  const answers = await Promise.all(
    Array.from({ length: 60 }, () =>
      house.ask('POST', '/api/v1/tokens', { token, body: { name: 'ci', expires_at: june } }),
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 50);
  assert.ok(answers.every(({ status }) => status === 201 || status === 409));
});

test('when a token was last used is known after the room was put down', async (t) => {
  const house = await sessionHouse(t);
  const { access_token: access } = await house.signIn('bob@example.org');
  const { token } = await make(house, access, ['read:lamp']);
  house.clock.move(60_000);
  await house.statusOf(token);
  await house.house.reload('session');
  await house.house.settled();
  const { body } = await house.ask('GET', '/api/v1/tokens', { token: access });
  assert.equal(body.items[0].last_used_at, '2026-01-02T03:05:05.000Z');
});

test('a change that makes a token is written down without the token', async (t) => {
  const house = await sessionHouse(t);
  const { access_token: access } = await house.signIn('bob@example.org');
  house.audit.rows.length = 0;
  const { token } = await make(house, access, ['lamp:switch']);
  await house.ask('DELETE', '/api/v1/tokens/1', { token: access });
  const rows = house.audit.rows.map(
    ({ action, resourceType, resourceId, status }) =>
      `${action} ${resourceType} ${resourceId} ${status}`,
  );
  assert.deepEqual(rows, ['token:create token 1 success', 'token:delete token 1 success']);
  assert.ok(!JSON.stringify(house.audit.rows).includes(token));
});

test('the intersection of two lists allows an action exactly when both do', () => {
  const grant = fc.constantFrom('*', 'a:*', 'a:x', 'a:y', 'b:*', 'b:x', 'ab:*', 'ab:x', 'webshell');
  const action = fc.constantFrom('a:x', 'a:y', 'a:z', 'b:x', 'b:z', 'ab:x', 'webshell', 'c:x');
  const who = (grants: readonly string[]): Principal => ({
    kind: 'token',
    id: '1',
    role: 'user',
    grants,
  });
  fc.assert(
    fc.property(fc.array(grant), fc.array(grant), action, (some, others, wanted) => {
      assert.equal(
        holds(who(intersection(some, others)), wanted),
        holds(who(some), wanted) && holds(who(others), wanted),
      );
    }),
  );
});
