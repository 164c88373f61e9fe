import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { Engine, interval, minute, someone } from './engine-house.ts';

async function engine(
  t: TestContext,
  options: ConstructorParameters<typeof Engine>[0] = {},
): Promise<Engine> {
  const made = await new Engine(options).open();
  t.after(() => made.close());
  return made;
}

test('a timeline forgets its earlier firings after their retention, and an incident is forgotten with all of it', async (t) => {
  const house = await engine(t);
  house.book.add({ rule_key: 'flaps' });
  house.book.add({ rule_key: 'lasts' });
  house.answers.set('lasts', [{ device_id: '8', value: 1 }]);
  const flap = async (): Promise<void> => {
    house.answers.set('flaps', [{ device_id: '7', value: 1 }]);
    await house.pass(minute);
    house.answers.set('flaps', []);
    await house.pass(minute);
  };
  await flap();
  const first = house.clock.now();
  await house.pass(10 * minute);
  await flap();
  assert.deepEqual(
    [await house.store.removeEvents(first + 1), await house.store.removeEvents(first + 1)],
    [2, 0],
  );
  assert.deepEqual(await house.timeline('flaps:host:7'), [
    'reopened open',
    'firing open',
    'resolved resolved',
  ]);
  assert.deepEqual(
    await house.timeline('lasts:host:8'),
    ['firing open'],
    'the firing that lasts is told for as long as it does',
  );
  assert.equal(await house.store.removeResolved(house.clock.now() + 1), 1);
  assert.deepEqual(
    [await house.incident('flaps:host:7'), (await house.incident('lasts:host:8'))!.status],
    [undefined, 'open'],
  );
});

test('an incident lives from pending over firing, acknowledged and resolved to fired again, one row for each step', async (t) => {
  const house = await engine(t);
  house.book.add({
    rule_key: 'cpu',
    legs: [{ forMs: minute, threshold: 90 }],
    labels: { team: 'infra' },
  });
  const key = 'cpu:host:7';
  house.answers.set('cpu', [{ device_id: '7', value: 95 }]);
  await house.pass(interval);
  assert.equal(await house.incident(key), undefined, 'it is pending');
  await house.pass(minute);
  const fired = (await house.incident(key))!;
  assert.equal(fired.status, 'open');
  assert.deepEqual(
    [fired.value, fired.threshold, fired.device_id, fired.labels],
    [95, 90, '7', { device_id: '7', team: 'infra' }],
  );
  assert.deepEqual(house.sent, [`firing 1 ${key}`]);
  await house.operations.acknowledge(fired.id, 'on it', someone);
  await house.pass(5 * minute);
  assert.deepEqual(
    await house.timeline(key),
    ['firing open', 'acknowledged acknowledged'],
    'no row for each tick',
  );
  house.answers.set('cpu', []);
  await house.pass(interval);
  assert.equal(
    (await house.incident(key))!.status,
    'acknowledged',
    'one evaluation that finds it clear is not a cycle',
  );
  await house.pass(interval);
  assert.equal((await house.incident(key))!.status, 'resolved');
  house.answers.set('cpu', [{ device_id: '7', value: 99 }]);
  await house.pass(20 * minute);
  assert.deepEqual(await house.timeline(key), [
    'firing open',
    'acknowledged acknowledged',
    'resolved resolved',
    'reopened open',
    'firing open',
    'repeat_suppressed open',
  ]);
  const again = (await house.incident(key))!;
  assert.deepEqual(
    [again.event_count, again.acknowledged_by, again.fired_at === fired.fired_at],
    [2, null, true],
  );
  assert.deepEqual(house.sent, [
    `firing 1 ${key}`,
    `acknowledged 1 ${key}`,
    `resolved 1 ${key}`,
    `firing 2 ${key}`,
  ]);
});

test('labels of a megabyte, of emoji, line ends and half characters fire like any other, and keep no other rule from it', async (t) => {
  const house = await engine(t);
  const huge = '😀\n'.repeat(250_000);
  for (const key of ['huge', 'many', 'small']) {
    house.book.add({ rule_key: key, dimensions: ['name'] });
  }
  house.answers.set('huge', [{ device_id: '7', name: huge, half: 'x\ud83d', value: 1 }]);
  house.answers.set('small', [{ device_id: '7', name: 'small', value: 1 }]);
  house.answers.set('many', [
    {
      device_id: '7',
      name: 'many',
      ...Object.fromEntries(
        Array.from({ length: 300 }, (_, at) => [`label_${at}`, '€'.repeat(2_000)]),
      ),
      value: 1,
    },
  ]);
  await house.pass(minute);
  // A write that took too long is undone and made again, with what it handed over.
  assert.deepEqual(
    [
      ...new Set(house.notices.map(({ kind, incident }) => `${kind} ${incident.rule_key}`)),
    ].toSorted(),
    ['firing huge', 'firing many', 'firing small'],
  );
  const told = JSON.stringify(house.notices);
  // A job takes a megabyte.
  assert.ok(
    house.notices.every(
      (notice) => Buffer.byteLength(JSON.stringify({ notices: [notice] })) < 1024 * 1024,
    ),
  );
  assert.doesNotMatch(told, /\\ud83d/, 'half a character is none');
  assert.equal(
    house.notices.find(({ incident }) => incident.rule_key === 'small')!.incident.labels['name'],
    'small',
  );
});

test('what one rule found and cannot be stored keeps no other from being stored with it, and is found again', async (t) => {
  const house = await engine(t);
  for (const key of ['one', 'poison', 'other']) {
    house.book.add({ rule_key: key });
    house.answers.set(key, [{ device_id: '7', value: 1 }]);
  }
  house.poison = 'poison';
  await house.pass(minute);
  assert.deepEqual(house.sent.toSorted(), ['firing 1 one:host:7', 'firing 1 other:host:7']);
  house.poison = undefined;
  await house.pass(minute);
  assert.deepEqual(house.sent.toSorted(), [
    'firing 1 one:host:7',
    'firing 1 other:host:7',
    'firing 1 poison:host:7',
  ]);
});
