import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';
import type { Line, LogIngest } from 'svc/contracts/logs';
import type { PushAnswer } from 'svc/contracts/metricsdb';
import type { Handle, SelfLine } from 'svc/sdk';

import { Backlog } from '../../../plugins/self/backlog.ts';
import { Feed } from '../../../plugins/self/feed.ts';
import type { Delivery } from '../../../plugins/self/delivery.ts';
import { LogFeed } from '../../../plugins/self/log-feed.ts';

const took = (count: number): PushAnswer => ({ accepted: count, rejected: 0, reasons: [] });

function delivering(): Pick<Delivery, 'deliver' | 'countLost' | 'isDelivering'> & {
  fails: boolean;
  lostCount: number;
} {
  const busy = new Set<string>();
  const delivery = {
    fails: false,
    lostCount: 0,
    isDelivering: (signal: string) => busy.has(signal),
    countLost: (_signal: string, count: number) => void (delivery.lostCount += count),
    async deliver<S>(
      signal: string,
      store: Handle<S>,
      _count: number,
      give: (store: S) => Promise<PushAnswer>,
    ): Promise<boolean> {
      busy.add(signal);
      await give(store.get());
      busy.delete(signal);
      return !delivery.fails;
    },
  };
  return delivery;
}

const always = <S>(store: S): Handle<S> => ({
  available: true,
  get: () => store,
  onChange: () => () => undefined,
});

test('a backlog holds no more than it may, loses only its oldest, and counts them', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 200 }), (sizes) => {
      const backlog = new Backlog<{ n: number; size: number }>({
        maxItems: 20,
        maxBytes: 200,
        sizeOf: ({ size }) => size,
      });
      let gone = 0;
      sizes.forEach((size, n) => (gone += backlog.add({ n, size })));
      const left = backlog.take(1_000);
      assert.deepEqual(
        left.map(({ n }) => n),
        sizes.map((_, n) => n).slice(gone),
      );
      assert.ok(left.length <= 20 && left.reduce((sum, { size }) => sum + size, 0) <= 200);
    }),
  );
});

describe('a feed', () => {
  test('gives everything once and in order, in batches, whatever fails on the way and whoever asks at the same time', async () => {
    const given: number[][] = [];
    const delivery = delivering();
    let fails = 0;
    const feed = new Feed<object, number>({
      signal: 'logs',
      delivery,
      store: always({}),
      batch: 3,
      maxItems: 100,
      maxBytes: 1e6,
      sizeOf: () => 1,
      async give(_store, items) {
        delivery.fails = fails > 0;
        fails -= 1;
        if (!delivery.fails) {
          given.push([...items]);
          feed.add(items[0]! + 100);
        }
        await Promise.resolve();
        return took(items.length);
      },
    });
    [1, 2, 3, 4, 5].forEach((n) => feed.add(n));
    fails = 1;
    await Promise.all([feed.flush(), feed.flush()]);
    assert.deepEqual(given, []);
    await Promise.all([feed.flush(), feed.flush(), feed.flush()]);
    assert.deepEqual(given, [
      [1, 2, 3],
      [4, 5],
    ]);
    await feed.flush();
    assert.deepEqual(given[2], [101, 104], 'what came in meanwhile is of the next round');
    assert.equal(delivery.lostCount, 0);
  });

  test('counts what a long outage costs', async () => {
    const delivery = delivering();
    delivery.fails = true;
    const feed = new Feed<object, number>({
      signal: 'traces',
      delivery,
      store: always({}),
      batch: 10,
      maxItems: 10,
      maxBytes: 1e6,
      sizeOf: () => 1,
      give: async (_store, items) => took(items.length),
    });
    for (let i = 0; i < 100; i++) {
      feed.add(i);
      await feed.flush();
    }
    assert.ok(delivery.lostCount >= 90 && delivery.lostCount < 100, `${delivery.lostCount}`);
  });
});

test('what the store of lines says while it is given lines, and what this plugin says, does not become a line', async () => {
  const stored: Line[] = [];
  const line = (component: string, text: string): SelfLine => ({
    at: 1,
    level: 'info',
    component,
    text,
  });
  const feed = new LogFeed({
    instance: 'box',
    delivery: delivering(),
    store: always({
      async write(lines: Line[]) {
        stored.push(...lines);
        feed.add(line('logs', 'I was given lines'));
        feed.add(line('http', 'something else happened'));
        return took(lines.length);
      },
    } as unknown as LogIngest),
  });
  feed.add(line('logs', 'the store has something to say by itself'));
  feed.add(line('self', 'about keeping'));
  await feed.flush();
  await feed.flush();
  assert.equal(stored[0]!.line, 'the store has something to say by itself');
  assert.deepEqual([...new Set(stored.map(({ line: text }) => text))].sort(), [
    'something else happened',
    'the store has something to say by itself',
  ]);
});
