import assert from 'node:assert/strict';
import { connect, type Socket as Stream } from 'node:net';
import { test } from 'node:test';

import { route, socketRoute } from '../../core/sdk/index.ts';
import { openHouse, operatorToken } from './house.ts';

const silentMs = 20_000;

const routes = [
  socketRoute({
    path: '/api/v1/tunnel',
    access: 'public',
    summary: 'Tunnel',
    handle: () => undefined,
  }),
  route({
    method: 'GET',
    path: '/api/v1/read',
    access: 'any',
    summary: 'Read',
    handle: () => undefined,
  }),
];

/** The answer to a request on a connection of its own; empty when it was reset or closed without one. */
function say(port: number, head: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const stream: Stream = connect(port, '127.0.0.1', () =>
      stream.write(`${head}\r\nhost: x\r\n\r\n`),
    );
    stream.on('data', (bytes: Buffer) => {
      answer += bytes.toString();
      if (answer.includes('\r\n\r\n')) {
        stream.end();
      }
    });
    stream.on('error', () => undefined);
    stream.on('close', () => resolve(answer));
  });
}

test('where a fleet and people stand behind one address, machines are told when to come back and people are served', async (t) => {
  const house = await openHouse(routes, { limits: { connectionsPerAddress: 8 } });
  t.after(() => house.close());
  const idle = await Promise.all(
    Array.from(
      { length: 8 },
      () =>
        new Promise<Stream>((resolve) => {
          const stream = connect(house.port, '127.0.0.1', () => resolve(stream));
        }),
    ),
  );
  const upgrade =
    'GET /api/v1/tunnel HTTP/1.1\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==';
  // All at once there are more of them than twice the bound.
  const many = await Promise.all(Array.from({ length: 100 }, () => say(house.port, upgrade)));
  assert.ok(
    many.every((answer) => answer.startsWith('HTTP/1.1 503')),
    'none was cut',
  );
  for (let n = 0; n < 40; n++) {
    const answer = await say(house.port, upgrade);
    assert.match(answer, /^HTTP\/1\.1 503 .*\r\n/);
    const [, wait] = /retry-after: (\d+)/i.exec(answer)!;
    assert.ok(Number(wait) >= 2 && Number(wait) <= 10, wait);
    const person = await say(
      house.port,
      `GET /api/v1/read HTTP/1.1\r\nauthorization: Bearer ${operatorToken}`,
    );
    assert.match(person, /^HTTP\/1\.1 204 .*connection: close/is);
  }
  const unserved = house.logs.filter(({ fields }) => fields['event'] === 'http.request_unserved');
  assert.ok(unserved.length < 40, `${unserved.length} lines for 40 requests that were not served`);

  const silent = connect(house.port, '127.0.0.1');
  let told = '';
  silent.on('data', (bytes: Buffer) => (told += bytes.toString()));
  await Promise.race([
    new Promise((resolve) => silent.once('close', resolve)),
    new Promise((_, reject) =>
      setTimeout(
        () => reject(new Error('a silent connection beyond the bound stays')),
        silentMs,
      ).unref(),
    ),
  ]);
  assert.match(
    told,
    /^HTTP\/1\.1 503 .*retry-after: \d/is,
    'who says nothing is told, too, and not cut',
  );
  idle.forEach((stream) => stream.destroy());
});
