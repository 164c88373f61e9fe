import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { Board } from 'svc/sdk';

import { ingestHouse, type IngestHouse, pretendStores, seven, unbound } from './house.ts';

const proto = 'application/x-protobuf';
const mebibyte = 1024 * 1024;

function stoppedClock() {
  const clock = { ms: 1_000_000, now: () => clock.ms, monotonic: () => clock.ms };
  return clock;
}

describe('a sender', () => {
  test('that pushes too often is told when to come back, and nobody else is', async (t) => {
    const stores = pretendStores();
    const clock = stoppedClock();
    const house = await ingestHouse(t, { services: stores.services, clock });
    house.service(Board).override('ingest.max_requests_per_second', 2);
    const statuses = async (authorization: string, count: number): Promise<number[]> => {
      const seen: number[] = [];
      for (let i = 0; i < count; i++) {
        seen.push((await house.push('/v1/logs', authorization, proto, 'x')).status);
      }
      return seen;
    };
    assert.deepEqual(
      await statuses(seven, 9),
      [...Array<number>(8).fill(200), 429],
      'a burst of four seconds',
    );
    assert.deepEqual(await statuses(unbound, 1), [200], 'another sender');
    const late = await house.push('/api/v1/write', seven, proto, 'x');
    assert.deepEqual([late.status, late.headers.get('retry-after')], [429, '1']);
    assert.match(await late.text(), /exceeds its limit of requests/);
    clock.ms += 1_000;
    assert.deepEqual(await statuses(seven, 3), [200, 200, 429]);
    assert.equal(stores.received.length, 11, 'what was turned away never reached a store');
  });

  test('that pushes too much pays for it with time, in proportion', async (t) => {
    const stores = pretendStores();
    const clock = stoppedClock();
    const house = await ingestHouse(t, { services: stores.services, clock });
    house.service(Board).override('ingest.max_bytes_per_second', mebibyte);
    assert.equal(
      (await house.push('/v1/logs', seven, proto, Buffer.alloc(10 * mebibyte))).status,
      200,
      'one body of any size passes',
    );
    const late = await house.push('/v1/logs', seven, proto, 'x');
    assert.deepEqual([late.status, late.headers.get('retry-after')], [429, '7']);
    clock.ms += 6_500;
    assert.equal((await house.push('/v1/logs', seven, proto, 'x')).status, 200);
    assert.match(
      await (await house.fetch('/metrics')).text(),
      /svc_ingest_limited_total\{reason="bytes"\} 1\n/,
    );
  });
});

describe('bodies on their way', () => {
  /** Begins a push and sends `bytes` of its body of 16 MiB. */
  async function begin(house: IngestHouse, authorization: string, bytes: number): Promise<Socket> {
    const socket = connect(Number(new URL(house.url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write(
      `POST /v1/logs HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: ${proto}\r\nContent-Length: ${16 * mebibyte}\r\n\r\n`,
    );
    socket.write(Buffer.alloc(bytes));
    return socket;
  }

  async function inFlight(house: IngestHouse, bytes: number): Promise<void> {
    const shows = async (): Promise<number> =>
      Number(
        /svc_ingest_in_flight_bytes (\d+)/.exec(
          await (await house.fetch('/metrics')).text(),
        )?.[1] ?? -1,
      );
    for (let seen = await shows(); seen !== bytes; seen = await shows()) {
      await pause(20);
    }
  }

  test(
    'are bounded together and per sender, and what they held is free when they end',
    { timeout: 60_000 },
    async (t) => {
      const stores = pretendStores();
      const house = await ingestHouse(t, { services: stores.services });
      house.service(Board).override('ingest.max_bytes_in_flight', 32 * mebibyte);
      const first = await begin(house, seven, 15 * mebibyte);
      await inFlight(house, 15 * mebibyte);
      const second = await house.push('/v1/logs', seven, proto, Buffer.alloc(2 * mebibyte));
      assert.deepEqual(
        [second.status, second.headers.get('retry-after')],
        [429, '1'],
        'half of it is the share of one sender',
      );
      const other = await begin(house, unbound, 15 * mebibyte);
      await inFlight(house, 30 * mebibyte);
      const script = `Bearer ${await house.apiToken('admin', ['ingest:push'])}`;
      assert.equal(
        (await house.push('/v1/logs', script, proto, Buffer.alloc(3 * mebibyte))).status,
        429,
        'nothing is left for a third one',
      );
      assert.equal(
        (await house.push('/v1/logs', script, proto, Buffer.alloc(mebibyte))).status,
        200,
        'but for what fits',
      );
      first.destroy();
      other.destroy();
      await inFlight(house, 0);
      assert.equal(
        (await house.push('/v1/logs', seven, proto, Buffer.alloc(16 * mebibyte))).status,
        200,
      );
      assert.equal(stores.received.length, 2);
    },
  );

  test(
    'are bounded also when they do not say how long they are',
    { timeout: 60_000 },
    async (t) => {
      const stores = pretendStores();
      const house = await ingestHouse(t, { services: stores.services });
      house.service(Board).override('ingest.max_bytes_in_flight', 32 * mebibyte);
      const held = await begin(house, seven, 10 * mebibyte);
      await inFlight(house, 10 * mebibyte);
      const pieces = async function* (): AsyncGenerator<Uint8Array> {
        for (let i = 0; i < 10; i++) {
          yield Buffer.alloc(mebibyte);
        }
      };
      const answer = await fetch(`${house.url}/v1/logs`, {
        method: 'POST',
        headers: { authorization: seven, 'content-type': proto },
        body: pieces() as unknown as ReadableStream,
        duplex: 'half',
      });
      assert.equal(answer.status, 429);
      await inFlight(house, 10 * mebibyte);
      held.destroy();
      await inFlight(house, 0);
    },
  );
});

test('a push under way when the house stops is finished, and answered', async (t) => {
  const stores = pretendStores();
  let began!: () => void;
  let finish!: () => void;
  const begun = new Promise<void>((resolve) => (began = resolve));
  stores.answer = () => {
    began();
    return new Promise(
      (resolve) => (finish = () => resolve({ accepted: 1, rejected: 0, reasons: [] })),
    );
  };
  const house = await ingestHouse(t, { services: stores.services });
  const push = house.push('/api/v1/write', seven, proto, 'x');
  await begun;
  const stopped = house.stop();
  finish();
  assert.equal((await push).status, 204);
  await stopped;
});
