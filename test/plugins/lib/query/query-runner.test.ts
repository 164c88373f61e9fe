import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';

import { askerOf, type Budget, kindOf, type QueryCall, QueryRunner } from 'svc/query';

const open = new AbortController().signal;
const by = (asker: string | undefined, more: Partial<QueryCall> = {}): QueryCall => ({
  asker,
  signal: open,
  ...more,
});

/** Work that ends when told to. */
class Held {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();

  work(name: string): () => Promise<string> {
    return async () => {
      this.begun.push(name);
      await new Promise<void>((resolve) => this.#ends.set(name, resolve));
      return name;
    };
  }

  async end(name: string): Promise<void> {
    this.#ends.get(name)!();
    await turns();
  }
}

async function turns(): Promise<void> {
  for (let i = 0; i < 12; i++) {
    await new Promise(setImmediate);
  }
}

/** Keeps the thread busy for so long, in slices. */
async function compute(ms: number, budget: Budget): Promise<void> {
  for (let left = ms; left > 0;) {
    const until = performance.now() + 9;
    while (performance.now() < until) {
      // As a query that computes.
    }
    left -= 9;
    await budget.breathe();
  }
}

describe('which queries begin', () => {
  test('so many at a time, and the oldest of a line is next', async () => {
    const runner = new QueryRunner({ timeoutMs: 60_000, atOnce: 2 });
    const held = new Held();
    const runs = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => runner.run(by('a'), held.work(name)));
    await turns();
    assert.deepEqual(held.begun, ['a1', 'a2']);
    assert.deepEqual(runner.load, { running: 2, waiting: 3, asked: 5 });
    await held.end('a2');
    assert.deepEqual(held.begun, ['a1', 'a2', 'a3']);
    for (const name of ['a1', 'a3', 'a4', 'a5']) {
      await held.end(name);
    }
    assert.deepEqual(await Promise.all(runs), ['a1', 'a2', 'a3', 'a4', 'a5']);
    assert.deepEqual(runner.load, { running: 0, waiting: 0, asked: 5 });
  });

  test('the first query of each other person, and those of the product, begin at once', async () => {
    const runner = new QueryRunner({ timeoutMs: 60_000, atOnce: 2 });
    const held = new Held();
    const names = ['a1', 'a2', 'b1', 'b2', 'c1'];
    const runs = names.map((name) => runner.run(by(name[0]), held.work(name)));
    const house = ['h1', 'h2', 'h3'].map((name) => runner.run(by(undefined), held.work(name)));
    await turns();
    assert.deepEqual(held.begun.toSorted(), ['a1', 'a2', 'b1', 'c1', 'h1', 'h2', 'h3']);
    await held.end('c1');
    assert.equal(held.begun.length, 7, 'b has its first one running, and a two');
    await held.end('b1');
    assert.equal(held.begun.at(-1), 'b2', 'b has none running now');
    for (const name of ['a1', 'b2', 'a2', 'h1', 'h2', 'h3']) {
      await held.end(name);
    }
    await Promise.all([...runs, ...house]);
  });

  test('who leaves is forgotten, and an error gives the place on', async () => {
    const runner = new QueryRunner({ timeoutMs: 60_000, atOnce: 1 });
    const held = new Held();
    const first = runner.run(by('a'), held.work('a1'));
    const gone = new AbortController();
    const second = runner.run(by('a', { signal: gone.signal }), held.work('a2'));
    const third = assert.rejects(
      runner.run(by('a'), () => Promise.reject(new Error('broken'))),
      /broken/,
    );
    gone.abort();
    await assert.rejects(second, (error) => kindOf(error) === 'canceled');
    await assert.rejects(
      runner.run(by('a', { signal: gone.signal }), held.work('a3')),
      (error) => kindOf(error) === 'canceled',
    );
    await held.end('a1');
    await third;
    await first;
    assert.deepEqual(held.begun, ['a1']);
    assert.equal(runner.load.running, 0);
  });

  test('a deadline counts from the arrival: what waited that long is refused without having begun', async () => {
    const runner = new QueryRunner({ timeoutMs: 60_000, cpuMs: 60_000, atOnce: 1 });
    const begun: string[] = [];
    const run = (name: string, timeoutMs: number): Promise<void> =>
      runner.run(by('a', { timeoutMs }), (budget) => {
        begun.push(name);
        return compute(120, budget);
      });
    const first = run('first', 60_000);
    await assert.rejects(
      run('second', 50),
      (error) => kindOf(error) === 'timeout' && /waited 0.05 s in the queue/.test(String(error)),
    );
    assert.deepEqual(runner.load, { running: 1, waiting: 0, asked: 2 });
    await first;
    assert.deepEqual(begun, ['first']);
  });

  test('a line that the deadline could not serve is refused at once, with when to come back', async () => {
    const runner = new QueryRunner({ timeoutMs: 60_000, cpuMs: 60_000, atOnce: 1 });
    await runner.run(by('a'), (budget) => compute(70, budget));
    const held = new Held();
    const running = runner.run(by('a'), held.work('a1'));
    const waiting = runner.run(by('a'), held.work('a2'));
    await assert.rejects(runner.run(by('a', { timeoutMs: 100 }), held.work('a3')), {
      code: 'rate_limited',
      retryAfterSeconds: 1,
    });
    assert.equal(await runner.run(by('b'), () => Promise.resolve('at once')), 'at once');
    await held.end('a1');
    await held.end('a2');
    await Promise.all([running, waiting]);
  });

  test('a line has an end', async () => {
    const runner = new QueryRunner({ timeoutMs: 60_000, atOnce: 1 });
    const held = new Held();
    const running = runner.run(by('a'), held.work('0'));
    const leave = new AbortController();
    const waiting = Array.from({ length: 64 }, (_, at) =>
      runner.run(by('a', { signal: leave.signal }), held.work(`${at + 1}`)),
    );
    await assert.rejects(runner.run(by('a'), held.work('65')), { code: 'rate_limited' });
    leave.abort();
    assert.equal(
      (await Promise.allSettled(waiting)).filter(({ status }) => status === 'rejected').length,
      64,
    );
    await held.end('0');
    await running;
  });
});

describe('which query computes', () => {
  test('a short one of another person and one of the product pass long ones', async () => {
    const runner = new QueryRunner({ timeoutMs: 60_000, atOnce: 4 });
    const ended: string[] = [];
    const run = (name: string, asker: string | undefined, ms: number): Promise<unknown> =>
      runner.run(by(asker), (budget) => compute(ms, budget)).then(() => ended.push(name));
    const long = [run('long 1', 'a', 400), run('long 2', 'a', 400)];
    await Promise.race([...long, new Promise((resolve) => setTimeout(resolve, 300))]);
    await Promise.all([...long, run('short', 'b', 30), run('rule', undefined, 120)]);
    assert.deepEqual(ended.slice(0, 2).toSorted(), ['rule', 'short']);
    assert.deepEqual(ended.slice(2).toSorted(), ['long 1', 'long 2']);
  });

  test('long ones end one after the other, not all at the end', async () => {
    const runner = new QueryRunner({ timeoutMs: 60_000, atOnce: 4 });
    const slices = { a: 0, b: 0, c: 0 };
    const when: string[] = [];
    const run = (name: keyof typeof slices): Promise<unknown> =>
      runner.run(by(name), async (budget) => {
        for (let left = 500; left > 0; left -= 10) {
          slices[name]++;
          await compute(10, budget);
        }
        when.push(`${Math.min(slices.a, slices.b, slices.c) < 0.75 * slices[name]}`);
      });
    await Promise.all([run('a'), run('b'), run('c')]);
    assert.equal(when[0], 'true', 'when the first ends, another is far from its end');
  });

  test('one that has computed all it may is refused and says what to narrow; the product has no such limit', async () => {
    const runner = new QueryRunner({ timeoutMs: 60_000, cpuMs: 50 });
    const refused = runner.run(by('a'), (budget) => compute(500, budget));
    await assert.rejects(
      refused,
      (error) =>
        kindOf(error) === 'too_large' &&
        /computed for 0.05 s and is not done: ask for a shorter window/.test(String(error)),
    );
    await runner.run(by(undefined), (budget) => compute(100, budget));
  });

  test('stops soon after its asker has left', async () => {
    const runner = new QueryRunner({ timeoutMs: 60_000 });
    const asker = new AbortController();
    let slices = 0;
    const run = runner.run(by('a', { signal: asker.signal }), async (budget) => {
      for (;;) {
        slices++;
        await compute(9, budget);
        if (slices === 3) {
          asker.abort();
        }
      }
    });
    await assert.rejects(run, (error) => kindOf(error) === 'canceled');
    assert.equal(slices, 4);
  });

  test('messages of the event loop are heard between any two slices', async () => {
    const runner = new QueryRunner({ timeoutMs: 60_000 });
    const { port1, port2 } = new MessageChannel();
    let heard = 0;
    let slices = 0;
    port1.on('message', () => heard++);
    await Promise.all(
      ['a', 'b', undefined].map((asker) =>
        runner.run(by(asker), async (budget) => {
          for (let i = 0; i < 6; i++) {
            slices++;
            port2.postMessage(i);
            await compute(9, budget);
          }
        }),
      ),
    );
    await turns();
    port1.close();
    assert.equal(heard, slices);
  });
});

test('a person is one asker by whatever way; the product itself is none', () => {
  assert.equal(askerOf({ kind: 'user', id: '7' }), askerOf({ kind: 'token', id: '7' }));
  assert.notEqual(askerOf({ kind: 'edge', id: '7' }), askerOf({ kind: 'user', id: '7' }));
  assert.equal(askerOf({ kind: 'system', id: 'x' }), undefined);
});
