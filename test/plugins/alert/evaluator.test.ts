import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { SvcError } from 'svc/sdk';

import { type Ask, lateError, type Within } from '../../../plugins/alert/queries/back-end.ts';
import { phaseOf } from '../../../plugins/alert/queries/slots.ts';
import {
  answerOf,
  Engine,
  type EngineOptions,
  HandClock,
  hour,
  interval,
  minute,
  second,
} from './engine-house.ts';

async function engine(t: TestContext, options: EngineOptions = {}): Promise<Engine> {
  const made = await new Engine(options).open();
  t.after(() => made.close());
  return made;
}

const hot = [{ device_id: '7', value: 95 }];
const key = 'cpu:host:7';

describe('a condition', () => {
  test('that has to last starts anew when one evaluation finds it clear', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu', legs: [{ forMs: 2 * minute }] });
    house.answers.set('cpu', hot);
    await house.pass(2 * minute);
    house.answers.set('cpu', []);
    await house.pass(interval);
    house.answers.set('cpu', hot);
    await house.pass(2 * minute);
    assert.equal(await house.incident(key), undefined);
    await house.pass(interval);
    assert.equal((await house.incident(key))!.status, 'open');
  });

  test('survives a restart, and an outage of up to an hour, with what it has lasted; the outage itself counts for nothing', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu', legs: [{ forMs: 2 * minute }] });
    house.answers.set('cpu', hot);
    await house.pass(90 * second);
    await house.restart();
    await house.pass(minute);
    assert.equal((await house.incident(key))!.status, 'open', 'the restart cost nothing');
    house.book.add({ rule_key: 'mem', legs: [{ forMs: 2 * minute }] });
    house.answers.set('mem', hot);
    await house.pass(90 * second);
    house.clock.advance(5 * minute);
    await house.restart();
    await house.pass(interval);
    assert.equal(await house.incident('mem:host:7'), undefined, 'five minutes are unknown');
    await house.pass(minute);
    assert.equal(
      (await house.incident('mem:host:7'))!.status,
      'open',
      'a minute and a half before, the rest after',
    );
    house.book.add({ rule_key: 'load', legs: [{ forMs: 2 * minute }] });
    house.answers.set('load', hot);
    await house.pass(90 * second);
    house.clock.advance(hour + minute);
    await house.restart();
    await house.pass(90 * second);
    assert.equal(
      await house.incident('load:host:7'),
      undefined,
      'after more than an hour it begins anew',
    );
    await house.pass(minute);
    assert.equal((await house.incident('load:host:7'))!.status, 'open');
  });

  test('is clear for good after one full cycle only, also over a restart, and a restart fires nothing again', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu' });
    house.answers.set('cpu', hot);
    await house.pass(minute);
    await house.restart();
    await house.pass(minute);
    assert.deepEqual(await house.timeline(key), ['firing open']);
    house.answers.set('cpu', []);
    await house.pass(interval);
    await house.restart();
    house.answers.set('cpu', hot);
    await house.pass(interval);
    assert.deepEqual(await house.timeline(key), ['firing open'], 'it was clear once only');
    house.answers.set('cpu', []);
    await house.pass(minute);
    assert.deepEqual(await house.timeline(key), ['firing open', 'resolved resolved']);
    assert.deepEqual(house.sent, [`firing 1 ${key}`, `resolved 1 ${key}`]);
  });

  test('of several parts takes all of them, or any, as its join_mode says, each for as long as it must', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'all', legs: [{ forMs: minute }, {}] });
    house.book.add({ rule_key: 'any', join_mode: 'any', legs: [{ forMs: minute }, {}] });
    for (const rule of ['all', 'any']) {
      house.answers.set(rule, [{ device_id: '1', value: 1 }]);
      house.answers.set(`${rule}/1`, [{ device_id: '2', value: 1 }]);
    }
    await house.pass(interval);
    assert.deepEqual(house.fired, ['any:host:2']);
    await house.pass(2 * minute);
    assert.deepEqual(house.fired, ['any:host:2', 'any:host:1']);
    house.answers.set('all/1', [{ device_id: '1', value: 1 }]);
    await house.pass(interval);
    assert.deepEqual(
      house.fired,
      ['any:host:2', 'any:host:1', 'all:host:1'],
      'the first part had lasted before the second came to it',
    );
    house.answers.set('all/1', []);
    await house.pass(10 * minute);
    assert.deepEqual(
      [(await house.incident('all:host:1'))!.status, (await house.incident('any:host:1'))!.status],
      ['resolved', 'open'],
      'it ends with either part',
    );
  });

  test('is not clear because its source is not heard yet after a start: only once its measure is there again, or 15 minutes have passed', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu', legs: [{ query: 'cpu > 1', measure: 'cpu' }] });
    const both = [...hot, { device_id: '8', value: 95 }];
    house.answers.set('cpu > 1', both).set('cpu', both);
    await house.pass(minute);
    house.answers.set('cpu > 1', []).set('cpu', []);
    house.silent.add('7').add('8');
    house.clock.advance(hour);
    await house.restart();
    const started = new Date(house.clock.now()).toISOString();
    await house.pass(3 * minute);
    const statuses = async (): Promise<readonly string[]> => [
      (await house.incident(key))!.status,
      (await house.incident('cpu:host:8'))!.status,
    ];
    assert.deepEqual(await statuses(), ['open', 'open'], 'no data is no all-clear');
    assert.equal([...house.evaluator.rules][0]!.stale.size, 2);
    assert.equal(
      new Date([...house.evaluator.stale.of(1).values()][0]!.wall).toISOString(),
      started,
    );
    house.answers.set('cpu', [{ device_id: '7', value: 0 }]);
    await house.pass(minute);
    assert.deepEqual(await statuses(), ['resolved', 'open'], '7 is back and well, 8 is not heard');
    await house.pass(12 * minute);
    assert.deepEqual(await statuses(), ['resolved', 'resolved']);
    const { items } = await house.store.events(
      (await house.incident('cpu:host:8'))!,
      { order: 'desc' },
      { limit: 1 },
      undefined,
    );
    assert.match(items[0]!.message, /not heard for 15 minutes/);
  });

  test('is not clear because its edge went away while this ran: it is stale since then, however long, and clear once it is heard again and well', async (t) => {
    const house = await engine(t);
    const { id } = house.book.add({
      rule_key: 'cpu',
      legs: [{ query: 'cpu > 1', measure: 'cpu' }],
    });
    house.answers.set('cpu > 1', hot).set('cpu', hot);
    await house.pass(minute);
    const left = house.clock.now();
    house.offline.add('7');
    house.answers.set('cpu > 1', []).set('cpu', []);
    await house.pass(hour);
    const incident = (await house.incident(key))!;
    assert.equal(incident.status, 'open', 'nothing is known of it');
    const [shown] = (await house.instances.list(incident, 'stale', { limit: 2 }, undefined)).items;
    const since = house.instances.staleSince(incident, undefined)!;
    assert.ok(
      since >= left && since <= left + interval,
      'since the first evaluation that did not find it',
    );
    assert.deepEqual([shown?.state, shown?.since], ['stale', new Date(since).toISOString()]);
    house.offline.clear();
    await house.pass(minute);
    assert.equal(
      (await house.incident(key))!.status,
      'open',
      'the edge is back, and has not told this measure yet',
    );
    house.answers.set('cpu', [{ device_id: '7', value: 0 }]);
    await house.pass(minute);
    assert.deepEqual(house.sent, [`firing 1 ${key}`, `resolved 1 ${key}`]);
    assert.equal(house.evaluator.stale.of(id).size, 0);
  });

  test('is clear where its source is heard and it is not: at once, or five minutes after the source is back', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu', legs: [{ query: 'cpu > 1', measure: 'cpu' }] });
    house.answers.set('cpu > 1', hot).set('cpu', hot);
    await house.pass(minute);
    house.answers.set('cpu > 1', []).set('cpu', []);
    await house.pass(minute);
    assert.equal(
      (await house.incident(key))!.status,
      'resolved',
      'a process that has ended on a host that goes on',
    );
    house.answers.set('cpu > 1', hot).set('cpu', hot);
    await house.pass(minute);
    house.silent.add('7');
    house.answers.set('cpu > 1', []).set('cpu', []);
    await house.pass(5 * minute);
    house.silent.clear();
    await house.pass(4 * minute);
    assert.equal((await house.incident(key))!.status, 'open');
    await house.pass(2 * minute);
    assert.equal((await house.incident(key))!.status, 'resolved');
    const { items } = await house.store.events(
      (await house.incident(key))!,
      { order: 'desc' },
      { limit: 1 },
      undefined,
    );
    assert.equal(items[0]!.message, 'its condition is no longer met');
  });

  for (const [jump, way] of [
    [hour, 'ahead'],
    [-hour, 'back'],
  ] as const) {
    test(`is not clear because the clock was set ${way}, so that rules look at other times: it is once senders are heard again`, async (t) => {
      const house = await engine(t);
      house.book.add({ rule_key: 'cpu', legs: [{ query: 'cpu > 1', measure: 'cpu' }] });
      house.answers.set('cpu > 1', hot).set('cpu', hot);
      await house.pass(minute);
      // Of the time to come nothing is stored; an hour ago all was well.
      house.answers.set('cpu > 1', []).set('cpu', jump > 0 ? [] : [{ device_id: '7', value: 0 }]);
      house.clock.jump(jump);
      await house.pass(5 * minute);
      assert.equal((await house.incident(key))!.status, 'open');
      assert.equal([...house.evaluator.rules][0]!.stale.size, 1);
      house.clock.jump(-jump);
      house.answers.set('cpu', [{ device_id: '7', value: 0 }]);
      await house.pass(2 * minute);
      assert.deepEqual(house.sent, [`firing 1 ${key}`, `resolved 1 ${key}`]);
    });
  }

  test('does not begin by what the clock, set back, shows of the past; where senders were set back with it, it does', async (t) => {
    const house = await engine(t);
    const two = [...hot, { device_id: '8', value: 5 }, { device_id: '9', value: 5 }];
    house.book.add({ rule_key: 'cpu', legs: [{ query: 'cpu > 1', measure: 'cpu' }] });
    house.answers.set('cpu > 1', []).set('cpu', []);
    await house.pass(minute);
    // An hour ago all three burned; today 7 is well, 8 burns, and 9 was set back, too.
    house.answers.set('cpu > 1', two).set('cpu', two);
    house.ahead.set('cpu > 1', [{ device_id: '8', value: 5 }]).set('cpu', [
      { device_id: '7', value: 0 },
      { device_id: '8', value: 5 },
    ]);
    house.clock.jump(-hour);
    await house.pass(minute);
    // Small steps and a restart change nothing about where senders are.
    house.clock.jump(-10 * second);
    await house.pass(minute);
    house.clock.jump(10 * second);
    await house.restart();
    await house.pass(18 * minute);
    assert.deepEqual(house.sent, ['firing 1 cpu:host:8', 'firing 1 cpu:host:9']);
    house.clock.jump(hour);
    await house.pass(minute);
    assert.deepEqual(
      house.sent.slice(2),
      [`firing 1 ${key}`],
      'the clock is right again: what it shows is so',
    );
  });

  test('that nothing measures does not begin by what a clock that was set back shows either, where its source is heard since', async (t) => {
    const house = await engine(t);
    const three = [...hot, { device_id: '8', value: 5 }, { device_id: '9', value: 5 }];
    house.book.add({ rule_key: 'odd', legs: [{ query: 'odd' }] });
    house.answers.set('odd', []);
    await house.pass(minute);
    house.answers.set('odd', three);
    house.ahead.set('odd', [{ device_id: '8', value: 5 }]);
    // Its sender was set back with the house.
    house.silent.add('9');
    house.clock.jump(-hour);
    await house.pass(5 * minute);
    assert.deepEqual(house.sent, ['firing 1 odd:host:8', 'firing 1 odd:host:9']);
  });

  test('of a forecast that has come true is worse, not clear', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'full', legs: [{ crossed: 'free <= 0' }] });
    house.answers.set('full', hot);
    await house.pass(minute);
    house.answers.set('full', []).set('free <= 0', hot);
    await house.pass(10 * minute);
    assert.deepEqual(await house.timeline('full:host:7'), ['firing open']);
    house.answers.set('free <= 0', new SvcError('unavailable', 'the store is busy'));
    await house.pass(2 * minute);
    assert.deepEqual(
      await house.timeline('full:host:7'),
      ['firing open'],
      'what the store does not say is not known',
    );
    house.answers.set('free <= 0', []);
    await house.pass(minute);
    assert.equal((await house.incident('full:host:7'))!.status, 'resolved');
  });

  test('is about a device, a pipeline or the whole, told apart by the dimensions of its rule; the worst series stands for the rest', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'disk', dimensions: ['mountpoint'], legs: [{ threshold: 10 }] });
    house.book.add({ rule_key: 'sum', scope_type: 'global' });
    house.book.add({ rule_key: 'pipe', scope_type: 'monitoring_pipeline' });
    house.answers.set('disk', [
      { device_id: '7', mountpoint: '/', disk: 'a', value: 5 },
      { device_id: '7', mountpoint: '/', disk: 'b', value: 2 },
      { device_id: '7', mountpoint: '/var', value: 3 },
      { mountpoint: '/lost', value: 1 },
    ]);
    house.answers.set('sum', [{ value: 4 }]);
    house.answers.set('pipe', [{ pipeline: 'logs', value: 1 }, { value: 2 }]);
    await house.pass(interval);
    assert.deepEqual(house.fired.toSorted(), [
      'disk:host:7:mountpoint=/',
      'disk:host:7:mountpoint=/var',
      'pipe:monitoring_pipeline:logs',
      'pipe:monitoring_pipeline:pipeline',
      'sum:global:global',
    ]);
    assert.equal(
      (await house.incident('disk:host:7:mountpoint=/'))!.value,
      2,
      'below the threshold less is worse',
    );
    const [disk] = [...house.evaluator.rules].filter(({ rule }) => rule.rule_key === 'disk');
    assert.equal(disk!.unscoped, 1, 'a series without device_id is reported, and raises nothing');
  });

  test('that holds for 1,000 devices raises 1,000 incidents, and for 1,000 series of one key one incident of 1,000 instances', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu' });
    house.book.add({ rule_key: 'sum', scope_type: 'global' });
    const many = Array.from({ length: 1_000 }, (_, at) => ({ device_id: String(at), value: at }));
    house.answers.set('cpu', many).set('sum', many);
    await house.pass(interval);
    assert.equal(house.ledger.live.size, 1_001);
    assert.equal(house.ledger.instancesOf('sum:global:global').size, 1_000);
    assert.deepEqual((await house.incident('sum:global:global'))!.value, 999);
    await house.restart();
    assert.equal(house.ledger.instancesOf('sum:global:global').size, 1_000);
  });

  test('that holds for more label sets than a rule may have keeps those it has, and says how many are left out', async (t) => {
    const house = await engine(t);
    const rule = house.book.add({ rule_key: 'sum', scope_type: 'global' });
    const many = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => ({ unit: String(from + at), value: 1 }));
    house.answers.set('sum', many(100, 10_000));
    await house.pass(interval);
    const before = [...house.ledger.instances.get(rule.id)!.keys()];
    house.answers.set('sum', many(0, 10_200));
    await house.pass(interval);
    const [scheduled] = [...house.evaluator.rules];
    assert.deepEqual(
      [before.length, house.ledger.instances.get(rule.id)!.size, scheduled!.leftOut],
      [10_000, 10_000, 200],
    );
    assert.ok(before.every((key) => house.ledger.instances.get(rule.id)!.has(key)));
    await house.pass(interval);
    const own = (await house.incident('alert_rule_overflow:monitoring_pipeline:sum'))!;
    assert.match(
      own.summary,
      /^200 series matched by the rule sum raise no incidents: .* a rule may have 10000 instances; group its expression by fewer labels$/,
    );
    house.answers.set('sum', many(0, 9));
    await house.pass(2 * minute);
    assert.equal(
      (await house.incident('alert_rule_overflow:monitoring_pipeline:sum'))!.status,
      'resolved',
    );
  });
});

describe('the evaluator', () => {
  test('gives each rule a slot of its own, spread over the cycle, and rules that ask the same share the question', async (t) => {
    const slots = new Set(
      Array.from({ length: 300 }, (_, at) => phaseOf(`rule_${at} > ${at}`, interval)),
    );
    assert.equal(slots.size, 30, 'every second of the cycle is in use');
    const house = await engine(t);
    house.book.add({ rule_key: 'warn', legs: [{ query: 'load > 2', measure: 'load' }] });
    house.book.add({ rule_key: 'also', legs: [{ query: 'load > 2', measure: 'load' }] });
    house.book.add({ rule_key: 'page', legs: [{ query: 'load > 9', measure: 'load' }] });
    await house.pass(interval, second);
    assert.deepEqual(
      house.asked.map(({ queries }) => queries),
      [['load > 2', 'load > 9']],
    );
    assert.equal(house.asked[0]!.time % second, 0);
  });

  test('evaluates a rule of its own interval at that interval', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'quick', interval_seconds: 5 });
    house.book.add({ rule_key: 'slow', interval_seconds: 60 });
    await house.pass(2 * minute, second);
    const count = (query: string): number =>
      house.asked.filter(({ queries }) => queries.includes(query)).length;
    assert.deepEqual([count('quick'), count('slow')], [24, 2]);
  });

  test('keeps the state of rules whose store does not answer, raises one incident for the store, and closes it afterwards', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu' });
    house.book.add({ rule_key: 'mem', legs: [{ forMs: 10 * minute }] });
    house.answers.set('cpu', hot);
    await house.pass(minute);
    const down = new SvcError('unavailable', 'connection refused');
    house.answers.set('cpu', down);
    house.answers.set('mem', down);
    await house.pass(5 * minute);
    assert.equal((await house.incident(key))!.status, 'open', 'nothing was resolved');
    const [cpu] = [...house.evaluator.rules];
    assert.equal(cpu!.error, 'connection refused');
    const own = 'alert_back_end_down:monitoring_pipeline:metrics';
    assert.deepEqual(await house.timeline(own), ['firing open']);
    assert.match(
      (await house.incident(own))!.summary,
      /metrics store is not responding.*connection refused/,
    );
    house.answers.set('cpu', hot);
    house.answers.set('mem', []);
    await house.pass(2 * minute);
    assert.deepEqual(await house.timeline(own), ['firing open', 'resolved resolved']);
    assert.deepEqual(await house.timeline(key), ['firing open']);
    assert.equal(cpu!.error, undefined);
  });

  test('takes a store that is still being opened for no store that is down', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu', interval_seconds: 5 });
    house.answers.set(
      'cpu',
      new SvcError('unavailable', 'The metrics store is not running; enable its plugin.'),
    );
    await house.pass(50 * second, second);
    assert.ok([...house.evaluator.rules][0]!.failures >= 9);
    house.answers.set('cpu', []);
    await house.pass(5 * minute, second);
    assert.deepEqual(await house.timeline('alert_back_end_down:monitoring_pipeline:metrics'), []);
  });

  test('tells soon that an external store hangs, holds up neither the other store nor the next slot, and notices at once that it is back', async (t) => {
    const hanging = { since: Infinity, asked: 0 };
    const timers = new Set<{ readonly at: number; readonly ring: () => void }>();
    const clock = new HandClock();
    let logs = 0;
    const ask: Ask = async (queries) => {
      logs += queries.includes('log') ? 1 : 0;
      if (!queries.includes('log') && clock.monotonic() >= hanging.since) {
        hanging.asked += 1;
        await new Promise(() => undefined);
      }
      return queries.map(() => answerOf([]));
    };
    const within: Within = (ms, what, work) => {
      const stop = new AbortController();
      return new Promise((resolve, reject) => {
        const ring = (): void => {
          reject(lateError(what, ms));
          stop.abort();
        };
        const timer = { at: clock.monotonic() + ms, ring };
        timers.add(timer);
        void work(stop.signal)
          .then(resolve, reject)
          .finally(() => timers.delete(timer));
      });
    };
    const house = await engine(t, { ask, within, clock, graceMs: 10 * second });
    house.book.add({ rule_key: 'cpu' });
    house.book.add({ rule_key: 'log', legs: [{ store: 'logs' }] });
    const own = 'alert_back_end_down:monitoring_pipeline:metrics';
    /** Seconds until that is so; ticks are not awaited, as in the plugin. */
    const secondsUntil = async (holds: () => boolean, most = 200): Promise<number> => {
      for (let passed = 0; passed < most; passed++) {
        if (holds()) {
          return passed;
        }
        clock.advance(second);
        [...timers].filter(({ at }) => at <= clock.monotonic()).forEach(({ ring }) => ring());
        void house.evaluator.tick();
        await pause(3);
      }
      return most;
    };
    const isTold = (): boolean => house.ledger.live.has(own);
    const store = house.backEnds.get('metrics')!;
    await secondsUntil(isTold, 65);
    assert.equal(isTold(), false);

    hanging.since = clock.monotonic();
    const down = await secondsUntil(() => store.isDown);
    assert.ok(down <= interval / second + 13, `down after ${down} s`);
    // The next look at it is told, as soon as it is stored.
    await secondsUntil(isTold);
    assert.ok(isTold());
    const [asked, before] = [hanging.asked, logs];
    await secondsUntil(() => false, 60);
    assert.ok(hanging.asked - asked <= 30, 'nothing but a probe every two seconds');
    assert.equal(logs - before, 2, 'the other store is asked in every slot');
    assert.equal(house.missed, 0);
    assert.match((await house.incident(own))!.summary, /The metrics store is not responding/);

    hanging.since = Infinity;
    const over = await secondsUntil(() => !store.isDown);
    assert.ok(over <= 5, `noticed after ${over} s`);
    await secondsUntil(() => !isTold());
    assert.ok(!isTold());
    await secondsUntil(() => false, 45);
    assert.equal(
      [...house.evaluator.rules].find(({ rule }) => rule.rule_key === 'cpu')!.error,
      undefined,
    );
  });

  test('is not told that a store is down by one query that does not fit', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'bad' });
    house.answers.set('bad', new SvcError('invalid_argument', '1:2: many-to-many matching'));
    await house.pass(10 * minute);
    assert.deepEqual([...house.ledger.live.keys()], []);
    assert.equal([...house.evaluator.rules][0]!.failures > 10, true);
  });

  test('lets nobody wait for a query that hangs', async (t) => {
    let hangs = 0;
    const ask: Ask = async (queries, _time, { signal }) => {
      if (queries.includes('hangs')) {
        hangs += 1;
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      }
      return queries.map(() => answerOf(hot));
    };
    const timers: (() => void)[] = [];
    const within: Within = (ms, what, work) => {
      const stop = new AbortController();
      return new Promise((resolve, reject) => {
        timers.push(() => {
          reject(lateError(what, ms));
          stop.abort();
        });
        void work(stop.signal).then(resolve, reject);
      });
    };
    const house = await engine(t, { ask, within });
    house.book.add({ rule_key: 'hangs', legs: [{ query: 'hangs', measure: 'same slot' }] });
    house.book.add({ rule_key: 'cpu', legs: [{ query: 'cpu', measure: 'same slot' }] });
    house.clock.advance(interval);
    const first = house.evaluator.tick();
    await until(() => hangs === 1);
    timers.splice(0).forEach((late) => late());
    await until(() => house.ledger.live.has(key));
    assert.equal(house.ledger.live.size, 1, 'asked apart, the other one has its answer');
    house.clock.advance(interval);
    const next = house.evaluator.tick();
    await until(() => house.missed === 1);
    await next;
    timers.splice(0).forEach((late) => late());
    await first;
    house.clock.advance(interval);
    const last = house.evaluator.tick();
    await until(() => hangs === 3);
    timers.splice(0).forEach((late) => late());
    await last;
    assert.equal(
      [...house.evaluator.rules].find(({ rule }) => rule.rule_key === 'hangs')!.failures,
      2,
    );
    assert.deepEqual(
      house.fired.filter((one) => one === key),
      [key],
    );
  });

  test('takes a value that is no number for what it is: there, and nothing to show', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'ratio' });
    house.book.add({ rule_key: 'cpu' });
    house.answers.set('ratio', [
      { device_id: '7', value: NaN },
      { device_id: '8', value: Infinity },
    ]);
    house.answers.set('cpu', hot);
    await house.pass(minute);
    assert.deepEqual(
      [
        (await house.incident('ratio:host:7'))!.value,
        (await house.incident('ratio:host:8'))!.value,
      ],
      [null, null],
    );
    assert.equal((await house.incident(key))!.value, 95, 'others are evaluated as ever');
    house.answers.set('ratio', []);
    await house.pass(minute);
    assert.equal((await house.incident('ratio:host:7'))!.status, 'resolved');
  });

  test('counts slots that it came too late for, and does not make up for them', async (t) => {
    const house = await engine(t);
    house.book.add({ rule_key: 'cpu' });
    await house.pass(interval);
    house.clock.advance(10 * interval);
    await house.evaluator.tick();
    assert.equal(house.asked.length, 2);
    assert.equal([...house.evaluator.rules][0]!.missed, 9);
  });

  for (const [jump, way] of [
    [6 * second, 'six seconds ahead'],
    [-6 * second, 'six seconds back'],
    [hour, 'an hour ahead'],
    [-hour, 'an hour back'],
    [24 * hour, 'a day ahead'],
    [-24 * hour, 'a day back'],
  ] as const) {
    test(`goes on when the clock jumps ${way}: nothing is replayed, nothing fires early, cooldowns last as long`, async (t) => {
      const house = await engine(t);
      house.book.add({ rule_key: 'cpu', legs: [{ forMs: 2 * minute }] });
      house.answers.set('cpu', hot);
      // The clocks of senders do not jump.
      house.ahead.set('cpu', hot);
      await house.pass(minute);
      house.clock.jump(jump);
      await house.evaluator.tick();
      // Where it was set back, what lies ahead is asked for besides.
      const looks = (): number =>
        house.asked.filter(({ queries }) => queries.includes('cpu')).length / (jump < 0 ? 2 : 1);
      const before = looks();
      await house.pass(minute);
      assert.ok(looks() - before <= 2, 'no slot is made up for');
      assert.equal(await house.incident(key), undefined, 'a minute and a half are not two');
      await house.pass(2 * minute);
      assert.deepEqual(await house.timeline(key), ['firing open']);
      house.answers.set('cpu', []);
      await house.pass(90 * second);
      assert.equal((await house.incident(key))!.status, 'resolved');
      house.clock.jump(jump);
      house.answers.set('cpu', hot);
      await house.pass(4 * minute);
      assert.deepEqual(
        house.sent,
        [`firing 1 ${key}`, `resolved 1 ${key}`],
        'the cooldown of ten minutes is not over',
      );
      await house.pass(8 * minute);
      assert.deepEqual(house.sent.at(-1), `firing 2 ${key}`);
    });
  }

  test('closes what a rule has raised when that is disabled, deleted or looks elsewhere, and keeps it over any other change', async (t) => {
    const house = await engine(t);
    const rules = ['disabled', 'deleted', 'moved', 'kept'].map((rule) =>
      house.book.add({ rule_key: rule }),
    );
    rules.forEach(({ rule_key: rule }) => house.answers.set(rule, hot));
    await house.pass(interval);
    house.book.edit(rules[0]!.id, { enabled: false });
    house.book.remove(rules[1]!.id);
    house.book.edit(rules[2]!.id, { dimensions: ['disk'] });
    house.book.edit(rules[3]!.id, {
      name: 'Another name',
      severity: 'critical',
      legs: [{ query: 'kept', threshold: 1 }],
    });
    await house.pass(second, second);
    const reasons = await house.tables.read
      .selectFrom('alert_events')
      .select('data')
      .where('type', '=', 'resolved')
      .orderBy('id')
      .execute();
    assert.deepEqual(
      reasons.map(({ data }) => JSON.parse(data).reason),
      ['rule_disabled', 'rule_deleted', 'rule_changed'],
    );
    const kept = (await house.incident('kept:host:7'))!;
    assert.deepEqual(
      [kept.status, kept.rule_name, kept.severity],
      ['open', 'Another name', 'critical'],
    );
    assert.deepEqual(
      house.notices
        .filter(({ kind }) => kind === 'resolved')
        .map(({ incident }) => incident.ended_because),
      [
        'its rule was disabled',
        'its rule was deleted',
        'its rule was changed to another key, scope or dimensions',
      ],
      'nobody is told that it has cleared',
    );
  });

  test('closes what a deleted rule has raised also when that could not be stored at once', async (t) => {
    const house = await engine(t);
    const rule = house.book.add({ rule_key: 'cpu' });
    house.answers.set('cpu', hot);
    await house.pass(interval);
    // As the generation before this one would, while it ends.
    await house.tables.write((tx) =>
      tx.updateTable('alert_incidents').set({ version: 99 }).execute(),
    );
    house.book.remove(rule.id);
    await house.pass(second, second);
    assert.equal((await house.incident(key))!.status, 'open');
    await house.pass(interval);
    assert.deepEqual(await house.timeline(key), ['firing open', 'resolved resolved']);
  });

  test('closes at its start what has nobody to close it any more', async (t) => {
    const house = await engine(t);
    const rule = house.book.add({ rule_key: 'cpu' });
    house.answers.set('cpu', hot);
    await house.pass(interval);
    await house.halt();
    house.book.remove(rule.id);
    await house.start();
    assert.equal((await house.incident(key))!.status, 'resolved');
  });
});

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 2_000, 'it never came to be');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
