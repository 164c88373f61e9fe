import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import Type from 'typebox';

import { checkRoute, coreRoutes, type Readiness, routeKey } from '../../core/http/index.ts';
import { byteRoute, listRoute, route, type RouteDeclaration, socketRoute } from '../../core/sdk/index.ts';
import { type House, openHouse } from './house.ts';

let house: House;
const fit: readonly Readiness[] = [
  { part: 'plugins', ok: true },
  { part: 'storage', ok: true },
  { part: 'disk', ok: true },
];
let parts = fit;

const Thing = Type.Object({ id: Type.Integer(), place: Type.Tuple([Type.Number(), Type.Number()]) });

before(async () => {
  house = await openHouse([
    listRoute({
      path: '/api/v1/things',
      access: 'any',
      summary: 'All <b>things</b>',
      query: Type.Object({ q: Type.Optional(Type.String({ description: 'Words' })) }),
      items: Thing,
      handle: () => ({ items: [], total: 0 }),
    }),
    route({
      method: 'POST',
      path: '/api/v1/things',
      access: 'thing:create',
      summary: 'New',
      body: Type.Object({ name: Type.String() }),
      response: Thing,
      errors: ['upstream_error'],
      handle: () => ({ id: 1, place: [1, 2] as [number, number] }),
    }),
    route({
      method: 'DELETE',
      path: '/api/v1/things/{id}',
      access: 'thing:delete',
      summary: 'Away',
      params: Type.Object({ id: Type.Integer() }),
      handle: () => {},
    }),
    byteRoute({
      method: 'POST',
      path: '/internal/push',
      access: 'machine',
      summary: 'Push',
      consumes: ['application/x-protobuf'],
      produces: 'text/plain',
      handle: () => {},
    }),
    socketRoute({ path: '/api/v1/shell', access: 'webshell', summary: 'Shell', handle: () => {} }),
  ]);
  house.publish('host', coreRoutes({ registry: house.registry, version: '9.9.9', readiness: () => parts, metrics: () => 'svc_up 1\n' }));
});
after(() => house.close());

test('health is public; readiness names what is not ready and when to ask again', async () => {
  assert.deepEqual((await house.call('GET', '/healthz', { token: '' })).body, { status: 'ok' });
  assert.deepEqual((await house.call('GET', '/readyz', { token: '' })).body, { status: 'ready', parts: fit });
  parts = [...fit.slice(0, 2), { part: 'disk', ok: false, detail: 'only 100 MB left' }];
  const { status, body, headers } = await house.call('GET', '/readyz', { token: '' });
  parts = fit;
  assert.deepEqual([status, body.error, body.details, headers.get('retry-after')], [503, 'unavailable', [{ path: '/disk', message: 'only 100 MB left' }], '5']);
});

test('metrics are for who may read them', async () => {
  assert.equal((await house.call('GET', '/metrics', { token: '' })).status, 401);
  assert.equal((await house.call('GET', '/metrics', { token: 'user-1' })).status, 403);
  const { text, headers } = await house.call('GET', '/metrics', { token: 'user-1=host:metrics' });
  assert.deepEqual([text, headers.get('content-type')], ['svc_up 1\n', 'text/plain; version=0.0.4; charset=utf-8']);
});

describe('the API document', () => {
  test('has every route with its access, shapes and errors', async () => {
    assert.equal((await house.call('GET', '/api/v1/openapi.json', { token: '' })).status, 401);
    const { body: document } = await house.call('GET', '/api/v1/openapi.json', { token: 'user-1' });
    assert.deepEqual([document.openapi, document.info.version], ['3.1.0', '9.9.9']);
    const declared = [...house.registry.current.routes.values()].map(({ value }) => `${value.method.toLowerCase()} ${value.path}`);
    const described = Object.entries(document.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    assert.deepEqual(described.toSorted(), declared.toSorted());

    const { get: list, post } = document.paths['/api/v1/things'];
    assert.deepEqual(
      list.parameters.map((parameter: { name: string }) => parameter.name),
      ['q', 'limit', 'cursor'],
    );
    assert.deepEqual(list.responses['200'].content['application/json'].schema.required, ['items', 'next_cursor', 'total']);
    assert.equal(post['x-svc-access'], 'thing:create');
    assert.equal(post.requestBody.content['application/json'].schema.additionalProperties, false);
    assert.deepEqual(Object.keys(post.responses), ['201', '400', '401', '403', '409', '500', '502', '503']);
    assert.deepEqual(post.responses['201'].content['application/json'].schema.properties.place.prefixItems, [{ type: 'number' }, { type: 'number' }]);
    const { delete: away } = document.paths['/api/v1/things/{id}'];
    assert.deepEqual(away.parameters, [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }]);
    assert.ok(away.responses['204'] && away.responses['404']);
    assert.deepEqual(document.paths['/internal/push'].post.security, [{ bearer: [] }, { basic: [] }]);
    assert.ok(document.paths['/api/v1/shell'].get.responses['101']);
    const ids = Object.values(document.paths as Record<string, Record<string, { operationId: string }>>).flatMap((methods) =>
      Object.values(methods).map((operation) => operation.operationId),
    );
    assert.equal(new Set(ids).size, ids.length);
  });

  test('follows the house as it changes', async () => {
    house.publish('later', [route({ method: 'GET', path: '/api/v1/later', access: 'any', summary: 'Later', handle: () => {} })]);
    assert.ok((await house.call('GET', '/api/v1/openapi.json')).body.paths['/api/v1/later']);
    house.registry.publish({ remove: ['later'] });
    assert.equal((await house.call('GET', '/api/v1/openapi.json')).body.paths['/api/v1/later'], undefined);
  });

  test('is also a page that needs no network and runs nothing', async () => {
    const { status, text, headers } = await house.call('GET', '/api/docs', { token: '' });
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    assert.match(headers.get('content-security-policy')!, /^default-src 'none'; style-src 'sha256-[\w+/=]+';/);
    assert.doesNotMatch(text, /<script|<link|<img|src=|https?:\/\//);
    assert.match(text, /All &lt;b&gt;things&lt;\/b&gt;/);
    assert.match(text, /<code>\/api\/v1\/things\/\{id\}<\/code>/);
  });
});

describe('a declaration', () => {
  const good = { kind: 'json', method: 'GET', path: '/api/v1/x/{id}', access: 'any', summary: 'x', handle: () => {} } as const;
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
      [{ access: undefined }, /^route GET \/api\/v1\/x\/\{id\} says nothing about access/],
      [{ access: 'everyone' }, /neither one of public, any, admin/],
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
      [{ params: Type.Object({ key: Type.String() }) }, /has the parameter \{id\} in its path but not in its params schema/],
      [{ params: Type.Object({ id: Type.String(), key: Type.String() }) }, /describes the parameter "key" that its path does not have/],
      [{ body: Type.Object({}) }, /is a GET with a body/],
      [{ method: 'HEAD' }, /has no method that can be declared/],
      [{ summary: '' }, /has no summary/],
      [{ handle: undefined }, /has no handle function/],
      [{ kind: undefined }, /has no kind/],
      [{ kind: 'list' }, /list without an items schema/],
      [{ kind: 'bytes' }, /which media type it produces/],
      [{ kind: 'socket', method: 'POST' }, /always a GET/],
    ];
    for (const [more, sentence] of cases) {
      assert.throws(
        () => checkRoute(broken(more)),
        (error: Error & { code?: string }) => error.code === 'invalid_argument' && sentence.test(error.message),
        JSON.stringify(more),
      );
    }
  });
});
