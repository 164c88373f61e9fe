import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

import {
  type Asked,
  BackEnd,
  lateError,
  type Within,
} from '../../../plugins/alert/queries/back-end.ts';

/** Time that passes as fast as what waits for it allows. */
class FastTime {
  now = 0.25;
  readonly #timers = new Set<{ readonly at: number; readonly ring: () => void }>();

  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    await new Promise<void>((ring) => {
      const timer = { at: this.now + ms, ring };
      this.#timers.add(timer);
      signal?.addEventListener('abort', () => this.#timers.delete(timer));
    });
  }

  async passUntil(ended: Promise<unknown>): Promise<void> {
    let isOver = false;
    void ended.then(() => (isOver = true));
    for (await nextTurn(); !isOver; await nextTurn()) {
      const [next] = [...this.#timers].toSorted((one, other) => one.at - other.at);
      assert.ok(next, 'nothing is under way');
      this.#timers.delete(next);
      this.now = Math.max(this.now, next.at);
      next.ring();
    }
  }
}

const quickMs = 2;

/** A store that answers one query of a batch after another; `slow` names how long the slow ones take. */
function backEnd(slow: ReadonlyMap<string, number>) {
  const time = new FastTime();
  const asked: (readonly string[])[] = [];
  const within: Within = async (ms, what, work) => {
    const controller = new AbortController();
    const late = time.wait(ms, controller.signal).then(() => {
      throw lateError(what, ms);
    });
    try {
      return await Promise.race([work(controller.signal), late]);
    } finally {
      controller.abort();
    }
  };
  const store = new BackEnd({
    name: 'metrics',
    within,
    monotonic: () => time.now,
    async ask(queries, _time, { signal }) {
      asked.push(queries);
      await time.wait(
        queries.reduce((sum, query) => sum + (slow.get(query) ?? quickMs), 0),
        signal,
      );
      return queries.map(() => ({ type: 'scalar', value: 1, time: 1, warnings: [] }) as never);
    },
  });
  const round = async (
    queries: readonly string[],
    timeoutMs: number,
  ): Promise<ReadonlyMap<string, Asked>> => {
    const answers = store.round(queries, 0, timeoutMs);
    const all = Promise.all(
      [...answers].map(async ([query, answer]) => [query, await answer] as const),
    );
    await time.passUntil(all);
    return new Map(await all);
  };
  return { store, time, asked, round };
}

const failedOf = (answers: ReadonlyMap<string, Asked>): readonly string[] =>
  [...answers].flatMap(([query, { answer }]) => (answer instanceof Error ? [query] : []));
const queries = Array.from({ length: 40 }, (_, at) => `q${at}`);

for (const timeoutMs of [1_000, 2_000, 5_000, 10_000]) {
  test(`one query that is too slow fails alone, from the first round on, with ${timeoutMs} ms for all`, async () => {
    const { round, time, asked, store } = backEnd(new Map([['q7', 60_000]]));
    for (let at = 0; at < 4; at++) {
      const began = time.now;
      const answers = await round(queries, timeoutMs);
      assert.deepEqual(failedOf(answers), ['q7'], `round ${at}`);
      assert.match(
        (answers.get('q7')!.answer as Error).message,
        /^the query did not finish within/,
      );
      assert.ok(time.now - began <= timeoutMs);
    }
    assert.equal(store.failures, 0);
    assert.deepEqual(
      asked
        .slice(-2)
        .map(({ length }) => length)
        .toSorted((one, other) => one - other),
      [1, 39],
      'it is known, and asked alone',
    );
  });
}

test('what needs more than half of the time, and is alone, has all of it', async () => {
  const { round } = backEnd(new Map([['q0', 1_500]]));
  assert.deepEqual(failedOf(await round(['q0'], 2_000)), []);
});

test('a store that answers no probe either is not asked again until it does; one that only fails rounds is', async () => {
  const slow = new Map(['vector(1)', ...queries].map((query) => [query, 60_000]));
  const { round, store, time, asked } = backEnd(slow);
  const probe = async (): Promise<void> => {
    time.now += 2_000;
    await time.passUntil(store.check(0));
  };
  await probe();
  assert.deepEqual(asked, [], 'a store that answers is not probed');
  await round(['q0'], 1_000);
  for (let at = 0; at < 3; at++) {
    await probe();
  }
  assert.equal(store.isDown, false, 'not within its grace');
  time.now += 60_000;
  assert.equal(store.isDown, true);
  const [before, began] = [asked.length, time.now];
  const answers = await round(queries, 1_000);
  assert.equal(failedOf(answers).length, 40);
  assert.match(
    (answers.get('q1')!.answer as Error).message,
    /^The metrics store is not responding: the query did not finish within 2 s/,
  );
  assert.deepEqual(
    [asked.length, time.now],
    [before, began],
    'nothing was asked, and no time passed',
  );

  slow.delete('vector(1)');
  await probe();
  assert.deepEqual([store.failures, store.isDown], [0, false]);
  for (let at = 0; at < 3; at++) {
    await round(['q0'], 1_000);
    await probe();
  }
  assert.equal(store.failures, 3, 'what answers probes alone is no store that answers');
});

test('a store that answers nothing is named once all have failed, and forgiven at the next answer', async () => {
  const slow = new Map(queries.map((query) => [query, 60_000]));
  const { round, store } = backEnd(slow);
  assert.equal(failedOf(await round(queries, 1_000)).length, 40);
  assert.equal(store.failures, 1);
  slow.clear();
  // Each is known to be slow, and is asked alone until it was quick.
  assert.deepEqual(failedOf(await round(queries, 1_000)), []);
  assert.equal(store.failures, 0);
});
