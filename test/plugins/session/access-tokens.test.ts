import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Authenticator } from 'svc/sdk';

import { forgedTokens, mint, signed, stealKey } from './forged.ts';
import { beside } from '../../kit/beside.ts';
import { sessionHouse } from './house.ts';
import { storedIn } from '../../kit/stored.ts';

const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;
const headerOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()) as Record<string, unknown>;
const day = 24 * 60 * 60_000;

test('every forged or confused token is refused in the same way', async (t) => {
  const { house, ask, signIn, statusOf } = await sessionHouse(t);
  const { access_token: real, refresh_token: refresh } = await signIn('bob@example.org');
  const { body: pat } = await ask('POST', '/api/v1/tokens', {
    token: real,
    body: { name: 'ci', expires_at: '2026-06-01T00:00:00Z' },
  });
  const stolen = stealKey(house.dataDir);
  assert.equal(
    await statusOf(mint(stolen, claimsOf(real))),
    200,
    'the forger can make good tokens, so what is refused is refused for its error',
  );

  const tokens = forgedTokens(real, stolen, claimsOf(real), {
    'a refresh token': refresh,
    'an API token cut short': String(pat.token).slice(0, -1),
    'an API token that was never made': `svc_pat_${'A'.repeat(43)}`,
    'an API token in capitals': String(pat.token).toUpperCase(),
    'an API token behind a JWT': `${real}.${pat.token}`,
    "the operator's token with one character less": house.token.slice(0, -1),
  });
  t.diagnostic(`${Object.keys(tokens).length} tokens`);
  assert.ok(Object.keys(tokens).length >= 60);
  const sentences = new Set<string>();
  for (const [name, token] of Object.entries(tokens)) {
    const { status, body } = await ask('GET', '/api/v1/lamp/look', { token });
    assert.equal(status, 401, name);
    sentences.add(body.message);
  }
  assert.equal(sentences.size, 1, [...sentences].join('; '));
  assert.equal(await statusOf(real), 200);
});

test('a token of 100 KB, and one of unicode, are nobody', async (t) => {
  const { house, signIn } = await sessionHouse(t);
  const { access_token: real } = await signIn('bob@example.org');
  const { kid, key } = stealKey(house.dataDir);
  const huge = signed(
    JSON.stringify({ alg: 'HS256', typ: 'JWT', kid }),
    JSON.stringify({ ...claimsOf(real), email: 'x'.repeat(100_000) }),
    key,
  );
  const authenticator = house.service(Authenticator);
  for (const value of [huge, 'é.é.é', '\u0000', '', real.replace('.', '\u200b.')]) {
    assert.equal(
      authenticator.authenticate({ scheme: 'bearer', value, ip: '127.0.0.1' }),
      undefined,
    );
  }
  const overHttp = await fetch(`${house.url}/api/v1/lamp/look`, {
    headers: { authorization: `Bearer ${huge}` },
  });
  assert.equal(overHttp.status, 431, 'no head is read that far');
});

test('Basic credentials and tickets are nobody here, even with a good token in them', async (t) => {
  const { house, signIn } = await sessionHouse(t);
  const { access_token: value } = await signIn('bob@example.org');
  const authenticator = house.service(Authenticator);
  assert.notEqual(authenticator.authenticate({ scheme: 'bearer', value, ip: '' }), undefined);
  for (const scheme of ['basic', 'ticket'] as const) {
    assert.equal(authenticator.authenticate({ scheme, value, ip: '' }), undefined);
  }
  const basic = await fetch(`${house.url}/api/v1/lamp/look`, {
    headers: {
      authorization: `Basic ${Buffer.from('bob@example.org:correct horse').toString('base64')}`,
    },
  });
  assert.equal(basic.status, 401);
});

test('an access token lives for fifteen minutes, also when it is in use all the time', async (t) => {
  const { signIn, statusOf, clock } = await sessionHouse(t);
  const { access_token: token } = await signIn('bob@example.org');
  for (let minute = 0; minute < 15; minute++) {
    assert.equal(await statusOf(token), 200);
    clock.move(60_000);
  }
  assert.equal(await statusOf(token), 401);
});

describe('the next request', () => {
  const changes = {
    'after a password change is refused': { change: { version: 1 }, status: 401 },
    'after a change of role is refused': { change: { role: 'viewer' }, status: 401 },
    'of a disabled account is refused': { change: { status: 'disabled' }, status: 401 },
    'after the role got more grants has them': {
      change: { grants: ['lamp:switch', 'lamp:break'] },
      status: 200,
    },
    'after the role lost its grants has none': { change: { grants: [] }, status: 403 },
  } as const;
  for (const [sentence, { change, status }] of Object.entries(changes)) {
    test(sentence, async (t) => {
      const { signIn, ask, people } = await sessionHouse(t);
      const { access_token: token } = await signIn('bob@example.org');
      assert.equal((await ask('GET', '/api/v1/lamp/switch', { token })).status, 200);
      people.change(2, change);
      assert.equal((await ask('GET', '/api/v1/lamp/switch', { token })).status, status);
    });
  }

  test('of a deleted account is refused', async (t) => {
    const { signIn, statusOf, people } = await sessionHouse(t);
    const { access_token: token } = await signIn('bob@example.org');
    people.remove(2);
    assert.equal(await statusOf(token), 401);
  });

  test('sees the organizations of today', async (t) => {
    const { signIn, ask, people } = await sessionHouse(t);
    const { access_token: token } = await signIn('bob@example.org');
    people.change(2, { orgs: [1, 7] });
    assert.deepEqual((await ask('GET', '/api/v1/lamp/look', { token })).body.orgs, [1, 7]);
  });
});

test('keys are rotated after thirty days; the old one verifies until its last token has expired, then it is gone', async (t) => {
  const { house, signIn, statusOf, clock } = await sessionHouse(t);
  clock.move(30 * day - 60_000);
  const { access_token: old } = await signIn('bob@example.org');
  clock.move(60_000);
  await house.reload('session');
  const { access_token: fresh } = await signIn('bob@example.org');
  assert.notEqual(headerOf(fresh)['kid'], headerOf(old)['kid']);
  assert.equal(await statusOf(old), 200);
  assert.equal(await statusOf(fresh), 200);

  clock.move(17 * 60_000);
  await house.reload('session');
  const database = storedIn(house.dataDir, { readonly: true });
  assert.deepEqual(database.prepare('select kid from session_keys').pluck().all(), [
    headerOf(fresh)['kid'],
  ]);
  database.close();
});

test('a key that does not open any more is replaced, and people sign in as ever', async (t) => {
  const first = await sessionHouse(t);
  const { access_token: token } = await first.signIn('bob@example.org');
  await beside(first.house.dataDir, (database) =>
    database.prepare(`update session_keys set sealed = 'v1.x.y.z.w'`).run(),
  );
  await first.house.reload('session');
  assert.equal(await first.statusOf(token), 401);
  const { access_token: fresh } = await first.signIn('bob@example.org');
  assert.equal(await first.statusOf(fresh), 200);
  assert.ok(first.house.lines.some((line) => line.includes('signing key cannot be decrypted')));
});

test('no signing key stands in the database in plain text', async (t) => {
  const { house } = await sessionHouse(t);
  const { key } = stealKey(house.dataDir);
  const database = storedIn(house.dataDir, { readonly: true });
  const sealed = database.prepare('select sealed from session_keys').pluck().get() as string;
  database.close();
  assert.match(sealed, /^v1\./);
  assert.ok(!sealed.includes(key.export().toString('base64url')));
});
