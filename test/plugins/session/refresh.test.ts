import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { beside } from '../../kit/beside.ts';
import { sessionHouse } from './house.ts';
import { storedIn } from '../../kit/stored.ts';

const day = 24 * 60 * 60_000;

test('a refresh token is good once and brings the next pair', async (t) => {
  const { signIn, refresh, statusOf, clock } = await sessionHouse(t);
  const first = await signIn('bob@example.org');
  clock.move(60_000);
  const second = await refresh(first.refresh_token);
  assert.equal(second.status, 200);
  assert.notEqual(second.body.refresh_token, first.refresh_token);
  assert.equal(second.body.user.email, 'bob@example.org');
  assert.equal(await statusOf(second.body.access_token), 200);
  assert.equal((await refresh(second.body.refresh_token)).status, 200);
});

test('two tabs that refresh at the same moment both go on', async (t) => {
  const { signIn, refresh, statusOf, clock } = await sessionHouse(t);
  const { refresh_token: shared } = await signIn('bob@example.org');
  const tabs = await Promise.all([refresh(shared), refresh(shared), refresh(shared)]);
  assert.deepEqual(
    tabs.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.equal(new Set(tabs.map(({ body }) => body.refresh_token)).size, 3);
  clock.move(60_000);
  for (const { body } of tabs) {
    assert.equal(await statusOf(body.access_token), 200);
    assert.equal((await refresh(body.refresh_token)).status, 200);
  }
});

test('a client whose answer was lost may ask again for ten seconds', async (t) => {
  const { signIn, refresh, clock } = await sessionHouse(t);
  const { refresh_token: token } = await signIn('bob@example.org');
  await refresh(token);
  clock.move(9_999);
  assert.equal((await refresh(token)).status, 200);
});

test('the answer may also be lost because the process died: the next one knows the grace', async (t) => {
  const { signIn, refresh, house } = await sessionHouse(t);
  const { refresh_token: token } = await signIn('bob@example.org');
  await refresh(token);
  await house.reload('session');
  assert.equal((await refresh(token)).status, 200);
});

test('a spent token that is shown after its grace ends the session for thief and owner, and is told', async (t) => {
  const { signIn, refresh, statusOf, clock, audit, ask } = await sessionHouse(t);
  const stolen = await signIn('bob@example.org');
  const owner = await refresh(stolen.refresh_token);
  const other = await signIn('bob@example.org');
  clock.move(11_000);
  audit.rows.length = 0;
  assert.equal((await refresh(stolen.refresh_token)).status, 401);
  assert.equal((await refresh(owner.body.refresh_token)).status, 401);
  assert.equal(await statusOf(owner.body.access_token), 401);
  assert.equal(await statusOf(stolen.access_token), 401);
  assert.equal(await statusOf(other.access_token), 200, 'another session of the same person');

  const [row, ...rest] = audit.rows.filter(({ action }) => action === 'auth:refresh');
  assert.deepEqual(
    [row?.action, row?.status, row?.principal.email, row?.resourceType],
    ['auth:refresh', 'denied', 'bob@example.org', 'session'],
  );
  assert.deepEqual(
    rest.map(({ status }) => status),
    ['denied'],
    'a refused refresh is never written down as one that succeeded',
  );
  const heard = await until(async () => {
    const { body } = await ask<{ type: string; event: object }[]>('GET', '/api/v1/lamp/heard', {
      token: other.access_token,
    });
    return body.length >= 2 ? body : undefined;
  });
  assert.deepEqual(heard.map(({ type }) => type).toSorted(), ['session.ended', 'session.replayed']);
  const replay = heard.find(({ type }) => type === 'session.replayed');
  assert.deepEqual(replay?.event, { session_id: row?.resourceId, user_id: 2, ip: '127.0.0.1' });
});

test('a spent token ends the session however long ago it was spent: its own row is forgotten, what it is is not', async (t) => {
  const { signIn, refresh, statusOf, clock, audit, house } = await sessionHouse(t);
  const stolen = await signIn('bob@example.org');
  let newest = stolen;
  for (let times = 0; times < 30; times++) {
    clock.move(60_000);
    newest = (await refresh(newest.refresh_token)).body;
  }
  const database = storedIn(house.dataDir, { readonly: true });
  const kept = database
    .prepare('select count(*) from session_refresh_tokens where parent_id is null')
    .pluck()
    .get();
  database.close();
  assert.equal(kept, 0, 'the first token is not among those that are kept');

  audit.rows.length = 0;
  assert.equal((await refresh(stolen.refresh_token)).status, 401);
  assert.deepEqual(
    [audit.rows[0]?.status, audit.rows[0]?.principal.email],
    ['denied', 'bob@example.org'],
  );
  assert.equal(await statusOf(newest.access_token), 401);
  assert.equal((await refresh(newest.refresh_token)).status, 401);
});

test('a spent token ends the session although it would have expired by now', async (t) => {
  const { signIn, refresh, statusOf, clock } = await sessionHouse(t);
  const stolen = await signIn('bob@example.org');
  clock.move(4 * day);
  const second = await refresh(stolen.refresh_token);
  clock.move(4 * day);
  const third = await refresh(second.body.refresh_token);
  assert.equal((await refresh(stolen.refresh_token)).status, 401);
  assert.equal(await statusOf(third.body.access_token), 401);
});

test('whoever invents a token, or takes two real ones apart, ends nobody’s session', async (t) => {
  const { signIn, refresh, statusOf } = await sessionHouse(t);
  const [bob, vera] = [await signIn('bob@example.org'), await signIn('vera@example.org')];
  const own = (token: string): string => token.slice('svc_rt_'.length + 43);
  for (const invented of [
    `svc_rt_${'A'.repeat(86)}`,
    `svc_rt_${'A'.repeat(43)}${own(bob.refresh_token)}`,
    `svc_rt_${own(bob.refresh_token)}`,
  ]) {
    assert.equal((await refresh(invented)).status, 401);
  }
  assert.deepEqual(
    [await statusOf(bob.access_token), await statusOf(vera.access_token)],
    [200, 200],
  );
  assert.equal((await refresh(bob.refresh_token)).status, 200);
});

test('a session from before its tokens had anything in common goes on, and has it from then on', async (t) => {
  const { signIn, refresh, statusOf, clock, house } = await sessionHouse(t);
  const { refresh_token: first } = await signIn('bob@example.org');
  const old = `svc_rt_${'o'.repeat(43)}`;
  await beside(house.dataDir, (database) => {
    database.prepare('update session_sessions set family = null').run();
    database
      .prepare('update session_refresh_tokens set hash = ?')
      .run(createHash('sha256').update(old).digest('base64url'));
  });
  assert.equal((await refresh(first)).status, 401);

  let newest = await refresh(old);
  assert.match(newest.body.refresh_token, /^svc_rt_[\w-]{86}$/);
  const next = newest.body.refresh_token;
  for (let times = 0; times < 25; times++) {
    clock.move(60_000);
    newest = await refresh(newest.body.refresh_token);
  }
  assert.equal((await refresh(next)).status, 401);
  assert.equal(await statusOf(newest.body.access_token), 401);
});

test('a refresh does not make the login younger, over a restart neither', async (t) => {
  const { signIn, refresh, ask, clock, house } = await sessionHouse(t);
  const began = clock.now();
  let pair = await signIn('bob@example.org');
  for (let times = 0; times < 3; times++) {
    clock.move(10 * 60_000);
    pair = (await refresh(pair.refresh_token)).body;
    await house.reload('session');
    assert.equal(
      (await ask('GET', '/api/v1/lamp/look', { token: pair.access_token })).body.authenticatedAt,
      began,
    );
  }
  const { body: made } = await ask('POST', '/api/v1/tokens', {
    token: pair.access_token,
    body: { name: 'ci', expires_at: '2026-06-01T00:00:00Z' },
  });
  assert.equal(
    (await ask('GET', '/api/v1/lamp/look', { token: made.token })).body.authenticatedAt,
    undefined,
    'an API token never signed in',
  );
});

test('a spent token that another client shows has no grace', async (t) => {
  const { signIn, refresh } = await sessionHouse(t);
  const { refresh_token: token } = await signIn('bob@example.org', 'tab');
  const next = await refresh(token, 'tab');
  assert.equal((await refresh(token, 'thief')).status, 401);
  assert.equal((await refresh(next.body.refresh_token, 'tab')).status, 401);
});

test('a session that is refreshed lasts thirty days, one that is left alone seven', async (t) => {
  const { signIn, refresh, clock } = await sessionHouse(t);
  const idle = await signIn('bob@example.org');
  let busy = await signIn('vera@example.org');
  for (let passed = 0; passed < 24; passed += 6) {
    clock.move(6 * day);
    const next = await refresh(busy.refresh_token);
    assert.equal(next.status, 200);
    busy = next.body;
  }
  assert.equal((await refresh(idle.refresh_token)).status, 401);
  clock.move(6 * day);
  assert.equal((await refresh(busy.refresh_token)).status, 401);
});

test('no access token and no API token is a refresh token', async (t) => {
  const { signIn, refresh, ask, house } = await sessionHouse(t);
  const { access_token: access, refresh_token: token } = await signIn('bob@example.org');
  const made = await ask('POST', '/api/v1/tokens', {
    token: access,
    body: { name: 'ci', expires_at: '2026-06-01T00:00:00Z' },
  });
  for (const wrong of [
    access,
    made.body.token,
    house.token,
    `${token}x`,
    token.toUpperCase(),
    'null',
  ]) {
    assert.equal((await refresh(wrong)).status, 401);
  }
  assert.equal((await refresh(token)).status, 200, 'none of which has spent the real one');
});

test('a password change, a new role and a disabled account end the session at the next refresh', async (t) => {
  const { signIn, refresh, people } = await sessionHouse(t);
  for (const change of [{ version: 1 }, { role: 'user' }, { status: 'disabled' as const }]) {
    const { refresh_token: token } = await signIn('vera@example.org');
    people.change(3, change);
    assert.equal((await refresh(token)).status, 401);
  }
});

test('however often a session is refreshed, it keeps a bounded number of rows', async (t) => {
  const { signIn, refresh, clock, house } = await sessionHouse(t);
  let { refresh_token: token } = await signIn('bob@example.org');
  for (let i = 0; i < 60; i++) {
    clock.move(1_000);
    const siblings = await Promise.all([refresh(token), refresh(token)]);
    token = siblings[0].body.refresh_token;
  }
  const database = storedIn(house.dataDir, { readonly: true });
  const rows = database
    .prepare('select count(*) from session_refresh_tokens')
    .pluck()
    .get() as number;
  database.close();
  assert.ok(rows <= 40, `${rows} rows`);
  assert.equal((await refresh(token)).status, 200);
});

test('one token is not answered with successors without end', async (t) => {
  const { signIn, refresh } = await sessionHouse(t);
  const { refresh_token: token } = await signIn('bob@example.org');
  const answers = await Promise.all(Array.from({ length: 30 }, () => refresh(token)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 10);
  assert.equal(answers.filter(({ status }) => status === 429).length, 20);
});

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + 10_000; ;) {
    const found = await look();
    if (found !== undefined) {
      return found;
    }
    assert.ok(Date.now() < deadline, 'it did not happen within 10 s');
    await pause(20);
  }
}
