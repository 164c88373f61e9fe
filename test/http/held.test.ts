import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';

import { route, socketRoute, SvcError } from '../../core/sdk/index.ts';
import { openHouse, operatorToken } from './house.ts';

const upgrade =
  'upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==';

/** All that comes back on a connection of its own until it ends, and whether that was a reset. */
function say(port: number, head: string, from = '127.0.0.1'): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const stream = connect({ port, host: '127.0.0.1', localAddress: from }, () =>
      stream.write(`${head}\r\nhost: x\r\n\r\n`),
    );
    stream.on('data', (bytes: Buffer) => {
      answer += bytes.toString();
      if (answer.includes('\r\n\r\n') && answer.startsWith('HTTP/1.1 101')) {
        stream.end();
      }
    });
    stream.on('error', () => (answer += 'RESET'));
    stream.on('close', () => resolve(answer));
  });
}

test('who knocks where its address was refused a moment ago is told the same unasked, and everyone is where the door is full', async (t) => {
  let knocks = 0;
  let refusal: SvcError | undefined;
  const knock = (): void => {
    knocks += 1;
    if (refusal !== undefined) {
      throw refusal;
    }
  };
  const routes = [
    socketRoute({
      path: '/api/v1/door',
      access: 'public',
      summary: 'Door',
      errors: ['unavailable'],
      knock,
      handle: (_call, socket) => socket.close(1000, ''),
    }),
    socketRoute({
      path: '/api/v1/room',
      access: 'any',
      summary: 'Room',
      errors: ['unavailable'],
      knock,
      handle: (_call, socket) => socket.close(1000, ''),
    }),
    route({
      method: 'GET',
      path: '/api/v1/read',
      access: 'any',
      summary: 'Read',
      handle: () => undefined,
    }),
  ];
  let steady = 1_000;
  const house = await openHouse(routes, {
    clock: { now: () => Date.now(), monotonic: () => steady },
  });
  t.after(() => house.close());
  const at = (path: string, from?: string) =>
    say(house.port, `GET ${path} HTTP/1.1\r\n${upgrade}`, from);
  const waitOf = (answer: string): number => {
    assert.match(answer, /^HTTP\/1\.1 503 .*connection: close.*"error":"unavailable"/is);
    assert.ok(!answer.includes('RESET'), answer);
    return Number(/retry-after: (\d+)/i.exec(answer)![1]);
  };

  refusal = new SvcError('unavailable', 'too many of one address', { retryAfterSeconds: 20 });
  assert.equal(waitOf(await at('/api/v1/door')), 20);
  const waits = await Promise.all(
    Array.from({ length: 200 }, async () => waitOf(await at('/api/v1/door'))),
  );
  assert.ok(
    waits.every((wait) => wait >= 20 && wait < 25),
    waits.join(),
  );
  assert.equal(knocks, 1, 'only the first of an address was asked');
  waitOf(await at('/api/v1/door', '127.0.0.2'));
  assert.equal(knocks, 2, 'another address is asked by itself');
  steady += 51;
  waitOf(await at('/api/v1/door'));
  assert.equal(knocks, 3, 'a moment later it is asked again');
  const person = await say(
    house.port,
    `GET /api/v1/read HTTP/1.1\r\nconnection: close\r\nauthorization: Bearer ${operatorToken}`,
  );
  assert.match(person, /^HTTP\/1\.1 204 /);

  // Who is known has a door of their own.
  for (let n = 0; n < 5; n++) {
    waitOf(
      await say(
        house.port,
        `GET /api/v1/room HTTP/1.1\r\nauthorization: Bearer ${operatorToken}\r\n${upgrade}`,
      ),
    );
  }
  assert.equal(knocks, 8);

  refusal = new SvcError('unavailable', 'too many', {
    retryAfterSeconds: 3,
    reason: 'http.door_full',
  });
  steady += 51;
  waitOf(await at('/api/v1/door'));
  const all = await Promise.all(
    Array.from({ length: 200 }, async (_, n) =>
      waitOf(await at('/api/v1/door', `127.0.1.${n + 1}`)),
    ),
  );
  assert.ok(
    all.every((wait) => wait >= 3 && wait < 8),
    all.join(),
  );
  assert.equal(knocks, 9, 'of all addresses only the first was asked');

  refusal = undefined;
  waitOf(await at('/api/v1/door'));
  steady += 1_001;
  assert.match(await at('/api/v1/door'), /^HTTP\/1\.1 101 /);
  refusal = new SvcError('unavailable', 'too many of one address', { retryAfterSeconds: 20 });
  waitOf(await at('/api/v1/door'));
  const unserved = house.logs
    .filter(({ fields }) => fields['event'] === 'http.request_unserved')
    .map(({ fields }) => fields['more_before']);
  assert.equal(unserved.length, 2, 'a line a second');
  assert.equal(unserved[1], 409, 'which counts those before');
});
