import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { exampleAddress } from '../../../plugins/api-docs/examples.ts';
import type { OpenApiDocument, Operation } from '../../../plugins/api-docs/openapi.ts';
import { importSource } from '../../import-source.ts';
import { startWholeHouse, type WholeHouse } from '../../whole-house.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-api-document-'));
let house: WholeHouse;
let document: OpenApiDocument;

before(async () => {
  house = await startWholeHouse({ dataDir: join(folder, 'data') });
  document = (await (await house.fetch('/api/v1/openapi.json')).json()) as OpenApiDocument;
  // The stores open behind the first answer.
  const deadline = performance.now() + 60_000;
  for (const path of ['/prometheus/-/ready', '/loki/ready', '/tempo/ready']) {
    for (let answer = await house.fetch(path); !answer.ok; answer = await house.fetch(path)) {
      assert.ok(performance.now() < deadline, `${path}: ${await answer.text()}`);
      await pause(50);
    }
  }
});

after(async () => {
  await house.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Examples that fit, but name what a new svc does not have: an account, a folder, a key, a node, another server. */
const needMore = new Set([
  'POST /api/v1/connected-stores',
  'PUT /api/v1/alert-rules/{id}',
  'POST /api/v1/knowledge/ssh-identities',
  'POST /api/v1/marketplace/links',
  'POST /api/v1/marketplace/registries',
  'PUT /api/v1/marketplace/registries/{name}',
  'POST /api/v1/tokens',
  'POST /api/v1/topology/relations',
]);

/**
 * Collections whose items need another machine or server; test/plugins/device/devices.test.ts and
 * test/plugins/connected-stores have some.
 */
const testedElsewhere = new Set(['/api/v1/devices', '/api/v1/connected-stores']);

const json = 'application/json';

test('a change with the tag of another state is a conflict, and wherever the document names If-Match', async () => {
  const wrong: string[] = [];
  const made = new Map<string, string>([['/api/v1/system-settings', 'agent/write_enabled']]);
  await send('put', '/api/v1/system-settings/agent/write_enabled', { value: false });
  for (const [path, methods] of Object.entries(document.paths)) {
    const changes = Object.entries(methods).filter(([, { parameters }]) =>
      parameters.some(({ name }) => name === 'If-Match'),
    );
    const [, collection, rest] = /^(.*?)\/\{[^}]*\}(?:\/\{key\})?(.*)$/.exec(path) ?? [];
    if (changes.length === 0 || testedElsewhere.has(collection!)) {
      continue;
    }
    if (!made.has(collection!)) {
      const { text } = await send(
        'post',
        collection!,
        document.paths[collection!]!['post']!.requestBody!.content[json]!.example,
      );
      const { id, name } = JSON.parse(text) as { id?: number | string; name?: string };
      made.set(collection!, String(id ?? name));
    }
    for (const [method, { requestBody }] of changes) {
      const address = `${collection}/${made.get(collection!)}${rest}`;
      const body =
        collection === '/api/v1/system-settings'
          ? requestBody && { value: true }
          : requestBody?.content[json]?.example;
      const { status, text } = await send(method, address, body, { 'if-match': '"another"' });
      if (status !== 409 || !text.includes('after you loaded it')) {
        wrong.push(`${method} ${address}: ${status} ${text}`);
      }
    }
  }
  assert.deepEqual(wrong, []);
});

async function send(
  method: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string }> {
  const sent =
    body === undefined
      ? { headers }
      : { headers: { ...headers, 'content-type': json }, body: JSON.stringify(body) };
  const answer = await house.fetch(path, { method: method.toUpperCase(), ...sent });
  return { status: answer.status, text: await answer.text() };
}

test('every operation has an example, and it is taken as it stands', async () => {
  const refused: string[] = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const name = `${method.toUpperCase()} ${path}`;
      if (
        '101' in operation.responses ||
        (operation.requestBody !== undefined &&
          operation.requestBody.content[json]?.example === undefined) ||
        needMore.has(name)
      ) {
        continue;
      }
      const { status, text } = await ask(method, path, operation);
      if ([400, 413, 415, 422].includes(status) || status >= 500) {
        refused.push(`${name}: ${status} ${text}`);
      }
    }
  }
  assert.deepEqual(refused, []);
});

test('no refusal shows a regular expression: what has to fit one has an example that does, or is about blanks and control characters', () => {
  const told = new Set<string>();
  const walked = new Set<unknown>();
  const walk = (schema: unknown, at: string): void => {
    if (typeof schema !== 'object' || schema === null || walked.has(schema)) {
      return;
    }
    walked.add(schema);
    const {
      $ref: reference,
      pattern,
      examples = [],
      ...parts
    } = schema as { $ref?: string; pattern?: unknown; examples?: readonly unknown[] };
    if (typeof reference === 'string') {
      walk(document.components.schemas[reference.slice('#/components/schemas/'.length)], at);
    }
    if (
      typeof pattern === 'string' &&
      pattern !== '\\S' &&
      !pattern.includes('Cc') &&
      !examples.some((example) => new RegExp(pattern, 'u').test(String(example)))
    ) {
      told.add(`${at}: ${pattern}`);
    }
    Object.entries(parts).forEach(
      ([name, part]) => name !== 'example' && walk(part, `${at}/${name}`),
    );
  };
  for (const [path, methods] of Object.entries(document.paths)) {
    Object.entries(methods).forEach(([method, { parameters, requestBody }]) =>
      walk([parameters, requestBody], `${method} ${path}`),
    );
  }
  assert.deepEqual([...told], []);
});

async function ask(
  method: string,
  path: string,
  { parameters, requestBody }: Operation,
): Promise<{ status: number; text: string }> {
  const example = requestBody?.content[json]?.example;
  const leave = new AbortController();
  const answer = await house.fetch(exampleAddress(path, parameters), {
    method: method.toUpperCase(),
    signal: leave.signal,
    ...(example !== undefined && {
      headers: { 'content-type': json },
      body: JSON.stringify(example),
    }),
  });
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const text = isStream ? '' : await answer.text();
  leave.abort();
  return { status: answer.status, text: text.slice(0, 300) };
}

test('protocols of others say their parameters and the shape of their answers', () => {
  const { get: query, post } = document.paths['/prometheus/api/v1/query']!;
  assert.deepEqual(
    query!.parameters.map(({ name }) => name),
    ['query', 'time', 'timeout', 'lookback_delta', 'delayed_name_removal', 'limit'],
  );
  assert.deepEqual(
    Object.keys(
      Object(post!.requestBody!.content['application/x-www-form-urlencoded']!.schema['properties']),
    ),
    ['query', 'time', 'timeout', 'lookback_delta', 'delayed_name_removal', 'limit'],
  );
  const shapeless = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) => hasEmptyJson(responses['200']))
      .map(([method]) => `${method} ${path}`),
  );
  // What is agreed elsewhere: callbacks of chat platforms and alert senders, JSON-RPC, OTLP; and this document.
  assert.deepEqual(
    shapeless.filter(
      (name) => !/hooks|\/alerts$|\/events$|otlp|\/v1\/(logs|metrics|traces)$/.test(name),
    ),
    ['get /api/v1/openapi.json', 'post /mcp'],
  );
});

const hasEmptyJson = (
  response: { readonly content?: Record<string, { readonly schema: object }> } | undefined,
): boolean => {
  const schema = response?.content?.[json]?.schema;
  return schema !== undefined && Object.keys(schema).length === 0;
};

test('the TypeScript client compiles strictly, is short, and speaks with the service', async () => {
  const text = await (await house.fetch('/api/v1/client.ts')).text();
  const file = join(folder, 'svc.ts');
  writeFileSync(file, text);
  assert.ok(text.split('\n').length <= 9_000, String(text.split('\n').length));
  const compiler = fileURLToPath(
    new URL('../../../node_modules/typescript/bin/tsc', import.meta.url),
  );
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--target',
    'es2022',
    '--lib',
    'es2022,dom,dom.iterable',
    '--module',
    'nodenext',
    '--types',
    '',
  ];
  await promisify(execFile)(process.execPath, [compiler, ...options, file], { cwd: folder }).catch(
    (error: { stdout: string }) => assert.fail(error.stdout),
  );

  const { Svc, SvcFailure } = (await importSource(file)) as unknown as {
    Svc: Constructor;
    SvcFailure: ErrorConstructor;
  };
  const svc = new Svc(`${house.url}/`, house.token);
  const made = await svc['postApiV1Users']!({
    body: { email: 'grace@example.org', password: 'correct horse battery', role: 'viewer' },
  });
  const found = await svc['getApiV1Users']!({ query: { q: 'grace', limit: 5 } });
  assert.deepEqual(
    [found.total, found.items[0].id, found.items[0].email],
    [1, made.id, 'grace@example.org'],
  );
  assert.equal(await svc['deleteApiV1UsersById']!({ id: made.id }), undefined);
  await assert.rejects(
    svc['getApiV1UsersById']!({ id: made.id }) as Promise<unknown>,
    (error: Error & { status: number; code: string }) => {
      assert.ok(error instanceof SvcFailure);
      assert.deepEqual([error.status, error.code], [404, 'not_found']);
      return true;
    },
  );
});

type Constructor = new (
  url: string,
  token: string,
  // oxlint-disable-next-line typescript/no-explicit-any -- the client was made a moment ago; tsc has read it
) => Record<string, (asked: object) => Promise<any>>;
