import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { budget, matcher } from 'svc/query';

import { openStore, present, push } from './fixture.ts';

describe('the directory of streams', () => {
  test('names, values and series are those with lines in the window', async (t) => {
    const { store } = await openStore(t);
    await push(store, { app: 'web', host: 'h1' }, [[1, 'x']]);
    await push(store, { app: 'api' }, [[1_000, 'x']]);
    const window = (
      from: number,
      to: number,
    ): { start: { ms: number; ns: number }; end: { ms: number; ns: number } } => ({
      start: { ms: present + from, ns: 0 },
      end: { ms: present + to, ns: 0 },
    });
    for (const place of ['memory', 'block']) {
      const { directory } = store;
      const ample = budget({ timeoutMs: 60_000, now: () => performance.now() });
      assert.deepEqual(
        await directory.labels([], window(0, 2_000), ample),
        ['app', 'host', 'service_name'],
        place,
      );
      assert.deepEqual(
        await directory.labels([], window(500, 2_000), ample),
        ['app', 'service_name'],
        place,
      );
      assert.deepEqual(
        await directory.values('app', [], window(0, 2_000), ample),
        ['api', 'web'],
        place,
      );
      assert.deepEqual(
        await directory.values('app', [matcher('host', '=', 'h1')], window(0, 2_000), ample),
        ['web'],
        place,
      );
      assert.deepEqual(
        await all(directory.series([[matcher('app', '=', 'api')]], window(0, 2_000), ample)),
        [['app', 'api', 'service_name', 'api']],
        place,
      );
      assert.deepEqual(
        (await all(directory.sizes([], window(0, 2_000), ample))).map(({ lines, bytes }) => [
          lines,
          bytes,
        ]),
        [
          [1, 1],
          [1, 1],
        ],
        place,
      );
      await store.flush();
    }
  });

  test('costs whoever asks for its names: too many streams, too much time and a lost asker end the question', async (t) => {
    const { store } = await openStore(t);
    await push(store, { app: 'web' }, [[1, 'x']]);
    await push(store, { app: 'api' }, [[1, 'x']]);
    const window = { start: { ms: 0, ns: 0 }, end: { ms: 2 * present, ns: 0 } };
    const now = (): number => 0;
    const few = { timeoutMs: 1, maxSamples: 1, now };
    const short = { timeoutMs: 0, now };
    const left = { timeoutMs: 1, now, signal: AbortSignal.abort() };
    for (const [limits, kind] of [
      [few, 'too_large'],
      [{ timeoutMs: 1, maxBytes: 30, now }, 'too_large'],
      [short, 'timeout'],
      [left, 'canceled'],
    ] as const) {
      await assert.rejects(store.directory.labels([], window, budget(limits)), { kind });
      await assert.rejects(store.directory.values('app', [], window, budget(limits)), { kind });
      await assert.rejects(all(store.directory.series([[]], window, budget(limits))), { kind });
    }
    for (const [limits, kind] of [
      [few, 'too_large'],
      [short, 'timeout'],
      [left, 'canceled'],
    ] as const) {
      await assert.rejects(
        all(store.directory.sizes([matcher('app', '=', 'none')], window, budget(limits))),
        { kind },
        'streams that do not match cost, too',
      );
    }
  });
});

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) {
    list.push(item);
  }
  return list;
}
