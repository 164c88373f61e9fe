import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { sourceOf } from '../../../plugins/edge-upgrade/address.ts';
import { download, largestBytes } from '../../../plugins/edge-upgrade/download.ts';

const body = Buffer.alloc(300_000, 'the agent ');
const sha256 = createHash('sha256').update(body).digest('hex');

test('a package is fetched whole, from where it may come from, and from nowhere else', async (t) => {
  const asked: IncomingMessage[] = [];
  let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
  const server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = mkdtempSync(join(tmpdir(), 'svc-fetch-'));
  t.after(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const identity = { manager: url, access_key: 'svc_ak_a', secret_key: 'svc_sk_b' };
  const file = join(folder, 'svc');
  const fetch = async (
    respond: typeof answer,
    { sizeBytes, path = '/pkg' }: { sizeBytes?: number; path?: string } = {},
  ) => {
    answer = respond;
    asked.length = 0;
    await download({
      source: sourceOf(path, identity),
      file,
      sha256,
      sizeBytes,
      maxTries: 3,
      signal: AbortSignal.timeout(20_000),
      pause: async () => undefined,
    });
  };
  /** The first answer breaks off in the middle; the others serve what is asked for. */
  const breaking: typeof answer = (request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const status = from === 0 ? 200 : 206;
    response.writeHead(status, {
      etag: `"${sha256}"`,
      'content-length': body.length - from,
      ...(from > 0 && { 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` }),
    });
    if (asked.length <= 2) {
      response.write(body.subarray(from, from + 100_000), () =>
        setTimeout(() => response.destroy(), 50),
      );
    } else {
      response.end(body.subarray(from));
    }
  };

  await t.test('it goes on where it has broken off, and shows the manager who it is', async () => {
    await fetch(breaking);
    assert.ok(readFileSync(file).equals(body));
    assert.equal(
      asked[0]!.headers.authorization,
      `Basic ${Buffer.from('svc_ak_a:svc_sk_b').toString('base64')}`,
    );
    assert.match(asked.at(-1)!.headers.range!, /^bytes=[1-9]\d+-$/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  await t.test(
    'it begins anew where the other side cannot go on, and asks nothing where it has all',
    async () => {
      writeFileSync(file, 'half of ano');
      await fetch((_request, response) => void response.end(body));
      assert.ok(readFileSync(file).equals(body));
      await fetch((_request, response) => void response.writeHead(416).end(), {
        sizeBytes: body.length,
      });
      assert.equal(asked.length, 0);
      await fetch(
        (request, response) =>
          void (request.headers.range === undefined
            ? response.end(body)
            : response.writeHead(416).end()),
      );
      assert.ok(readFileSync(file).equals(body));
      rmSync(file);
    },
  );

  const refusals: readonly [string, typeof answer, RegExp, number, number?][] = [
    [
      'a web page',
      (_request, response) =>
        void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>'),
      /a web page/,
      1,
    ],
    [
      'another package',
      (_request, response) =>
        void response.writeHead(200, { etag: `"${'b'.repeat(64)}"` }).end(body),
      /a different package under this name/,
      1,
    ],
    [
      'an error that stays',
      (_request, response) => void response.writeHead(404).end(),
      /answered 404/,
      1,
    ],
    [
      'an error that may pass',
      (_request, response) => void response.writeHead(503).end(),
      /answered 503/,
      3,
    ],
    [
      'another host',
      (_request, response) =>
        void response.writeHead(302, { location: 'https://example.org/x' }).end(),
      /other hosts are not followed/,
      1,
    ],
    [
      'another port',
      (_request, response) =>
        void response.writeHead(302, { location: 'http://127.0.0.1:1/x' }).end(),
      /other hosts are not followed/,
      1,
    ],
    [
      'no way on',
      (_request, response) => void response.writeHead(307).end(),
      /no valid address/,
      1,
    ],
    [
      'circles',
      (_request, response) => void response.writeHead(302, { location: '/pkg' }).end(),
      /redirect loop/,
      4,
    ],
    ['more than it says', (_request, response) => void response.end(body), /larger than/, 1, 1_000],
    [
      'more than any',
      (_request, response) =>
        void response.writeHead(200, { 'content-length': largestBytes + 1 }).write('x'),
      /larger than/,
      1,
    ],
    [
      'less than the order says',
      (_request, response) => void response.end('short'),
      /sent only 5 of 300000 bytes/,
      3,
      body.length,
    ],
    ['silence', (request) => void request.socket.destroy(), /127\.0\.0\.1/, 3],
  ];
  for (const [what, respond, message, times, sizeBytes] of refusals) {
    await t.test(`refused: ${what}`, async () => {
      await assert.rejects(
        fetch(respond, { ...(sizeBytes !== undefined && { sizeBytes }) }),
        message,
      );
      assert.equal(asked.length, times);
      rmSync(file, { force: true });
    });
  }

  await t.test('addresses of others are by https, without keys', () => {
    const { authorization, url: address } = sourceOf('https://example.org/svc', identity);
    assert.deepEqual([authorization, address.href], [undefined, 'https://example.org/svc']);
    for (const bad of [
      'http://example.org/svc',
      'file:///etc/passwd',
      'https://a:b@example.org/',
      'ftp://x/y',
      'http://[',
      '//example.org/x',
    ]) {
      assert.throws(() => sourceOf(bad, identity), /upgrade package/, bad);
    }
  });
});
