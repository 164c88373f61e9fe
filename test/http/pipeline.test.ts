import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import Type from 'typebox';

import { byteRoute, listRoute, route, SvcError, timestamp } from '../../core/sdk/index.ts';
import { type House, openHouse, until } from './house.ts';

const Thing = Type.Object({ id: Type.Integer(), name: Type.String() });
const rows = Array.from({ length: 120 }, (_, index) => ({
  id: 120 - index,
  name: `thing ${120 - index}`,
}));
let house: House;
/** State that nobody changes by hand. */
let lit = false;

const routes = [
  route({
    method: 'GET',
    path: '/api/v1/me',
    access: 'any',
    summary: 'Me',
    response: Type.Object({ kind: Type.String(), id: Type.String() }),
    handle: ({ principal: { kind, id } }) => ({ kind, id }),
  }),
  route({
    method: 'GET',
    path: '/api/v1/things/{id}',
    access: 'any',
    summary: 'One',
    params: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
    response: Thing,
    handle: ({ params }) => ({ id: params.id, name: 'x' }),
  }),
  route({
    method: 'GET',
    path: '/api/v1/things/mine',
    access: 'any',
    summary: 'Mine',
    response: Type.String(),
    handle: () => 'mine',
  }),
  route({
    method: 'POST',
    path: '/api/v1/things',
    access: 'thing:create',
    summary: 'New',
    body: Type.Object({
      name: Type.String({ minLength: 1, maxLength: 20 }),
      colour: Type.Optional(Type.Union([Type.Literal('red'), Type.Literal('blue')])),
      owner: Type.Optional(Type.Object({ email: Type.String({ format: 'email' }) })),
      labels: Type.Optional(Type.Record(Type.String(), Type.String())),
    }),
    response: Thing,
    handle: ({ body }) => ({ id: 1, name: body.name }),
  }),
  route({
    method: 'PUT',
    path: '/api/v1/things/{id}',
    access: 'thing:update',
    summary: 'Change',
    body: Type.Object({}),
    handle: () => {},
  }),
  listRoute({
    path: '/api/v1/things',
    access: 'any',
    summary: 'All',
    query: Type.Object({
      q: Type.Optional(Type.String()),
      tag: Type.Optional(Type.Array(Type.String())),
      on: Type.Optional(Type.Boolean()),
    }),
    items: Thing,
    handle({ page, query }) {
      const from = rows.filter(
        (row) =>
          row.id < ((page.after?.[0] as number | undefined) ?? Infinity) &&
          row.name.includes(query.q ?? ''),
      );
      const items = from.slice(0, page.limit);
      return {
        items,
        total: rows.length,
        next: from.length > items.length ? [items.at(-1)!.id] : undefined,
      };
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/crash',
    access: 'any',
    summary: 'Crash',
    handle: () => {
      throw new Error("SELECT * FROM users WHERE secret='hunter2' at /srv/app.ts");
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/refuse',
    access: 'any',
    summary: 'Refuse',
    handle: () => {
      throw new SvcError('rate_limited', 'slowly, please', { retryAfterSeconds: 3 });
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/slow',
    access: 'any',
    summary: 'Slow',
    timeoutMs: 50,
    handle: ({ signal }) =>
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
  }),
  route({
    method: 'GET',
    path: '/api/v1/wrong',
    access: 'any',
    summary: 'Wrong shape',
    response: Thing,
    handle: () => ({ id: 1, name: 'x', password: 'y' }),
  }),
  route({
    method: 'GET',
    path: '/api/v1/versioned',
    access: 'any',
    summary: 'Versioned',
    response: Type.Object({ updated_at: Type.String(), lit: Type.Boolean() }),
    handle: () => ({ updated_at: timestamp(1_700_000_000_000), lit }),
  }),
  route({
    method: 'PUT',
    path: '/api/v1/versioned',
    ifMatch: true,
    access: 'any',
    summary: 'Replace',
    response: Type.Object({ updated_at: Type.String() }),
    handle: (call) => {
      call.requireMatch({ updated_at: timestamp(1_700_000_000_000) });
      return { updated_at: timestamp(1_700_000_001_000) };
    },
  }),
  route({
    method: 'PUT',
    path: '/api/v1/apart',
    ifMatch: true,
    access: 'any',
    summary: 'Takes its call apart',
    response: Type.Object({ ok: Type.Boolean() }),
    handle: ({ setHeader, setStatus, requireMatch, note }) => {
      requireMatch({ updated_at: timestamp(1_700_000_000_000) });
      setHeader('x-apart', 'yes');
      setStatus(203);
      note({ resourceId: 'apart-1' });
      return { ok: true };
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/reload',
    access: 'any',
    summary: 'No body',
    status: 202,
    response: Type.Object({ ok: Type.Boolean() }),
    handle: () => ({ ok: true }),
  }),
  byteRoute({
    method: 'POST',
    path: '/api/v1/upload',
    access: 'any',
    summary: 'Upload',
    consumes: ['application/gzip'],
    maxBodyBytes: 4 * 1024 * 1024,
    produces: 'text/plain',
    handle: ({ body }) => `${body.length}`,
  }),
  byteRoute({
    method: 'GET',
    path: '/api/v1/page',
    access: 'public',
    summary: 'Page',
    produces: 'text/html; charset=utf-8',
    handle: (call) => {
      call.setHeader('content-security-policy', "default-src 'self'");
      return '<p>';
    },
  }),
  byteRoute({
    method: 'GET',
    path: '/api/v1/download',
    access: 'any',
    summary: 'Pieces',
    produces: 'application/octet-stream',
    async *handle() {
      yield Buffer.from('one ');
      yield Buffer.from('two');
    },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/users/{id}',
    access: { action: 'admin', self: 'id' },
    summary: 'Self or admin',
    handle: () => {},
  }),
  route({
    method: 'GET',
    path: '/api/v1/agents/custom/parts',
    access: 'any',
    summary: 'Literal branch',
    response: Type.String(),
    handle: () => 'literal',
  }),
  route({
    method: 'GET',
    path: '/api/v1/agents/{name}/memory',
    access: 'any',
    summary: 'Param branch',
    response: Type.String(),
    handle: ({ params }) => params.name!,
  }),
  route({
    method: 'GET',
    path: '/api/v1/echo',
    access: 'public',
    summary: 'What arrived',
    response: Type.Unknown(),
    handle: ({ ip, requestId, headers }) => ({ ip, requestId, agent: headers['user-agent'] }),
  }),
  route({
    method: 'GET',
    path: '/internal/ingest',
    access: 'machine',
    summary: 'Edges only',
    handle: () => {},
  }),
];

before(async () => {
  house = await openHouse(routes, { trustedProxies: ['127.0.0.1'] });
});
after(() => house.close());

describe('a call', () => {
  test('can be taken apart: each of its functions works without it', async () => {
    const { status, headers, body } = await house.call('PUT', '/api/v1/apart', {
      headers: { 'if-match': '*' },
    });
    assert.deepEqual([status, headers.get('x-apart'), body], [203, 'yes', { ok: true }]);
    assert.equal(house.changes.audit.at(-1)!.resourceId, 'apart-1');
    const stale = await house.call('PUT', '/api/v1/apart', { headers: { 'if-match': '"1"' } });
    assert.equal(stale.status, 409);
  });
});

describe('finding a route', () => {
  test('a literal segment beats a parameter, and a dead literal branch comes back for it', async () => {
    assert.equal((await house.call('GET', '/api/v1/things/mine')).body, 'mine');
    assert.equal((await house.call('GET', '/api/v1/agents/custom/parts')).body, 'literal');
    assert.equal((await house.call('GET', '/api/v1/agents/custom/memory')).body, 'custom');
  });

  test('an unknown path is not_found with a request id, and says nothing else', async () => {
    const { status, body, headers } = await house.call('GET', '/api/v1/nowhere', { token: '' });
    assert.equal(status, 404);
    assert.deepEqual(Object.keys(body), ['error', 'message', 'request_id']);
    assert.deepEqual(
      [body.error, headers.get('x-svc-reason')],
      ['not_found', 'http.route_unknown'],
    );
  });

  test('a wrong method is 405, names the methods and carries Allow, signed in or not', async () => {
    for (const token of [undefined, '']) {
      const { status, body, headers } = await house.call(
        'DELETE',
        '/api/v1/things',
        token === undefined ? {} : { token },
      );
      assert.deepEqual(
        [status, body.error, headers.get('allow')],
        [405, 'not_found', 'GET, POST, HEAD, OPTIONS'],
      );
      assert.match(body.message, /GET, POST/);
    }
  });

  test('HEAD is answered like GET without a body, and OPTIONS names the methods', async () => {
    const head = await house.call('HEAD', '/api/v1/things/7');
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.ok(Number(head.headers.get('content-length')) > 0);
    const options = await house.call('OPTIONS', '/api/v1/things', { token: '' });
    assert.deepEqual(
      [options.status, options.headers.get('allow')],
      [204, 'GET, POST, HEAD, OPTIONS'],
    );
    assert.equal(options.headers.get('access-control-allow-origin'), null);
  });

  test('a path under a mount that is out of service says why and when to come back', async () => {
    const message = 'alert waits for the service metrics.query';
    const outage = {
      pluginId: 'alert',
      mount: '/api/v1/alerts',
      error: () => new SvcError('unavailable', message, { retryAfterSeconds: 7 }),
    };
    house.publish(
      'other',
      [
        route({
          method: 'GET',
          path: '/api/v1/{anything}/{id}',
          access: 'any',
          summary: 'Wide',
          handle: () => {},
        }),
      ],
      {
        outages: [outage],
      },
    );
    const { status, body, headers } = await house.call('GET', '/api/v1/alerts/7');
    assert.deepEqual(
      [status, body.error, body.message, headers.get('retry-after')],
      [503, 'unavailable', message, '7'],
    );
    assert.equal((await house.call('GET', '/api/v1/nowhere/7')).status, 204);
    house.registry.publish({ remove: ['other'], outages: [] });
  });
});

describe('who may call', () => {
  test('without a credential it is 401, with one that holds too little 403, with enough it runs', async () => {
    const body = { name: 'a' };
    const none = await house.call('POST', '/api/v1/things', { token: '', body });
    assert.deepEqual(
      [none.status, none.body.error, none.headers.get('www-authenticate')],
      [401, 'unauthorized', 'Bearer realm="svc"'],
    );
    assert.equal(
      (await house.call('POST', '/api/v1/things', { token: 'nobody', body })).status,
      401,
    );
    const little = await house.call('POST', '/api/v1/things', { token: 'user-1=device:*', body });
    assert.deepEqual(
      [little.status, little.body.message],
      [403, 'Your role does not grant thing:create.'],
    );
    for (const token of ['user-1=thing:create', 'user-1=thing:*', 'user-1=*', 'svc_op_test']) {
      assert.equal(
        (await house.call('POST', '/api/v1/things', { token, body })).status,
        201,
        token,
      );
    }
  });

  test('the decision comes before the body is looked at', async () => {
    const { status } = await house.call('POST', '/api/v1/things', {
      token: 'user-1',
      body: 'not json',
      headers: { 'content-type': 'text/plain' },
    });
    assert.equal(status, 403);
  });

  test('half of a character is refused, since it would be stored as another one', async () => {
    const put = (body: string): ReturnType<House['call']> =>
      house.call('POST', '/api/v1/things', {
        body,
        headers: { 'content-type': 'application/json' },
      });
    for (const name of [String.raw`\ud800`, String.raw`a\\\udc00`, String.raw`\ude00\ud83d`]) {
      const { status, body } = await put(`{"name":"${name}"}`);
      assert.deepEqual([status, body.error], [400, 'invalid_argument'], name);
      assert.match(body.message, /lone surrogate/);
    }
    for (const name of [String.raw`\ud83d\ude00`, String.raw`\\ud800`, '😀']) {
      const { status, body } = await put(`{"name":"${name}"}`);
      assert.deepEqual([status, body.name], [201, JSON.parse(`"${name}"`)], name);
    }
  });

  test('users may delete themselves, and nobody else', async () => {
    assert.equal((await house.call('DELETE', '/api/v1/users/7', { token: 'user-7' })).status, 204);
    assert.equal((await house.call('DELETE', '/api/v1/users/8', { token: 'user-7' })).status, 403);
    assert.equal((await house.call('DELETE', '/api/v1/users/07', { token: 'user-7' })).status, 403);
  });

  test('an edge reaches machine routes with Basic, and no route of people', async () => {
    const headers = { authorization: `Basic ${Buffer.from('edge-1:secret').toString('base64')}` };
    assert.equal((await house.call('GET', '/internal/ingest', { token: '', headers })).status, 204);
    assert.equal((await house.call('GET', '/api/v1/me', { token: '', headers })).status, 403);
    assert.equal((await house.call('GET', '/internal/ingest')).status, 403);
  });

  test('an authenticator that answers later is waited for; one that breaks is unavailable and struck', async () => {
    house.authenticator.slow = true;
    assert.deepEqual((await house.call('GET', '/api/v1/me', { token: 'user-3' })).body, {
      kind: 'user',
      id: '3',
    });
    house.authenticator.slow = false;
    const original = house.authenticator.authenticate;
    house.authenticator.authenticate = () => {
      throw new Error('boom');
    };
    assert.equal((await house.call('GET', '/api/v1/me', { token: 'user-3' })).status, 503);
    assert.equal((await house.call('GET', '/api/v1/me')).body.kind, 'operator');
    assert.equal((await house.call('GET', '/api/v1/echo', { token: 'user-3' })).status, 200);
    house.authenticator.authenticate = original;
    assert.equal(house.strikes.at(-1)!.owner, 'core#1');
  });
});

describe('what is sent', () => {
  test('an unknown field is refused by name, wherever it stands', async () => {
    const post = (body: unknown): ReturnType<House['call']> =>
      house.call('POST', '/api/v1/things', { body });
    const top = await post({ name: 'a', admin: true });
    assert.equal(top.status, 400);
    assert.deepEqual(top.body.details, [{ path: '/admin', message: 'is not a known field' }]);
    assert.match(top.body.message, /admin is not a known field/);
    const nested = await post({ name: 'a', owner: { email: 'a@b.io', role: 'admin' } });
    assert.deepEqual(nested.body.details, [
      { path: '/owner/role', message: 'is not a known field' },
    ]);
    assert.equal((await post({ name: 'a', labels: { anything: 'goes' } })).status, 201);
  });

  test('each problem is a sentence about its field', async () => {
    const { body } = await house.call('POST', '/api/v1/things', {
      body: { colour: 'green', owner: { email: 'nobody' } },
    });
    const byPath = Object.fromEntries(
      body.details.map((entry: { path: string; message: string }) => [entry.path, entry.message]),
    );
    assert.deepEqual(byPath, {
      '/name': 'is required',
      '/colour': 'must be one of red, blue',
      '/owner/email': 'must be a valid email',
    });
  });

  test('path and query are text that becomes what their schema asks for', async () => {
    assert.deepEqual((await house.call('GET', '/api/v1/things/7')).body, { id: 7, name: 'x' });
    assert.equal((await house.call('GET', '/api/v1/things/0')).body.details[0].path, '/id');
    assert.equal((await house.call('GET', '/api/v1/things/seven')).status, 400);
    assert.equal((await house.call('GET', '/api/v1/things?on=true&tag=a&tag=b')).status, 200);
    assert.equal((await house.call('GET', '/api/v1/things?tag=a')).status, 200);
    assert.equal((await house.call('GET', '/api/v1/things?on=maybe')).status, 400);
    assert.deepEqual((await house.call('GET', '/api/v1/things?colour=red')).body.details, [
      { path: '/colour', message: 'is not a known field' },
    ]);
    assert.equal((await house.call('GET', '/api/v1/me?x=1')).status, 400);
    assert.equal((await house.call('GET', '/api/v1/me?%zz=1')).status, 400);
  });

  test('a body must be JSON, in UTF-8, uncompressed and within its limit', async () => {
    const post = (body: string, type: string, headers = {}): ReturnType<House['call']> =>
      house.call('POST', '/api/v1/things', { body, headers: { 'content-type': type, ...headers } });
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      const { status, body } = await post('{"name":"a"}', type);
      assert.deepEqual([status, body.error], [415, 'invalid_argument'], type);
    }
    assert.equal((await post('{"name":"a"}', 'application/json; charset=latin1')).status, 415);
    assert.equal(
      (await post('{"name":"a"}', 'application/json', { 'content-encoding': 'gzip' })).status,
      415,
    );
    assert.equal((await post('{"name":', 'application/json')).status, 400);
    const large = await post(
      JSON.stringify({ name: 'a'.repeat(2 * 1024 * 1024) }),
      'application/json',
    );
    assert.deepEqual(
      [large.status, large.body.error, large.body.message],
      [413, 'invalid_argument', 'The body is larger than 1 MiB.'],
    );
    const many = await post(`{"name":[${'[],'.repeat(60_000)}1]}`, 'application/json');
    assert.deepEqual(
      [many.status, many.body.message],
      [413, 'The body is larger than 100000 values.'],
    );
    assert.equal(
      (await post(JSON.stringify({ nam: '[{,:"\\'.repeat(60_000) }), 'application/json')).status,
      400,
      'what a text holds does not count',
    );
    const stranger = await house.call('POST', '/api/v1/things', {
      body: Buffer.from([0x22, 0xff, 0x22]),
      headers: { 'content-type': 'application/json' },
    });
    assert.match(stranger.body.message, /UTF-8/);
  });

  test('a chunked body is cut at the limit too', async () => {
    const stream = new ReadableStream({
      start(controller) {
        for (let index = 0; index < 40; index += 1) {
          controller.enqueue(Buffer.alloc(64 * 1024, 32));
        }
        controller.close();
      },
    });
    const response = await fetch(`${house.url}/api/v1/things`, {
      method: 'POST',
      body: stream,
      duplex: 'half',
      headers: { authorization: 'Bearer svc_op_test', 'content-type': 'application/json' },
    });
    assert.equal(response.status, 413);
  });

  test('an upload route has its own limit and types and gets the bytes as they came', async () => {
    const headers = { 'content-type': 'application/gzip', 'content-encoding': 'gzip' };
    assert.equal(
      (await house.call('POST', '/api/v1/upload', { body: Buffer.alloc(2_000_000), headers })).text,
      '2000000',
    );
    assert.equal(
      (
        await house.call('POST', '/api/v1/upload', {
          body: Buffer.alloc(9),
          headers: { 'content-type': 'text/plain' },
        })
      ).status,
      415,
    );
    assert.equal(
      (await house.call('POST', '/api/v1/upload', { body: Buffer.alloc(5_000_000), headers }))
        .status,
      413,
    );
  });

  test('a route without a body takes none, or an empty object', async () => {
    assert.equal((await house.call('POST', '/api/v1/reload')).status, 202);
    assert.equal((await house.call('POST', '/api/v1/reload', { body: {} })).status, 202);
    assert.match(
      (await house.call('POST', '/api/v1/reload', { body: { force: true } })).body.message,
      /"force"/,
    );
  });

  test('keys that reach for a prototype are refused at any depth and change nothing', async () => {
    for (const key of ['__proto__', 'constructor', 'prototype']) {
      for (let depth = 0; depth < 20; depth += 1) {
        const text = `${'{"name":"a","labels":{"x":['.repeat(depth)}{"${key}":{"polluted":true,"role":"admin"}}${']}}'.repeat(depth)}`;
        for (const [method, path] of [
          ['POST', '/api/v1/things'],
          ['PUT', '/api/v1/things/1'],
          ['POST', '/api/v1/reload'],
        ] as const) {
          const { status } = await house.call(method, path, {
            body: text,
            headers: { 'content-type': 'application/json' },
          });
          assert.equal(status, 400, `${method} ${path} ${text}`);
        }
      }
      assert.equal((await house.call('GET', `/api/v1/things?${key}=1`)).status, 400);
    }
    const escaped = await house.call('POST', '/api/v1/things', {
      body: '{"name":"a","\\u005f_proto__":{"polluted":1}}',
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(escaped.status, 400);
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });

  test('a body nested beyond reason is refused and costs no stack', async () => {
    const { status, body } = await house.call('POST', '/api/v1/things', {
      body: '['.repeat(90_000) + ']'.repeat(90_000),
      headers: { 'content-type': 'application/json' },
    });
    assert.deepEqual([status, body.error], [400, 'invalid_argument']);
  });
});

describe('what is answered', () => {
  test('every reply carries the security headers, and only a page replaces its policy', async () => {
    const { headers } = await house.call('GET', '/api/v1/me');
    assert.match(
      headers.get('content-security-policy')!,
      /default-src 'none'; frame-ancestors 'none'/,
    );
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('access-control-allow-origin'), null);
    assert.equal(headers.get('x-powered-by'), null);
    assert.match(
      (await house.call('GET', '/api/v1/nowhere')).headers.get('content-security-policy')!,
      /'none'/,
    );
    assert.equal(
      (await house.call('GET', '/api/v1/page', { token: '' })).headers.get(
        'content-security-policy',
      ),
      "default-src 'self'",
    );
  });

  test('a sane request id is kept and echoed, any other is replaced', async () => {
    const kept = await house.call('GET', '/api/v1/echo', {
      headers: { 'x-request-id': 'trace-1.A_b' },
    });
    assert.deepEqual(
      [kept.headers.get('x-request-id'), kept.body.requestId],
      ['trace-1.A_b', 'trace-1.A_b'],
    );
    for (const id of ['a b', '<script>', 'x'.repeat(129)]) {
      assert.match(
        (await house.call('GET', '/api/v1/echo', { headers: { 'x-request-id': id } })).headers.get(
          'x-request-id',
        )!,
        /^[0-9a-f-]{36}$/,
      );
    }
  });

  test('behind a trusted proxy the last stranger is the caller', async () => {
    assert.equal(
      (
        await house.call('GET', '/api/v1/echo', {
          headers: { 'x-forwarded-for': '6.6.6.6, 9.9.9.9, 127.0.0.1' },
        })
      ).body.ip,
      '9.9.9.9',
    );
    assert.equal((await house.call('GET', '/api/v1/echo')).body.ip, '127.0.0.1');
  });

  test('an inner error shows nothing of the inside, is in the log with its stack, and strikes its plugin', async () => {
    const { status, body } = await house.call('GET', '/api/v1/crash', {
      headers: { 'x-request-id': 'find-me' },
    });
    assert.deepEqual([status, body.error, body.request_id], [500, 'internal', 'find-me']);
    assert.doesNotMatch(JSON.stringify(body), /hunter2|SELECT|\.ts|Error/);
    const line = house.logs.findLast((entry) => entry.level === 'error')!;
    assert.equal(line.fields.request_id, 'find-me');
    assert.match(String(line.fields.stack), /hunter2/);
    assert.deepEqual(
      [house.strikes.at(-1)!.owner, house.strikes.at(-1)!.label],
      ['area#1', 'GET /api/v1/crash'],
    );
  });

  test('an error of the table is passed on and strikes nobody', async () => {
    const before = house.strikes.length;
    const { status, body, headers } = await house.call('GET', '/api/v1/refuse');
    assert.deepEqual(
      [status, body.error, body.message, headers.get('retry-after')],
      [429, 'rate_limited', 'slowly, please', '3'],
    );
    assert.equal(house.strikes.length, before);
  });

  test('a handler that misses its deadline is unavailable, its signal fires and its plugin is struck', async () => {
    const { status, body, headers } = await house.call('GET', '/api/v1/slow');
    assert.deepEqual([status, body.error], [503, 'unavailable']);
    assert.ok(headers.get('retry-after'));
    assert.equal(house.strikes.at(-1)!.label, 'GET /api/v1/slow');
  });

  test('under test, a reply with an undeclared field is an error that names the path', async () => {
    assert.equal((await house.call('GET', '/api/v1/wrong')).status, 500);
    assert.match(
      String(house.logs.findLast((entry) => entry.level === 'error')!.fields.cause),
      /GET \/api\/v1\/wrong does not match its schema: \/password/,
    );
  });

  test('bytes come whole or in pieces', async () => {
    assert.equal((await house.call('GET', '/api/v1/download')).text, 'one two');
  });

  test('what was answered is observed by route, never by path', async () => {
    await house.call('GET', '/api/v1/things/12345');
    await until(() => house.observed.at(-1)!.route === 'GET /api/v1/things/{}');
    await house.call('GET', '/api/v1/invented-by-a-stranger');
    await until(() => house.observed.at(-1)!.route === 'unmatched');
    assert.equal(house.observed.at(-1)!.status, 404);
  });
});

describe('versions', () => {
  test('a resource with updated_at has an ETag; who knows it already gets 304', async () => {
    const first = await house.call('GET', '/api/v1/versioned');
    const tag = first.headers.get('etag')!;
    assert.match(tag, /^"2023-11-14T22:13:20\.000Z;[\w-]{22}"$/);
    const again = await house.call('GET', '/api/v1/versioned', {
      headers: { 'if-none-match': tag },
    });
    assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', tag]);
  });

  test('what has changed by itself has another tag, and is no 304; who holds the earlier one may still change what people change', async (t) => {
    const tag = (await house.call('GET', '/api/v1/versioned')).headers.get('etag')!;
    lit = true;
    t.after(() => (lit = false));
    const { status, body, headers } = await house.call('GET', '/api/v1/versioned', {
      headers: { 'if-none-match': tag },
    });
    assert.deepEqual([status, body.lit, headers.get('etag') === tag], [200, true, false]);
    for (const held of [tag, `W/${tag}`, `"old", ${tag}`, headers.get('etag')!]) {
      assert.equal(
        (await house.call('PUT', '/api/v1/versioned', { headers: { 'if-match': held } })).status,
        200,
        held,
      );
    }
    const another = tag.replace(':20.', ':19.');
    assert.equal(
      (await house.call('PUT', '/api/v1/versioned', { headers: { 'if-match': another } })).status,
      409,
    );
  });

  test('If-Match of another version is a conflict; the right one, a weakened one, * and none pass', async () => {
    const put = (tag?: string): ReturnType<House['call']> =>
      house.call('PUT', '/api/v1/versioned', {
        headers: tag === undefined ? {} : { 'if-match': tag },
      });
    assert.equal((await put('"old"')).status, 409);
    for (const tag of [
      '"2023-11-14T22:13:20.000Z"',
      'W/"2023-11-14T22:13:20.000Z"',
      '"old", "2023-11-14T22:13:20.000Z"',
      '*',
      undefined,
    ]) {
      const { status, headers } = await put(tag);
      assert.deepEqual(
        [status, headers.get('etag')?.split(';')[0]],
        [200, '"2023-11-14T22:13:21.000Z'],
        tag,
      );
    }
  });
});

describe('lists', () => {
  const list = (query = '', token = 'user-1'): ReturnType<House['call']> =>
    house.call('GET', `/api/v1/things${query}`, { token });

  test('50 by default, at most 200, never fewer than one', async () => {
    const { body } = await list();
    assert.deepEqual([body.items.length, body.total], [50, 120]);
    const all = await list('?limit=500');
    assert.deepEqual([all.body.items.length, all.body.next_cursor], [120, '']);
    for (const limit of ['0', '-1', '1.5', 'ten', '', '1e2', '5&limit=6']) {
      const { status, body: error } = await list(`?limit=${limit}`);
      assert.deepEqual([status, error.error], [400, 'invalid_argument'], limit);
    }
  });

  test('following the cursor sees every row once', async () => {
    const seen: number[] = [];
    let cursor = '';
    do {
      const { body } = await list(`?limit=25${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.items.map((item: { id: number }) => item.id));
      cursor = body.next_cursor;
    } while (cursor !== '');
    assert.deepEqual(
      seen,
      rows.map((row) => row.id),
    );
  });

  test('a cursor is good for its own list, filters and caller only', async () => {
    const cursor: string = (await list('?limit=5&q=thing')).body.next_cursor;
    assert.equal((await list(`?limit=9&q=thing&cursor=${cursor}`)).status, 200);
    const forged = cursor.slice(0, -2) + (cursor.endsWith('AA') ? 'BB' : 'AA');
    for (const [query, token] of [
      [`?cursor=${cursor}`],
      [`?q=other&cursor=${cursor}`],
      [`?q=thing&cursor=${cursor}`, 'user-2'],
      [`?q=thing&cursor=${forged}`],
      ['?cursor=x'],
      [`?cursor=${'A'.repeat(9_000)}`],
    ]) {
      const { status, body } = await list(query, token);
      assert.deepEqual([status, body.error], [400, 'invalid_argument'], query);
      assert.match(body.message, /cursor/);
    }
  });
});

test('every pin is given back', async () => {
  await until(() => house.server.open === 0);
  assert.equal(house.registry.leases.size, 0);
});
