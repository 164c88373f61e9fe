import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { auditRecord, auditSubject, operator, redact, redacted } from '../../core/auth/index.ts';
import { type Access, type Method, route } from '../../core/sdk/index.ts';

const declare = (
  method: Method,
  path: string,
  access: Access,
  action?: string,
): ReturnType<typeof route> =>
  route({
    method,
    path,
    access,
    summary: 'x',
    handle: () => {},
    ...(action !== undefined && { action }),
  });

test('action and resource follow from the declaration', () => {
  const cases: [Method, string, Access, string, string, string | undefined][] = [
    ['POST', '/api/v1/edges', 'edge:create', 'edge:create', 'edge', undefined],
    ['DELETE', '/api/v1/edges/{id}', 'edge:delete', 'edge:delete', 'edge', 'id'],
    ['POST', '/api/v1/edges/{id}/rotate-secret', 'edge:rotate', 'edge:rotate-secret', 'edge', 'id'],
    ['PUT', '/api/v1/edges/{id}/plugins/{name}', 'edge:plugin', 'edge:update', 'plugin', 'name'],
    ['POST', '/api/v1/auth/login', 'public', 'auth:login', 'auth', undefined],
    ['PATCH', '/api/v1/users/{id}', { action: 'admin', self: 'id' }, 'user:update', 'user', 'id'],
    [
      'DELETE',
      '/api/v1/topology/node-types/{name}',
      'topology:delete',
      'topology:delete',
      'node-type',
      'name',
    ],
    ['POST', '/internal/push', 'machine', 'internal:push', 'internal', undefined],
    [
      'POST',
      '/api/v1/alert-sources/hooks/{token}',
      'public',
      'alert-source:create',
      'hook',
      undefined,
    ],
    ['POST', '/', 'any', 'service:create', 'service', undefined],
  ];
  for (const [method, path, access, action, resourceType, idParam] of cases) {
    assert.deepEqual(
      auditSubject(declare(method, path, access)),
      { action, resourceType, idParam },
      path,
    );
  }
  assert.equal(
    auditSubject(declare('GET', '/api/v1/settings/{key}', 'admin', 'setting:reveal')).action,
    'setting:reveal',
  );
});

test('the record says how the call ended, and a note comes before the path', () => {
  const call = {
    declaration: declare('PUT', '/api/v1/edges/{id}', 'edge:update'),
    params: { id: 12 },
    principal: operator,
    occurredAt: 5,
    ip: '::1',
    userAgent: 'x'.repeat(2_000),
    requestId: 'r',
    note: undefined,
  };
  const statuses = [200, 304, 400, 401, 403, 404, 500].map(
    (httpStatus) => auditRecord(call, { httpStatus }).status,
  );
  assert.deepEqual(statuses, [
    'success',
    'success',
    'failure',
    'denied',
    'denied',
    'failure',
    'failure',
  ]);
  assert.deepEqual(
    [
      auditRecord(call, { httpStatus: 200 }).resourceId,
      auditRecord(call, { httpStatus: 200 }).userAgent.length,
    ],
    ['12', 512],
  );
  assert.equal(
    auditRecord({ ...call, note: { resourceId: 0, resourceType: 'host' } }, { httpStatus: 200 })
      .resourceId,
    '0',
  );
});

describe('what goes into a record', () => {
  test('has no secret in it, at any depth', () => {
    const names = [
      'password',
      'passwd',
      'passphrase',
      'secret_key',
      'clientSecret',
      'token',
      'api_key',
      'APIKEY',
      'key',
      'private_pem',
      'authorization',
      'cookie',
      'credentials',
    ];
    for (const name of names) {
      assert.deepEqual(
        redact({ list: [{ [name]: 'hunter2', keep: 1 }] }),
        { list: [{ [name]: redacted, keep: 1 }] },
        name,
      );
      assert.doesNotMatch(
        JSON.stringify(redact({ [name]: { nested: ['hunter2'] } })),
        /hunter2/,
        name,
      );
    }
    assert.deepEqual(redact({ rule_key: 'cpu', has_token: true, token: null, max_tokens: 5 }), {
      rule_key: 'cpu',
      has_token: true,
      token: null,
      max_tokens: 5,
    });
  });

  test('is bounded and can always be written down', () => {
    const loop: Record<string, unknown> = { name: 'a' };
    loop.self = loop;
    assert.ok(JSON.stringify(redact(loop)).length < 1_000);
    assert.ok(JSON.stringify(redact('x'.repeat(1_000_000))).length < 5_000);
    assert.ok(
      JSON.stringify(redact({ ['x'.repeat(1_000_000)]: 1 })).length < 500,
      'names of fields too',
    );
    assert.deepEqual(
      redact({ 'sk-live': 1 }, (text) => text.replace('sk-live', '••••')),
      { '••••': 1 },
      'a secret may stand where a name belongs',
    );
    assert.ok(
      JSON.stringify(redact(Array.from({ length: 10_000 }, (_, index) => index))).length < 2_000,
    );
    assert.deepEqual(redact({ bytes: new Uint8Array(9), big: 5n, none: undefined }), {
      bytes: '9 bytes',
      big: '5',
      none: undefined,
    });
  });
});
