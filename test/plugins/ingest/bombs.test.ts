import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deflateSync, gzipSync } from 'node:zlib';

import { ingestHouse, type IngestHouse, seven } from './house.ts';

const mebibyte = 1024 * 1024;
const proto = 'application/x-protobuf';
const json = 'application/json';

/** 300 MiB of zeros, packed once and then again. */
const layers = gzipSync(Buffer.alloc(300 * mebibyte), { level: 9 });
const deflated = deflateSync(Buffer.alloc(100 * mebibyte), { level: 9 });
/** Says that it holds 4 GiB, and holds nothing. */
const boastful = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0x00]);

const bombs: readonly [path: string, type: string, encoding: string, body: Uint8Array][] = [
  ['/v1/logs', proto, 'gzip', layers],
  ['/v1/logs', json, 'deflate', deflated],
  ['/v1/metrics', proto, 'gzip', layers],
  ['/v1/metrics', proto, 'snappy', boastful],
  ['/api/v1/write', proto, 'snappy', boastful],
  ['/api/v1/import/prometheus', 'text/plain', 'gzip', layers],
  ['/loki/api/v1/push', json, 'gzip', layers],
  ['/loki/api/v1/push', proto, 'snappy', boastful],
  ['/v1/traces', proto, 'gzip', layers],
  ['/v1/traces', json, 'deflate', deflated],
];

const garbage: readonly [path: string, type: string, body: string][] = [
  ['/api/v1/write', proto, 'garbage'],
  ['/loki/api/v1/push', proto, 'garbage'],
  ['/loki/api/v1/push', json, '{"streams":[{"stream":{"a":1}}]}'],
  ['/v1/logs', proto, '\xff\xff\xff\xff'],
  ['/v1/logs', json, '[[[['],
  ['/v1/metrics', proto, '\x0a\xff'],
  ['/v1/metrics', json, '{"resourceMetrics":7}'],
  ['/v1/traces', proto, '\x0a\xff'],
  ['/v1/traces', json, '"'],
];

async function settledRss(): Promise<number> {
  global.gc?.();
  await new Promise((resolve) => setTimeout(resolve, 50));
  return process.memoryUsage.rss();
}

describe('what would burst', () => {
  test(
    'is refused by its size, again and again, and the memory stays what it was',
    { timeout: 300_000 },
    async (t) => {
      const house = await ingestHouse(t, { stores: ['metricsdb', 'logs', 'traces'] });
      // The allocator keeps what the first rounds needed at once, and how many those are is chance; what leaks grows with every one.
      let grown = Infinity;
      for (let attempts = 0; attempts < 3 && grown >= 128 * mebibyte; attempts++) {
        const before = await settledRss();
        for (let i = 0; i < 6; i++) {
          await round(house);
        }
        grown = (await settledRss()) - before;
      }
      assert.ok(
        grown < 128 * mebibyte,
        `${Math.round(grown / mebibyte)} MiB more after ${6 * bombs.length} further bombs of up to 300 MiB`,
      );
      assert.match(await (await house.fetch('/metrics')).text(), /svc_ingest_in_flight_bytes 0\n/);
    },
  );

  async function round(house: IngestHouse): Promise<void> {
    const answers = await Promise.all(
      bombs.map(([path, type, encoding, body]) =>
        house.push(path, seven, type, body, { 'content-encoding': encoding }),
      ),
    );
    assert.deepEqual(
      answers.map(({ status }, i) => `${bombs[i]![0]} ${bombs[i]![2]} ${status}`),
      bombs.map(([path, , encoding]) => `${path} ${encoding} 413`),
    );
  }

  test('garbage is 400 in every language, and the stores go on', async (t) => {
    const house = await ingestHouse(t, { stores: ['metricsdb', 'logs', 'traces'] });
    for (const [path, type, body] of garbage) {
      const answer = await house.push(path, seven, type, Buffer.from(body, 'latin1'));
      assert.equal(
        answer.status,
        400,
        `${path} ${type} ${JSON.stringify(body)}: ${await answer.text()}`,
      );
    }
    assert.equal(
      (await house.push('/api/v1/import/prometheus', seven, 'text/plain', 'up 1\n')).status,
      204,
    );
  });
});
