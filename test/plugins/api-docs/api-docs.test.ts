import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';

import packageJson from '../../../package.json' with { type: 'json' };

/** A plugin with one route of each kind. */
const things = fileURLToPath(new URL('../../fixtures/plugins/things', import.meta.url));

// oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertions say
const documentOf = (house: TestHost): Promise<any> => house.json('/api/v1/openapi.json');

test('the document has every route with its access, shapes and errors', async (t) => {
  const house = await startTestHost(t, { plugins: ['api-docs', things] });
  useNoLeaks(t, house);
  assert.equal((await fetch(`${house.url}/api/v1/openapi.json`)).status, 401);
  const document = await documentOf(house);
  assert.deepEqual([document.openapi, document.info.version], ['3.1.0', packageJson.version]);
  const declared = [...house.registry.current.routes.values()].map(
    ({ value }) => `${value.method.toLowerCase()} ${value.path}`,
  );
  const described = Object.entries(document.paths as Record<string, object>).flatMap(
    ([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`),
  );
  assert.deepEqual(described.toSorted(), declared.toSorted());

  const { get: list, post } = document.paths['/api/v1/things'];
  assert.deepEqual(
    list.parameters.map((parameter: { name: string }) => parameter.name),
    ['q', 'limit', 'cursor'],
  );
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is what the assertions say
  const named = (shape: any): any =>
    '$ref' in shape ? document.components.schemas[shape.$ref.split('/').at(-1)] : shape;
  assert.deepEqual(named(list.responses['200'].content['application/json'].schema).required, [
    'items',
    'next_cursor',
    'total',
  ]);
  assert.equal(post['x-svc-access'], 'thing:create');
  assert.equal(
    named(post.requestBody.content['application/json'].schema).additionalProperties,
    false,
  );
  assert.deepEqual(Object.keys(post.responses), [
    '201',
    '400',
    '401',
    '403',
    '409',
    '413',
    '415',
    '500',
    '502',
    '503',
  ]);
  assert.deepEqual(
    named(post.responses['201'].content['application/json'].schema).properties.place.prefixItems,
    [{ type: 'number' }, { type: 'number' }],
  );
  const { delete: away } = document.paths['/api/v1/things/{id}'];
  assert.deepEqual(away.parameters, [
    { name: 'id', in: 'path', required: true, schema: { type: 'integer' }, example: 1 },
  ]);
  assert.ok(away.responses['204'] && away.responses['404']);
  assert.deepEqual(document.paths['/internal/things/push'].post.security, [
    { bearer: [] },
    { basic: [] },
  ]);
  assert.ok(document.paths['/api/v1/things/shell'].get.responses['101']);
  const ids = Object.values(
    document.paths as Record<string, Record<string, { operationId: string }>>,
  ).flatMap((methods) => Object.values(methods).map((operation) => operation.operationId));
  assert.equal(new Set(ids).size, ids.length);
});

test('the page of errors lists what plugins declare while they serve', async (t) => {
  const house = await startTestHost(t, { plugins: ['api-docs', 'device'] });
  const page = async (): Promise<string> => (await fetch(`${house.url}/docs/errors`)).text();
  assert.match(
    await page(),
    /<code>device\.no_device<\/code><\/td><td>404<\/td><td><code>not_found<\/code><\/td><td>Device \{id\} does not exist\.<\/td><td>device</,
  );
  const answer = await house.fetch('/api/v1/devices/7');
  assert.equal(answer.headers.get('x-svc-reason'), 'device.no_device');
  await house.host.disable('device');
  assert.doesNotMatch(await page(), /device\.no_device/);
});

test('the document follows what is served', async (t) => {
  const house = await startTestHost(t, { plugins: ['api-docs', things] });
  assert.ok((await documentOf(house)).paths['/api/v1/things']);
  await house.host.disable('things');
  assert.equal((await documentOf(house)).paths['/api/v1/things'], undefined);
  await house.host.enable('things');
  assert.ok((await documentOf(house)).paths['/api/v1/things']);
});

test('the document is also a page that needs no network and runs nothing', async (t) => {
  const house = await startTestHost(t, { plugins: ['api-docs', things] });
  const answer = await fetch(`${house.url}/api/docs`);
  const text = await answer.text();
  assert.deepEqual(
    [answer.status, answer.headers.get('content-type')],
    [200, 'text/html; charset=utf-8'],
  );
  assert.match(
    answer.headers.get('content-security-policy')!,
    /^default-src 'none'; style-src 'sha256-[\w+/=]+';/,
  );
  assert.doesNotMatch(text, /<script|<link|<img|src=|href="https?:/);
  assert.match(text, /All &lt;b&gt;things&lt;\/b&gt;/);
  assert.match(text, /<code>\/api\/v1\/things\/\{id\}<\/code>/);
});

test('without the plugin neither is served', async (t) => {
  const house = await startTestHost(t, { plugins: [things] });
  assert.deepEqual(
    [(await house.fetch('/api/v1/openapi.json')).status, (await house.fetch('/api/docs')).status],
    [404, 404],
  );
  assert.equal((await house.fetch('/api/v1/things')).status, 200);
});
