import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import Type from 'typebox';

import { checkRoute, coreRoutes, type Readiness, routeKey } from '../../core/http/index.ts';
import type { RouteDeclaration } from '../../core/sdk/index.ts';
import { type House, openHouse } from './house.ts';

let house: House;
const fit: readonly Readiness[] = [
  { part: 'plugins', ok: true },
  { part: 'storage', ok: true },
  { part: 'disk', ok: true },
];
let parts = fit;

before(async () => {
  house = await openHouse([]);
  house.publish('host', coreRoutes({ readiness: () => parts, metrics: () => 'svc_up 1\n' }));
});
after(() => house.close());

test('health is public; readiness names what is not ready and when to ask again', async () => {
  assert.deepEqual((await house.call('GET', '/healthz', { token: '' })).body, { status: 'ok' });
  assert.deepEqual((await house.call('GET', '/readyz', { token: '' })).body, {
    status: 'ready',
    parts: fit.map((part) => ({ ...part, state: 'ready' })),
  });
  for (const path of ['/readyz?verbose', '/readyz?t=1', '/healthz?t=1&verbose']) {
    assert.equal((await house.call('GET', path, { token: '' })).status, 200, path);
  }
  parts = [...fit.slice(0, 2), { part: 'disk', ok: false, detail: 'only 100 MB left' }];
  const { status, body, headers } = await house.call('GET', '/readyz', { token: '' });
  parts = fit;
  assert.deepEqual(
    [status, body.error, body.details, headers.get('retry-after')],
    [503, 'unavailable', [{ path: '/disk', message: 'only 100 MB left' }], '5'],
  );
});

test('metrics are for who may read them', async () => {
  assert.equal((await house.call('GET', '/metrics', { token: '' })).status, 401);
  assert.equal((await house.call('GET', '/metrics', { token: 'user-1' })).status, 403);
  const { text, headers } = await house.call('GET', '/metrics', { token: 'user-1=host:metrics' });
  assert.deepEqual(
    [text, headers.get('content-type')],
    ['svc_up 1\n', 'text/plain; version=0.0.4; charset=utf-8'],
  );
});

describe('a declaration', () => {
  const good = {
    kind: 'json',
    method: 'GET',
    path: '/api/v1/x/{id}',
    access: 'any',
    summary: 'x',
    handle: () => {},
  } as const;
  const broken = (more: object): RouteDeclaration => ({ ...good, ...more });

  test('that can be served has a key without parameter names', () => {
    assert.equal(checkRoute(good), 'GET /api/v1/x/{}');
    assert.equal(routeKey({ method: 'PUT', path: '/a/{one}/b/{two}' }), 'PUT /a/{}/b/{}');
    for (const access of [
      'public',
      'any',
      'admin',
      'machine',
      'webshell',
      'edge:create',
      { action: 'admin', self: 'id' },
      { action: 'user:update', self: 'id' },
    ]) {
      checkRoute(broken({ access }));
    }
  });

  test('that cannot is refused with a sentence that names the route and the fix', () => {
    const cases: [object, RegExp][] = [
      [{ access: undefined }, /^route GET \/api\/v1\/x\/\{id\} does not declare its access/],
      [{ access: 'everyone' }, /neither one of public, known, any, admin/],
      [{ access: 'edge:*' }, /has the access "edge:\*"/],
      [{ access: { action: 'any', self: 'id' } }, /has the access "any"/],
      [{ access: { action: 'admin', self: 'user' } }, /no such parameter/],
      [{ path: 'api/v1/x' }, /does not begin with "\/"/],
      [{ path: '/api//x' }, /path segment ""/],
      [{ path: '/api/../x' }, /path segment ".."/],
      [{ path: '/api/{id}.json' }, /one whole parameter/],
      [{ path: '/api/{Id}' }, /one whole parameter/],
      [{ path: '/api/*' }, /path segment "\*"/],
      [{ path: '/x/{id}/y/{id}' }, /names the parameter \{id\} twice/],
      [
        { params: Type.Object({ key: Type.String() }) },
        /has the parameter \{id\} in its path but not in its params schema/,
      ],
      [
        { params: Type.Object({ id: Type.String(), key: Type.String() }) },
        /describes the parameter "key" that its path does not have/,
      ],
      [{ body: Type.Object({}) }, /is a GET with a body/],
      [{ method: 'HEAD' }, /has no method that can be declared/],
      [{ summary: '' }, /has no summary/],
      [{ handle: undefined }, /has no handle function/],
      [{ kind: undefined }, /has no kind/],
      [{ kind: 'list' }, /list without an items schema/],
      [{ kind: 'bytes' }, /does not declare its media type/],
      [{ kind: 'socket', method: 'POST' }, /always a GET/],
      [
        { timeoutMS: 5 },
        /has the unknown key "timeoutMS" for a json route; did you mean "timeoutMs"\?/,
      ],
      [{ maxMessageBytes: 5 }, /has the unknown key "maxMessageBytes" for a json route/],
      [{ xyz: 1 }, /has the unknown key "xyz" for .*; known keys: kind, method, path/],
      [{ kind: 'list', items: Type.Object({}), body: Type.Object({}) }, /for a list route/],
      [{ kind: 'socket', timeoutMs: 5 }, /for a socket route/],
      [{ kind: 'socket', maxMesageBytes: 5 }, /did you mean "maxMessageBytes"\?/],
      [{ kind: 'events', produce: 'text/plain' }, /for an event route/],
      [
        { kind: 'bytes', produces: 'text/plain', consume: [] },
        /for a byte route; did you mean "consumes"\?/,
      ],
    ];
    for (const [more, sentence] of cases) {
      assert.throws(
        () => checkRoute(broken(more)),
        (error: Error & { code?: string }) =>
          error.code === 'invalid_argument' && sentence.test(error.message),
        JSON.stringify(more),
      );
    }
  });
});
