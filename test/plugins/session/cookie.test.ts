import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sessionHouse } from './house.ts';

const password = 'correct horse';

test('a page keeps its refresh token in a cookie that no script and no other site can use', async (t) => {
  const { house, ask } = await sessionHouse(t);
  const post = (
    path: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    fetch(`${house.url}/api/v1/auth/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  const login = await post(
    'login',
    { email: 'ada@example.org', password, cookie: true },
    { origin: house.url },
  );
  assert.equal(login.status, 200);
  const cookie = login.headers.getSetCookie()[0] ?? '';
  assert.match(cookie, /^svc_refresh_\d+=[\w.-]+; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
  assert.ok(!('refresh_token' in ((await login.json()) as object)));
  const pair = cookie.split(';')[0]!;

  const elsewhere = await post('refresh', {}, { cookie: pair, origin: 'https://evil.example' });
  assert.equal(elsewhere.status, 403);
  assert.equal(
    (await post('refresh', {}, { cookie: pair, 'sec-fetch-site': 'same-site' })).status,
    403,
  );
  assert.equal((await post('refresh', {})).status, 401);

  const refreshed = await post(
    'refresh',
    {},
    { cookie: pair, origin: house.url, 'sec-fetch-site': 'same-origin' },
  );
  assert.equal(refreshed.status, 200);
  const { access_token: token } = (await refreshed.json()) as { access_token: string };
  assert.notEqual(refreshed.headers.getSetCookie()[0]!.split(';')[0], pair, 'it is good once');

  const out = await fetch(`${house.url}/api/v1/auth/logout`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  assert.match(out.headers.getSetCookie()[0] ?? '', /^svc_refresh_\d+=; Max-Age=0;/);
  assert.equal((await ask('GET', '/api/v1/lamp/sell', { token })).status, 401);
});

test('over TLS the cookie is secure, and whoever brings the token in the body gets it in the answer', async (t) => {
  const { house } = await sessionHouse(t);
  const { host } = new URL(house.url);
  const login = (body: object, origin: string): Promise<Response> =>
    fetch(`${house.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify({ email: 'ada@example.org', password, ...body }),
    });
  assert.match(
    (await login({ cookie: true }, `https://${host}`)).headers.getSetCookie()[0] ?? '',
    /; Secure$/,
  );
  const plain = await login({}, house.url);
  assert.deepEqual(plain.headers.getSetCookie(), []);
  assert.equal(typeof ((await plain.json()) as { refresh_token?: string }).refresh_token, 'string');
});
