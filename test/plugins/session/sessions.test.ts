import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { sessionHouse } from './house.ts';
import { storedIn } from '../../kit/stored.ts';

const day = 24 * 60 * 60_000;

test('logging out ends access and refresh at once, here and nowhere else', async (t) => {
  const { signIn, ask, statusOf, refresh } = await sessionHouse(t);
  const here = await signIn('bob@example.org');
  const there = await signIn('bob@example.org');
  assert.equal(
    (await ask('POST', '/api/v1/auth/logout', { token: here.access_token })).status,
    204,
  );
  assert.equal(await statusOf(here.access_token), 401);
  assert.equal((await refresh(here.refresh_token)).status, 401);
  assert.equal(
    (await ask('POST', '/api/v1/auth/logout', { token: here.access_token })).status,
    401,
  );
  assert.equal(await statusOf(there.access_token), 200);
});

test('logging out everywhere ends every session of the person, and nobody else’s', async (t) => {
  const { signIn, ask, statusOf, refresh, audit } = await sessionHouse(t);
  const sessions = [
    await signIn('bob@example.org', 'phone'),
    await signIn('bob@example.org', 'desk'),
    await signIn('bob@example.org'),
  ];
  const other = await signIn('vera@example.org');
  const { body: script } = await ask('POST', '/api/v1/tokens', {
    token: other.access_token,
    body: { name: 'ci', expires_at: '2026-06-01T00:00:00Z' },
  });
  assert.equal(
    (await ask('POST', '/api/v1/auth/logout-all', { token: script.token })).status,
    409,
    'a script has no session to leave',
  );

  assert.equal(
    (await ask('POST', '/api/v1/auth/logout-all', { token: sessions[1]!.access_token })).status,
    204,
  );
  for (const { access_token: access, refresh_token: token } of sessions) {
    assert.equal(await statusOf(access), 401);
    assert.equal((await refresh(token)).status, 401);
  }
  assert.equal(await statusOf(other.access_token), 200);
  const row = audit.rows.find(
    ({ action, status }) => action === 'auth:logout-all' && status === 'success',
  );
  assert.deepEqual(
    [row?.resourceType, row?.resourceId, row?.after],
    ['user', '2', { sessions_ended: 3 }],
  );
});

test('every access token of a session ends with it, the refreshed ones too, and stays ended over a reload', async (t) => {
  const { signIn, ask, statusOf, refresh, house } = await sessionHouse(t);
  const first = await signIn('bob@example.org');
  const { body: second } = await refresh(first.refresh_token);
  await ask('POST', '/api/v1/auth/logout', { token: second.access_token });
  assert.deepEqual(
    [await statusOf(first.access_token), await statusOf(second.access_token)],
    [401, 401],
  );
  await house.reload('session');
  assert.deepEqual(
    [await statusOf(first.access_token), await statusOf(second.access_token)],
    [401, 401],
  );
});

test('a person sees where they are signed in and can end any of it', async (t) => {
  const { signIn, ask, statusOf, clock } = await sessionHouse(t);
  const phone = await signIn('bob@example.org', 'phone');
  clock.move(60_000);
  const desk = await signIn('bob@example.org', 'desk');
  await signIn('vera@example.org');
  const { body } = await ask('GET', '/api/v1/sessions', { token: desk.access_token });
  assert.equal(body.total, 2);
  const shown = body.items.map(({ id: _id, ...rest }: { id: string }) => rest);
  const common = { user_id: 2, ip: '127.0.0.1' };
  const times = (minute: string) => ({
    created_at: `2026-01-02T03:${minute}:05.000Z`,
    last_used_at: `2026-01-02T03:${minute}:05.000Z`,
    expires_at: `2026-01-09T03:${minute}:05.000Z`,
  });
  assert.deepEqual(shown, [
    { ...common, user_agent: 'desk', current: true, ...times('05') },
    { ...common, user_agent: 'phone', current: false, ...times('04') },
  ]);

  const lost = body.items[1].id as string;
  assert.equal(
    (await ask('DELETE', `/api/v1/sessions/${lost}`, { token: desk.access_token })).status,
    204,
  );
  assert.equal(await statusOf(phone.access_token), 401);
  assert.equal(
    (await ask('DELETE', `/api/v1/sessions/${lost}`, { token: desk.access_token })).status,
    404,
  );
  assert.equal((await ask('GET', '/api/v1/sessions', { token: desk.access_token })).body.total, 1);
});

test("somebody else's session is not found; an administrator lists and ends it", async (t) => {
  const { signIn, ask, statusOf, house } = await sessionHouse(t);
  const bob = await signIn('bob@example.org');
  const vera = await signIn('vera@example.org');
  const ada = await signIn('ada@example.org');
  const { id } = (await ask('GET', '/api/v1/sessions', { token: bob.access_token })).body.items[0];
  assert.equal(
    (await ask('DELETE', `/api/v1/sessions/${id}`, { token: vera.access_token })).status,
    404,
  );
  assert.equal(
    (await ask('GET', '/api/v1/sessions?user_id=2', { token: vera.access_token })).status,
    403,
  );
  assert.equal(
    (await ask('GET', '/api/v1/sessions?user_id=x', { token: ada.access_token })).status,
    400,
  );
  assert.equal(
    (await ask('GET', '/api/v1/sessions', { token: house.token })).body.total,
    0,
    'an operator is no user',
  );
  const listed = await ask('GET', '/api/v1/sessions?user_id=2', { token: ada.access_token });
  assert.equal(listed.body.items[0].id, id);
  assert.equal(
    (await ask('DELETE', `/api/v1/sessions/${id}`, { token: ada.access_token })).status,
    204,
  );
  assert.equal(await statusOf(bob.access_token), 401);
});

test('the list of sessions is read page by page', async (t) => {
  const { signIn, ask } = await sessionHouse(t);
  const pairs = [];
  for (let i = 0; i < 5; i++) {
    pairs.push(await signIn('bob@example.org', `tab ${i}`));
  }
  const { access_token: token } = pairs[0]!;
  const agents: string[] = [];
  let cursor = '';
  do {
    const { body } = await ask('GET', `/api/v1/sessions?limit=2${cursor && `&cursor=${cursor}`}`, {
      token,
    });
    assert.equal(body.total, 5);
    agents.push(...body.items.map(({ user_agent }: { user_agent: string }) => user_agent));
    cursor = body.next_cursor;
  } while (cursor !== '');
  assert.deepEqual(agents.toSorted(), ['tab 0', 'tab 1', 'tab 2', 'tab 3', 'tab 4']);
});

test('a person has at most a hundred sessions; the oldest makes room', async (t) => {
  const { signIn, ask, statusOf, clock } = await sessionHouse(t);
  const oldest = await signIn('bob@example.org');
  let newest = oldest;
  for (let i = 0; i < 100; i++) {
    clock.move(1);
    newest = await signIn('bob@example.org');
  }
  assert.equal(await statusOf(oldest.access_token), 401);
  assert.equal(
    (await ask('GET', '/api/v1/sessions', { token: newest.access_token })).body.total,
    100,
  );
});

test('sessions that ran out are not listed, and signing out of one is not found', async (t) => {
  const { signIn, ask, clock } = await sessionHouse(t);
  await signIn('bob@example.org');
  clock.move(8 * day);
  const { access_token: token } = await signIn('bob@example.org');
  assert.equal((await ask('GET', '/api/v1/sessions', { token })).body.total, 1);
});

test('what is over is cleared away: ended sessions once their access tokens are dead, others once they ran out', async (t) => {
  const { signIn, ask, clock, house } = await sessionHouse(t);
  const users = (): number[] => {
    const database = storedIn(house.dataDir, { readonly: true });
    const found = database
      .prepare('select user_id from session_sessions order by user_id')
      .pluck()
      .all() as number[];
    database.close();
    return found;
  };
  const swept = async (left: readonly number[]): Promise<void> => {
    await house.reload('session');
    for (const deadline = Date.now() + 10_000; users().join() !== left.join(); await pause(20)) {
      assert.ok(Date.now() < deadline, `left are the sessions of ${users().join()}`);
    }
  };
  const { access_token: token } = await signIn('bob@example.org');
  await signIn('vera@example.org');
  await ask('POST', '/api/v1/auth/logout', { token });
  clock.move(14 * 60_000);
  await house.reload('session');
  assert.deepEqual(users(), [2, 3]);
  clock.move(2 * 60_000);
  await swept([3]);
  for (let hours = 0; hours < 8 * 24; hours += 20) {
    clock.move(20 * 3_600_000);
    await house.reload('session');
    // The generation before must have gone, and noted the time, before that moves on.
    await house.settled();
  }
  await swept([]);
});

test('what is stored of a session names nobody and opens nothing', async (t) => {
  const { signIn, refresh, house, login } = await sessionHouse(t);
  const { access_token, refresh_token } = await signIn('bob@example.org');
  const { body } = await refresh(refresh_token);
  await login('bob@example.org', 'a wrong password');
  await house.stop();
  const database = storedIn(house.dataDir, { readonly: true });
  const tables = [
    'session_sessions',
    'session_refresh_tokens',
    'session_keys',
    'session_api_tokens',
    'session_setup',
  ];
  const text =
    JSON.stringify(tables.map((table) => database.prepare(`select * from ${table}`).all())) +
    house.lines.join('\n');
  database.close();
  for (const secret of [
    access_token,
    refresh_token,
    body.access_token,
    body.refresh_token,
    'correct horse',
    'a wrong password',
  ]) {
    assert.ok(!text.includes(secret.replace(/^svc_rt_/, '')), secret.slice(0, 8));
  }
});
