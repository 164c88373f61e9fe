import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import {
  type Arrival,
  byteRoute,
  type ErrorWording,
  type BodyQuota,
  type RequestHeaders,
  route,
  type ShownError,
  SvcError,
} from '../../core/sdk/index.ts';
import { openHouse } from './house.ts';

const type = 'application/octet-stream';

/** A route that keeps a book about who came, what they brought, and that they left. */
function watchedRoute(
  book: unknown[],
  refusal: { enter?: Error; take?: Error; leave?: Error } = {},
) {
  const admit = ({ principal, announcedBytes, headers }: Arrival): BodyQuota => {
    book.push(['enter', principal.id, announcedBytes, headers['content-type']]);
    if (refusal.enter) {
      throw refusal.enter;
    }
    return {
      reserve(bytes) {
        if (refusal.take) {
          throw refusal.take;
        }
        book.push(['take', bytes]);
      },
      release() {
        book.push('leave');
        if (refusal.leave) {
          throw refusal.leave;
        }
      },
    };
  };
  const wording = ({ status, message }: ShownError, headers: RequestHeaders): ErrorWording => ({
    type: 'text/x-own',
    body: Buffer.from(`${status} ${headers['x-tongue'] ?? '-'} ${message}`),
  });
  return byteRoute({
    method: 'POST',
    path: '/push',
    access: { action: 'ingest:push', machine: true },
    summary: 'Push',
    consumes: [type],
    produces: 'text/plain',
    audited: false,
    maxBodyBytes: 100_000,
    admit,
    wording,
    handle: ({ body, headers }) => {
      book.push(['handle', body.length]);
      if (headers['x-fail'] !== undefined) {
        throw new SvcError('invalid_argument', 'half of it', { headers: { 'x-written': '3' } });
      }
      return 'ok';
    },
  });
}

const edge = `Basic ${Buffer.from('edge-1:secret').toString('base64')}`;

describe('a route that has a say about bodies', () => {
  test('is asked before one is read, told of its pieces, and told when the call is over', async (t) => {
    const book: unknown[] = [];
    const house = await openHouse([watchedRoute(book)]);
    t.after(() => house.close());
    const answer = await fetch(`${house.url}/push`, {
      method: 'POST',
      body: Buffer.alloc(10),
      headers: { authorization: edge, 'content-type': type },
    });
    assert.deepEqual([answer.status, await answer.text()], [200, 'ok']);
    await pause(10);
    assert.deepEqual(book, [['enter', '1', 10, type], ['take', 10], ['handle', 10], 'leave']);
    book.length = 0;
    assert.equal(
      (await fetch(`${house.url}/push`, { method: 'POST', headers: { authorization: edge } }))
        .status,
      200,
    );
    assert.deepEqual(book, [['handle', 0]], 'what brings nothing passes');
    assert.equal(
      (
        await fetch(`${house.url}/push`, {
          method: 'POST',
          body: Buffer.alloc(10),
          headers: { 'content-type': type },
        })
      ).status,
      401,
    );
    assert.equal(book.length, 1, 'and strangers are not asked about');
  });

  test('refuses with its own words, at the door or on the way', async (t) => {
    const book: unknown[] = [];
    const refusal: Parameters<typeof watchedRoute>[1] = {
      enter: new SvcError('rate_limited', 'later', { retryAfterSeconds: 7 }),
    };
    const house = await openHouse([watchedRoute(book, refusal)]);
    t.after(() => house.close());
    const push = (): Promise<Response> =>
      fetch(`${house.url}/push`, {
        method: 'POST',
        body: Buffer.alloc(10),
        headers: { authorization: edge, 'content-type': type, 'x-tongue': 'fr' },
      });
    const first = await push();
    assert.deepEqual(
      [
        first.status,
        first.headers.get('retry-after'),
        first.headers.get('content-type'),
        await first.text(),
      ],
      [429, '7', 'text/x-own', '429 fr later'],
    );
    Object.assign(refusal, { enter: undefined, take: new SvcError('rate_limited', 'no more') });
    const second = await push();
    assert.deepEqual([second.status, await second.text()], [429, '429 fr no more']);
    await pause(10);
    assert.deepEqual(book.slice(1), [['enter', '1', 10, type], 'leave'], 'what came in left again');
  });

  test('that breaks is its plugin’s fault and nobody else’s', async (t) => {
    const book: unknown[] = [];
    const refusal: Parameters<typeof watchedRoute>[1] = { enter: new TypeError('oops') };
    const house = await openHouse([watchedRoute(book, refusal)]);
    t.after(() => house.close());
    const push = (): Promise<Response> =>
      fetch(`${house.url}/push`, {
        method: 'POST',
        body: Buffer.alloc(10),
        headers: { authorization: edge, 'content-type': type },
      });
    const first = await push();
    assert.equal(first.status, 500);
    assert.doesNotMatch(await first.text(), /oops/);
    Object.assign(refusal, { enter: undefined, leave: new TypeError('again') });
    assert.equal((await push()).status, 200);
    await pause(10);
    assert.equal(house.strikes.length, 2);
  });

  test('is told when a client goes away in the middle', async (t) => {
    const book: unknown[] = [];
    const house = await openHouse([watchedRoute(book)]);
    t.after(() => house.close());
    const socket = connect(house.port, '127.0.0.1');
    socket.write(
      `POST /push HTTP/1.1\r\nHost: x\r\nAuthorization: ${edge}\r\nContent-Type: ${type}\r\nContent-Length: 1000\r\n\r\nhalf`,
    );
    while (book.length < 2) {
      await pause(5);
    }
    socket.destroy();
    while (book.length < 3) {
      await pause(5);
    }
    assert.deepEqual(book, [['enter', '1', 1000, type], ['take', 4], 'leave']);
  });
});

test('an error may bring headers of its protocol, and each path knows its methods by 405', async (t) => {
  const house = await openHouse([
    watchedRoute([]),
    route({ method: 'POST', path: '/own', access: 'any', summary: 'Own', handle: () => {} }),
  ]);
  t.after(() => house.close());
  const failed = await fetch(`${house.url}/push`, {
    method: 'POST',
    body: Buffer.alloc(1),
    headers: { authorization: edge, 'content-type': type, 'x-fail': '1' },
  });
  assert.deepEqual(
    [failed.status, failed.headers.get('x-written'), await failed.text()],
    [400, '3', '400 - half of it'],
  );
  const get = await fetch(`${house.url}/push`);
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST, OPTIONS']);
  const own = await fetch(`${house.url}/own`);
  assert.deepEqual([own.status, own.headers.get('allow')], [405, 'POST, OPTIONS']);
});

test('a route for edges and for people with an action is refused to others, and says which action', async (t) => {
  const house = await openHouse([watchedRoute([])]);
  t.after(() => house.close());
  const status = async (token: string): Promise<[number, string]> => {
    const { status: code, text } = await house.call('POST', '/push', { token });
    return [code, text];
  };
  assert.equal((await status('user-1=ingest:push'))[0], 200);
  assert.deepEqual(await status('user-1=edge:create'), [
    403,
    '403 - Your role does not grant ingest:push.',
  ]);
  await assert.rejects(
    () => openHouse([{ ...watchedRoute([]), access: { action: 'admin', machine: true } as never }]),
    /accepts edges next to administrators/,
  );
});
