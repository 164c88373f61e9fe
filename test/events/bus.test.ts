import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';

import { Bus, type BusOptions, type Subscriber } from '../../core/events/index.ts';
import { type LogFields, messageOf } from '../../core/sdk/index.ts';

interface Owner {
  readonly id: string;
}

/** A bus over a table of subscriptions that the test replaces, as the registry does. */
function house(options: Partial<BusOptions<Owner>> = {}) {
  let table: ReadonlyMap<string, Subscriber<Owner>> = new Map();
  const strikes: string[] = [];
  const warnings: string[] = [];
  const dropped: string[] = [];
  const say = ({ event, subscriber, lost, cause }: LogFields) =>
    void warnings.push(
      [event, subscriber, lost, cause]
        .filter((part) => part !== undefined)
        .map(String)
        .join(' '),
    );
  const bus = new Bus<Owner>({
    subscriptions: () => table,
    async deliver(owner, label, work) {
      try {
        await work();
      } catch (error) {
        strikes.push(`${owner.id}: ${label}: ${messageOf(error)}`);
      }
    },
    log: { debug: say, info: say, warn: say, error: say },
    dropped: { add: (_amount, labels) => void dropped.push(labels!['subscriber']!) },
    ...options,
  });
  const listen = (
    key: string,
    type: string,
    listener: (event: never) => unknown,
    owner: Owner = { id: key.split('/')[0]! },
  ) => {
    table = new Map(table).set(key, {
      key,
      owner,
      value: { type, listener: listener as () => void },
    });
  };
  const leave = (key: string) => {
    const next = new Map(table);
    next.delete(key);
    table = next;
  };
  return { bus, listen, leave, strikes, warnings, dropped };
}

test('a subscriber hears every event of its type, in order, one at a time', async () => {
  const { bus, listen } = house();
  const heard: number[] = [];
  let inside = 0;
  listen('a/x/0', 'x', async (event: { n: number }) => {
    assert.equal((inside += 1), 1);
    await sleep(event.n === 0 ? 20 : 0);
    heard.push(event.n);
    inside -= 1;
  });
  listen('b/y/0', 'y', () => assert.fail('another type'));
  for (let n = 0; n < 200; n += 1) {
    bus.emit('x', { n });
  }
  assert.deepEqual(heard, [], 'nobody hears before emit returns');
  await bus.idle();
  assert.deepEqual(
    heard,
    Array.from({ length: 200 }, (_, n) => n),
  );
});

test('a slow or failing subscriber does not hold up another, and pays for itself', async () => {
  const { bus, listen, strikes } = house({ deliverMs: 30 });
  const heard: number[] = [];
  listen('slow/x/0', 'x', () => new Promise(() => undefined));
  listen('bad/x/0', 'x', () => assert.fail('boom'));
  listen('good/x/0', 'x', (event: { n: number }) => heard.push(event.n));
  bus.emit('x', { n: 1 });
  bus.emit('x', { n: 2 });
  await turn();
  await turn();
  assert.deepEqual(heard, [1, 2]);
  await bus.idle();
  assert.deepEqual(strikes.toSorted(), [
    'bad: event x: boom',
    'bad: event x: boom',
    'slow: event x: slow/x/0 did not finish within 30 ms.',
    'slow: event x: slow/x/0 did not finish within 30 ms.',
  ]);
});

test('an event cannot be changed by who hears it, nor afterwards by who told it', async () => {
  const { bus, listen, strikes } = house();
  const seen: unknown[] = [];
  listen('a/x/0', 'x', (event: { list: number[] }) => event.list.push(2));
  listen('b/x/0', 'x', (event: unknown) => seen.push(event));
  const mine = { list: [1], deep: { value: 'before' } };
  bus.emit('x', mine);
  mine.deep.value = 'after';
  mine.list.push(3);
  await bus.idle();
  assert.deepEqual(seen, [{ list: [1], deep: { value: 'before' } }]);
  assert.match(strikes[0]!, /not extensible/);
});

test('what is not plain data is refused where it is told', () => {
  const { bus } = house();
  const cycle: Record<string, unknown> = {};
  cycle['self'] = cycle;
  assert.throws(
    () => bus.emit('x', { when: new Date() }),
    /Event x carries a Date at \/when; events must be plain data/,
  );
  assert.throws(() => bus.emit('x', [() => 1]), /carries a function at \/0/);
  assert.throws(() => bus.emit('x', cycle), /nested deeper than 32 levels/);
  bus.emit('x', Object.assign(Object.create(null), { __proto__: 1 }));
  bus.emit('x', undefined);
});

test('a subscriber that is too slow loses the oldest, is counted and warned about once a burst', async () => {
  const { bus, listen, warnings, dropped } = house({ queueLimit: 10 });
  const heard: number[] = [];
  listen('a/x/0', 'x', (event: { n: number }) => heard.push(event.n));
  for (let n = 0; n < 25; n += 1) {
    bus.emit('x', { n });
  }
  await bus.idle();
  assert.deepEqual(
    heard,
    Array.from({ length: 10 }, (_, n) => n + 15),
  );
  assert.equal(dropped.length, 15);
  assert.deepEqual(warnings, ['events.queue_full a/x/0', 'events.caught_up a/x/0 15']);
  for (let n = 0; n < 11; n += 1) {
    bus.emit('x', { n });
  }
  await bus.idle();
  assert.equal(warnings.length, 4);
});

test('who leaves hears nothing more, also in the middle of a delivery', async () => {
  const { bus, listen, leave } = house();
  const heard: number[] = [];
  listen('a/x/0', 'x', (event: { n: number }) => {
    heard.push(event.n);
    leave('a/x/0');
  });
  listen('b/x/0', 'x', (event: { n: number }) => heard.push(event.n * 10));
  bus.emit('x', { n: 1 });
  bus.emit('x', { n: 2 });
  await bus.idle();
  assert.deepEqual(
    heard.toSorted((a, b) => a - b),
    [1, 10, 20],
  );
});

test('a reloaded subscriber goes on where the generation before stopped', async () => {
  const { bus, listen } = house();
  const heard: string[] = [];
  listen('a/x/0', 'x', (event: { n: number }) => {
    heard.push(`old ${event.n}`);
    listen('a/x/0', 'x', (later: { n: number }) => heard.push(`new ${later.n}`));
  });
  for (const n of [1, 2, 3]) {
    bus.emit('x', { n });
  }
  await bus.idle();
  assert.deepEqual(heard, ['old 1', 'new 2', 'new 3']);
});

test('an event whose delivery a reload cuts off goes to the next generation, one that fails by itself does not', async () => {
  const { bus, listen, strikes } = house();
  const heard: string[] = [];
  const take = (generation: string) => (event: { n: number }) => {
    heard.push(`${generation} ${event.n}`);
    if (event.n === 3) {
      throw new Error('wrong number');
    }
  };
  listen('a/x/0', 'x', (event: { n: number }) => {
    if (event.n === 2) {
      listen('a/x/0', 'x', take('new'));
      throw new Error('the process has ended');
    }
    take('old')(event);
  });
  for (const n of [1, 2, 3, 4]) {
    bus.emit('x', { n });
  }
  await bus.idle();
  assert.deepEqual(heard, ['old 1', 'new 2', 'new 3', 'new 4']);
  assert.deepEqual(strikes, ['a: event x: the process has ended', 'a: event x: wrong number']);
});

test('a delivery does not run in the request that told of it', async () => {
  const request = new AsyncLocalStorage<string>();
  const { bus, listen } = house();
  const inside: unknown[] = [];
  listen('a/x/0', 'x', () => inside.push(request.getStore()));
  request.run('request 7', () => bus.emit('x', {}));
  await bus.idle();
  assert.deepEqual(inside, [undefined]);
});

test('two subscribers that answer each other for ever leave room for other work', async () => {
  const { bus, listen, leave } = house();
  let rallies = 0;
  listen('a/ping/0', 'ping', () => bus.emit('pong', {}));
  listen('b/pong/0', 'pong', () => {
    rallies += 1;
    bus.emit('ping', {});
  });
  bus.emit('ping', {});
  await sleep(30);
  assert.ok(rallies > 0);
  leave('a/ping/0');
  await bus.idle();
});

test('a deliver port that fails itself does not end the queue', async () => {
  const heard: unknown[] = [];
  const { bus, listen, warnings } = house({
    async deliver(_owner, _label, work) {
      await work();
      throw new Error('scope has ended');
    },
  });
  listen('a/x/0', 'x', (event: unknown) => heard.push(event));
  bus.emit('x', 1);
  bus.emit('x', 2);
  await bus.idle();
  assert.deepEqual(heard, [1, 2]);
  assert.match(warnings[0]!, /^events\.delivery_failed a\/x\/0 scope has ended/);
});
