import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { Engine, hour, interval, minute, second, type Series, someone } from './engine-house.ts';

const hot: readonly Series[] = [{ device_id: '7', value: 95 }];

async function engine(t: TestContext): Promise<Engine> {
  const made = await new Engine().open();
  t.after(() => made.close());
  return made;
}

/** Why channels were sent that incidents are over, by the rule of each; undefined: they have cleared. */
const byName = (
  [one]: readonly [string, ...unknown[]],
  [other]: readonly [string, ...unknown[]],
): number => (one < other ? -1 : 1);

const ends = (
  house: Engine,
): readonly (readonly [rule: string, name: string, because: string | undefined])[] =>
  house.notices
    .filter(({ kind }) => kind === 'resolved')
    .map(
      ({ incident }) => [incident.rule_key, incident.rule_name, incident.ended_because] as const,
    );

test('an incident whose rule is given another condition has cleared only if that was met, too', async (t) => {
  const house = await engine(t);
  const because =
    'its rule got another condition in the meantime, which is not met; whether the previous one still is, is unknown';
  const names = ['lost', 'found', 'again', 'renamed'];
  const rules = names.map((rule) => house.book.add({ rule_key: rule, severity: 'critical' }));
  names.forEach((name) => house.answers.set(name, hot));
  await house.pass(minute);
  assert.deepEqual(
    house.sent.toSorted(),
    names.map((name) => `firing 1 ${name}:host:7`).toSorted(),
  );

  house.answers.set('found/next', hot);
  ['lost', 'found', 'again'].forEach((name, at) =>
    house.book.edit(rules[at]!.id, { legs: [{ query: `${name}/next` }] }),
  );
  house.book.edit(rules[3]!.id, { name: 'Another name' });
  house.answers.set('renamed', []);
  await house.restart();
  // A source that is back has told what it has after five minutes.
  await house.pass(8 * minute);
  assert.deepEqual(ends(house).toSorted(byName), [
    ['again', 'Rule again', because],
    ['lost', 'Rule lost', because],
    ['renamed', 'Another name', undefined],
  ]);
  assert.equal(
    (await house.incident('found:host:7'))!.status,
    'open',
    'it goes on by the new condition',
  );
  const [reason] = await house.tables.read
    .selectFrom('alert_events')
    .select(['data', 'message'])
    .where('type', '=', 'resolved')
    .orderBy('id')
    .execute();
  assert.deepEqual([JSON.parse(reason!.data).reason, reason!.message], ['rule_edited', because]);

  house.notices.splice(0);
  house.answers.set('again/next', hot);
  await house.pass(minute);
  house.answers.set('again/next', []);
  house.answers.set('found/next', []);
  await house.pass(2 * minute);
  assert.deepEqual(ends(house).toSorted(byName), [
    ['again', 'Rule again', undefined],
    ['found', 'Rule found', undefined],
  ]);
});

test('a rule that is given another channel while it burns is told to it; one that is given fewer is not told again', async (t) => {
  const house = await engine(t);
  const { id } = house.book.add({ rule_key: 'cpu', notify_channel_ids: [1, 2] });
  house.answers.set('cpu', hot);
  await house.pass(minute);
  const pins = (): readonly (readonly number[])[] => house.notices.map((notice) => notice.pins);
  assert.deepEqual(pins(), [[1, 2]]);
  house.book.edit(id, { notify_channel_ids: [2] });
  await house.pass(minute);
  assert.deepEqual(pins(), [[1, 2]]);
  house.book.edit(id, { notify_channel_ids: [3] });
  await house.pass(minute);
  assert.deepEqual(house.sent, ['firing 1 cpu:host:7', 'firing 1 cpu:host:7']);
  assert.deepEqual(pins(), [[1, 2], [3]]);
  house.book.edit(id, { notify_channel_ids: [] });
  await house.pass(minute);
  assert.deepEqual(pins(), [[1, 2], [3], []]);
});

test('of two silences that overlap the one that is left mutes on; one that is edited mutes what it matches from then on', async (t) => {
  const house = await engine(t);
  house.book.add({ rule_key: 'cpu' });
  house.book.add({ rule_key: 'mem' });
  const of = (rule: string, duration: string) => ({
    matchers: [{ name: 'rule', op: '=' as const, value: rule }],
    duration,
    reason: 'work',
  });
  const first = await house.silences.add(of('cpu', '1h'), someone);
  const next = await house.silences.add(of('cpu', '2h'), someone);
  house.answers.set('cpu', hot);
  house.answers.set('mem', hot);
  await house.pass(10 * minute);
  await house.silences.expire(first.id, someone);
  await house.pass(10 * minute);
  assert.deepEqual(house.sent, ['firing 1 mem:host:7'], 'muted by the second one');
  await house.silences.replace(next.id, of('mem', '1h'), someone);
  await house.pass(second, second);
  assert.deepEqual(
    house.sent,
    ['firing 1 mem:host:7', 'firing 1 cpu:host:7'],
    'the first that is muted no more',
  );
  await house.pass(2 * hour);
  assert.deepEqual(
    house.sent.filter((one) => one.startsWith('firing')),
    ['firing 1 mem:host:7', 'firing 1 cpu:host:7'],
    'and neither twice',
  );
});

test('rules of the same name, labels and condition are told apart by their keys: what ends or mutes one does nothing to the other', async (t) => {
  const house = await engine(t);
  const alike = {
    name: 'Same',
    labels: { team: 'db' },
    severity: 'critical' as const,
    legs: [{ query: 'same' }],
  };
  const [one, other] = ['one', 'other'].map((rule) => house.book.add({ rule_key: rule, ...alike }));
  house.answers.set('same', hot);
  await house.silences.add(
    { matchers: [{ name: 'rule', op: '=', value: 'one' }], duration: '1h', reason: 'work' },
    someone,
  );
  await house.pass(minute);
  assert.deepEqual(house.sent, ['firing 1 other:host:7']);
  await house.operations.acknowledge(
    (await house.incident('other:host:7'))!.id,
    undefined,
    someone,
  );
  house.book.remove(other!.id);
  await house.pass(interval);
  assert.deepEqual(
    [(await house.incident('one:host:7'))!.status, (await house.incident('other:host:7'))!.status],
    ['open', 'resolved'],
  );
  house.book.edit(one!.id, { labels: { team: 'web' } });
  await house.pass(hour);
  assert.deepEqual(
    house.sent.filter((said) => said.includes(' one:')),
    ['firing 1 one:host:7'],
    'its silence is over',
  );
  assert.deepEqual((await house.incident('other:host:7'))!.labels['team'], 'db');
});
