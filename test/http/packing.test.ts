import assert from 'node:assert/strict';
import { get, type IncomingHttpHeaders } from 'node:http';
import { after, before, describe, test } from 'node:test';
import zlib from 'node:zlib';

import { Type } from 'typebox';

import { byteRoute, route } from '../../core/sdk/index.ts';
import { type House, openHouse, operatorToken } from './house.ts';

const lines = Array.from({ length: 4_000 }, (_, at) => `line ${at} of many`).join('\n');
const page = `<p>${lines}</p>`;
const bytes = (path: string, produces: string, body: string | Uint8Array, status?: number) =>
  byteRoute({
    method: 'GET',
    path,
    access: 'any',
    summary: 'Bytes',
    produces,
    ...(status && { status }),
    handle: () => body,
  });

interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const unpack: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => zlib.gunzipSync(body),
  br: (body) => zlib.brotliDecompressSync(body),
  ...('zstdDecompressSync' in zlib && {
    zstd: (body: Buffer) =>
      (zlib as unknown as { zstdDecompressSync(packed: Buffer): Buffer }).zstdDecompressSync(body),
  }),
};
const best = 'zstd' in unpack ? 'zstd' : 'gzip';

describe('an answer that is packed', () => {
  let house: House;

  before(async () => {
    house = await openHouse([
      route({
        method: 'GET',
        path: '/api/v1/long',
        access: 'any',
        summary: 'Long',
        response: Type.Object({ lines: Type.String() }),
        handle: () => ({ lines }),
      }),
      route({
        method: 'GET',
        path: '/api/v1/short',
        access: 'any',
        summary: 'Short',
        response: Type.Object({ lines: Type.String() }),
        handle: () => ({ lines: lines.slice(0, 900) }),
      }),
      bytes('/text', 'text/plain; charset=utf-8', Buffer.from(lines)),
      bytes('/page', 'text/html; charset=utf-8', page),
      bytes('/blob', 'application/octet-stream', lines),
      bytes('/part', 'text/plain', lines, 206),
      byteRoute({
        method: 'GET',
        path: '/own',
        access: 'any',
        summary: 'Packed by its handler',
        produces: 'text/plain',
        handle: (call) => {
          call.setHeader('content-encoding', 'gzip');
          return zlib.gzipSync(lines);
        },
      }),
    ]);
  });
  after(() => house.close());

  /** Unlike fetch, shows the bytes as they were sent. */
  const ask = (path: string, accepted?: string, method = 'GET'): Promise<Received> =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${operatorToken}`,
        ...(accepted !== undefined && { 'accept-encoding': accepted }),
      };
      get(house.url + path, { headers, method }, (res) => {
        const chunks: Buffer[] = [];
        res
          .on('data', (chunk: Buffer) => chunks.push(chunk))
          .once('end', () =>
            resolve({ status: res.statusCode!, headers: res.headers, body: Buffer.concat(chunks) }),
          );
      }).once('error', reject);
    });

  for (const [path, accepted, coding] of [
    ['/api/v1/long', 'gzip', 'gzip'],
    ['/api/v1/long', 'gzip, deflate, br, zstd', best],
    ['/api/v1/long', 'br', 'br'],
    ['/api/v1/long', 'GZIP;q=0.5, identity;q=0.1', 'gzip'],
    ['/api/v1/long', '*', best],
    ['/text', 'gzip', 'gzip'],
    ['/page', 'gzip, deflate, br, zstd', 'br'],
    ['/page', 'gzip', 'gzip'],
  ] as const) {
    test(`${path} for a client that takes ${accepted}: ${coding}`, async () => {
      const plain = await ask(path);
      const { headers, body } = await ask(path, accepted);
      assert.deepEqual(
        [headers['content-encoding'], headers.vary, headers['content-length']],
        [coding, 'accept-encoding', String(body.length)],
      );
      assert.deepEqual(unpack[coding]!(body), plain.body);
      assert.ok(
        body.length < plain.body.length / 3,
        `${body.length} of ${plain.body.length} bytes`,
      );
    });
  }

  for (const [path, accepted, why] of [
    ['/api/v1/long', undefined, 'a client that says nothing'],
    ['/api/v1/long', 'gzip;q=0, *;q=0.0', 'a client that refuses'],
    ['/api/v1/long', 'deflate, compress', 'a client that knows others only'],
    ['/api/v1/short', 'gzip', 'a short answer'],
    ['/blob', 'gzip', 'bytes that are no text'],
    ['/part', 'gzip', 'a part of something'],
  ] as const) {
    test(`is not for ${why}`, async () => {
      const { headers, body } = await ask(path, accepted);
      assert.equal(headers['content-encoding'], undefined);
      assert.match(body.toString(), /line 0 of many/);
    });
  }

  test('what its handler has packed is not packed again, and HEAD is answered without a body', async () => {
    const { headers, body } = await ask('/own', 'gzip, br, zstd');
    assert.deepEqual(
      [headers['content-encoding'], zlib.gunzipSync(body).toString()],
      ['gzip', lines],
    );
    const head = await ask('/text', 'gzip', 'HEAD');
    assert.deepEqual(
      [head.status, head.body.length, head.headers['content-length']],
      [200, 0, String(Buffer.byteLength(lines))],
    );
  });
});

test('a path that nothing serves is unknown in the words of the protocol around it', async (t) => {
  const wording = ({ status, message }: { readonly status: number; readonly message: string }) => ({
    type: 'text/x-peer',
    body: `peer ${status} ${message}`,
  });
  const peer = (path: string) => ({ ...bytes(path, 'text/plain', ''), wording });
  const house = await openHouse([
    peer('/peer/api/query'),
    peer('/peer/api/{name}/values'),
    peer('/mixed/a'),
    bytes('/mixed/b', 'text/plain', ''),
  ]);
  t.after(() => house.close());
  const words = async (path: string, method = 'GET'): Promise<string> =>
    (await house.call(method, path)).text;
  assert.equal(await words('/peer/api/nope/at/all'), 'peer 404 This route does not exist.');
  assert.equal(await words('/peer'), 'peer 404 This route does not exist.');
  assert.equal(
    await words('/peer/api/query', 'DELETE'),
    'peer 405 This route does not support DELETE; it supports GET, HEAD, OPTIONS.',
  );
  for (const path of ['/', '/nope', '/mixed', '/mixed/c']) {
    assert.equal((JSON.parse(await words(path)) as { error: string }).error, 'not_found', path);
  }
});
