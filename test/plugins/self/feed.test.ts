import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';
import type { Handle, SelfLine } from 'svc/sdk';

import type { Line, LogIngest } from '../../../plugins/logs/contract.ts';
import type { PushAnswer } from '../../../plugins/metricsdb/contract.ts';
import { Backlog } from '../../../plugins/self/backlog.ts';
import { createFeed } from '../../../plugins/self/feed.ts';
import type { Keeper } from '../../../plugins/self/keeper.ts';
import { logFeed } from '../../../plugins/self/log-feed.ts';

const took = (count: number): PushAnswer => ({ accepted: count, rejected: 0, reasons: [] });

function keeping(): Keeper & { fails: boolean; lostCount: number } {
  const busy = new Set<string>();
  const keeper = {
    fails: false,
    lostCount: 0,
    isKeeping: (signal: string) => busy.has(signal),
    lost: (_signal: string, count: number) => void (keeper.lostCount += count),
    async keep<S>(signal: string, store: Handle<S>, _count: number, give: (store: S) => Promise<PushAnswer>): Promise<boolean> {
      busy.add(signal);
      await give(store.get());
      busy.delete(signal);
      return !keeper.fails;
    },
  };
  return keeper;
}

const always = <S>(store: S): Handle<S> => ({ available: true, get: () => store, onChange: () => () => undefined });

test('a backlog holds no more than it may, loses only its oldest, and counts them', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 200 }), (sizes) => {
      const backlog = new Backlog<{ n: number; size: number }>({ mostItems: 20, mostBytes: 200, sizeOf: ({ size }) => size });
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
    const keeper = keeping();
    let fails = 0;
    const feed = createFeed<object, number>({
      ...{ signal: 'logs', keeper, store: always({}), batch: 3, mostItems: 100, mostBytes: 1e6, sizeOf: () => 1 },
      async give(_store, items) {
        keeper.fails = fails > 0;
        fails -= 1;
        if (!keeper.fails) {
          given.push([...items]);
          feed.take(items[0]! + 100);
        }
        await Promise.resolve();
        return took(items.length);
      },
    });
    [1, 2, 3, 4, 5].forEach((n) => feed.take(n));
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
    assert.equal(keeper.lostCount, 0);
  });

  test('counts what a long outage costs', async () => {
    const keeper = keeping();
    keeper.fails = true;
    const feed = createFeed<object, number>({
      ...{ signal: 'traces', keeper, store: always({}), batch: 10, mostItems: 10, mostBytes: 1e6, sizeOf: () => 1 },
      give: async (_store, items) => took(items.length),
    });
    for (let i = 0; i < 100; i++) {
      feed.take(i);
      await feed.flush();
    }
    assert.ok(keeper.lostCount >= 90 && keeper.lostCount < 100, `${keeper.lostCount}`);
  });
});

test('what the store of lines says while it is given lines, and what this plugin says, does not become a line', async () => {
  const stored: Line[] = [];
  const line = (component: string, text: string): SelfLine => ({ at: 1, level: 'info', component, text });
  const feed = logFeed({
    instance: 'box',
    keeper: keeping(),
    store: always({
      async write(lines: Line[]) {
        stored.push(...lines);
        feed.take(line('logs', 'I was given lines'));
        feed.take(line('http', 'something else happened'));
        return took(lines.length);
      },
    } as unknown as LogIngest),
  });
  feed.take(line('logs', 'the store has something to say by itself'));
  feed.take(line('self', 'about keeping'));
  await feed.flush();
  await feed.flush();
  assert.equal(stored[0]!.line, 'the store has something to say by itself');
  assert.deepEqual([...new Set(stored.map(({ line: text }) => text))].sort(), ['something else happened', 'the store has something to say by itself']);
});
