import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { sql } from 'kysely';

import { openIn } from '../../storage/folder.ts';
import {
  Engine,
  hour,
  interval,
  migrations,
  minute,
  second,
  type Series,
  someone,
} from './engine-house.ts';

async function engine(t: TestContext): Promise<Engine> {
  const made = await new Engine().open();
  t.after(() => made.close());
  return made;
}

const key = 'sum:global:global';
const of = (...units: readonly (readonly [unit: string, value: number])[]): readonly Series[] =>
  units.map(([unit, value]) => ({ unit, value }));

/** `unit state value worst silenced_by`, in the order of the list. */
async function listed(
  house: Engine,
  state?: 'pending' | 'firing' | 'stale' | 'resolved',
): Promise<readonly string[]> {
  const { items, total } = await house.instances.list(
    (await house.incident(key))!,
    state,
    { limit: 50 },
    undefined,
  );
  assert.equal(items.length, total);
  return items.map(({ labels, state: is, value, worst_value: worst, silenced_by: by }) =>
    [labels['unit'], is, value, worst, by ?? ''].join(' ').trim(),
  );
}

const draft = (name: string, value: string) => ({
  matchers: [{ name, op: '=' as const, value }],
  duration: '1h',
  reason: 'known',
});

test('two series that breach in turns never fire together: for is counted for each of them', async (t) => {
  const house = await engine(t);
  house.book.add({
    rule_key: 'sum',
    scope_type: 'global',
    interval_seconds: 5,
    legs: [{ forMs: 20 * second }],
  });
  for (let turn = 0; turn < 10; turn++) {
    house.answers.set('sum', of([turn % 2 === 0 ? 'a' : 'b', 9]));
    await house.pass(10 * second, 5 * second);
  }
  assert.equal(await house.incident(key), undefined);
  house.answers.set('sum', of(['a', 9]));
  await house.pass(25 * second, 5 * second);
  assert.deepEqual((await house.incident(key))!.labels, { unit: 'a' });
});

test('an incident is as long as one of its instances fires; who joins and who leaves is in its timeline, and channels are sent who joins', async (t) => {
  const house = await engine(t);
  house.cooldownMs = 0;
  house.book.add({
    rule_key: 'sum',
    scope_type: 'global',
    legs: [{ threshold: 5 }],
    annotations: { summary: 'of the first' },
  });
  house.answers.set('sum', of(['a', 9], ['b', 7]));
  await house.pass(interval);
  assert.deepEqual(await listed(house), ['a firing 9 9', 'b firing 7 7']);
  assert.equal((await house.incident(key))!.labels['unit'], 'a', 'the worst stands for them');
  house.answers.set('sum', of(['b', 6], ['c', 8]));
  await house.pass(interval);
  await house.pass(interval);
  const { labels, value, event_count: count } = (await house.incident(key))!;
  assert.deepEqual(
    [labels, value, count],
    [{ unit: 'c' }, 8, 1],
    'it is shown by the worst of those that burn now',
  );
  assert.deepEqual(await listed(house), ['b firing 6 7', 'c firing 8 8', 'a resolved 9 9']);
  assert.deepEqual(await house.timeline(key), [
    'firing open',
    'instances_changed open',
    'instances_changed open',
  ]);
  const { items } = await house.store.events(
    (await house.incident(key))!,
    { order: 'asc' },
    { limit: 9 },
    undefined,
  );
  assert.deepEqual(
    items.slice(1).map(({ message, data }) => [message, JSON.parse(data)]),
    [
      [
        '1 joined, 3 firing',
        { joined: [{ unit: 'c' }], joined_count: 1, left: [], left_count: 0, firing: 3 },
      ],
      [
        '1 left, 2 firing',
        { joined: [], joined_count: 0, left: [{ unit: 'a' }], left_count: 1, firing: 2 },
      ],
    ],
  );
  assert.deepEqual(house.sent, [`firing 1 ${key}`, `firing 1 ${key}`]);
  assert.equal(new Set(house.notices.map(({ id }) => id)).size, 2);
  assert.deepEqual(
    house.notices[0]!.incident.instances!.map((one) => [one.labels['unit'], one.value]),
    [
      ['a', 9],
      ['b', 7],
    ],
  );
  await house.restart();
  assert.deepEqual(
    await listed(house),
    ['b stale 6 7', 'c stale 8 8', 'a resolved 9 9'],
    'what was measured last is stored at the end',
  );
  assert.deepEqual(await listed(house, 'stale'), ['b stale 6 7', 'c stale 8 8']);
  await house.pass(interval);
  assert.deepEqual(await listed(house, 'firing'), ['b firing 6 7', 'c firing 8 8']);
  assert.equal(house.notices.length, 2, 'a restart is no news');
  house.answers.set('sum', []);
  await house.pass(minute);
  assert.equal((await house.incident(key))!.status, 'resolved');
  assert.deepEqual(house.sent.slice(2), [`resolved 1 ${key}`]);
});

test('a silence by label mutes the instances that it matches, and those only', async (t) => {
  const house = await engine(t);
  house.book.add({ rule_key: 'sum', scope_type: 'global', severity: 'critical' });
  await house.silences.add(draft('unit', 'a'), someone);
  house.answers.set('sum', of(['a', 9]));
  await house.pass(minute);
  assert.deepEqual(house.sent, [], 'all that fires is muted');
  assert.deepEqual(await listed(house), ['a firing 9 9 silence 1']);
  house.answers.set('sum', of(['a', 9], ['b', 1]));
  await house.pass(interval);
  assert.deepEqual(house.sent, [`firing 1 ${key}`]);
  assert.deepEqual(
    (await house.incident(key))!.labels,
    { unit: 'b' },
    'what is not muted stands for it',
  );
  assert.deepEqual(await listed(house), ['a firing 9 9 silence 1', 'b firing 1 1']);
  house.answers.set('sum', of(['a', 9], ['b', 1], ['c', 1]));
  await house.pass(interval);
  assert.equal(house.notices.length, 2, 'who joins a critical incident is sent at once');
  await house.pass(61 * minute);
  assert.equal(house.notices.length, 3, 'the silence is over, and what it muted still burns');
});

test('the silence of an incident mutes all of its instances, also those that join', async (t) => {
  const house = await engine(t);
  house.book.add({ rule_key: 'sum', scope_type: 'global', severity: 'critical' });
  house.answers.set('sum', of(['a', 9]));
  await house.pass(interval);
  await house.operations.silence((await house.incident(key))!.id, { hours: 1 }, someone);
  house.answers.set('sum', of(['a', 9], ['b', 9]));
  await house.pass(10 * minute);
  assert.deepEqual(house.sent, [`firing 1 ${key}`]);
  assert.deepEqual(await listed(house), ['a firing 9 9 incident', 'b firing 9 9 incident']);
  await house.pass(hour);
  assert.deepEqual(
    house.sent,
    [`firing 1 ${key}`, `reminder 1 ${key}`],
    'one message about both of them',
  );
});

test('channels are sent who joins an acknowledged incident, once, and nothing else of it', async (t) => {
  const house = await engine(t);
  house.book.add({ rule_key: 'sum', scope_type: 'global', severity: 'critical' });
  house.answers.set('sum', of(['a', 9]));
  await house.pass(interval);
  await house.operations.acknowledge((await house.incident(key))!.id, undefined, someone);
  await house.pass(5 * hour, minute);
  assert.deepEqual(house.sent, [`firing 1 ${key}`, `acknowledged 1 ${key}`]);
  house.answers.set('sum', of(['a', 9], ['b', 9]));
  await house.pass(5 * hour, minute);
  assert.deepEqual(house.sent.slice(2), [`firing 1 ${key}`]);
  assert.deepEqual(
    house.notices.at(-1)!.incident.instances?.map(({ labels }) => labels['unit']),
    ['a', 'b'],
  );
  assert.equal((await house.incident(key))!.status, 'acknowledged');
});

test('channels are sent a severity that is raised while it fires, cooldown or not', async (t) => {
  const house = await engine(t);
  const rule = house.book.add({
    rule_key: 'sum',
    scope_type: 'global',
    severity: 'info',
    labels: { team: 'db' },
  });
  house.answers.set('sum', of(['a', 9]));
  await house.pass(minute);
  house.book.edit(rule.id, { severity: 'warning', labels: { team: 'web' } });
  await house.pass(minute);
  assert.deepEqual(
    house.notices.map(({ kind, incident }) => [kind, incident.severity, incident.labels['team']]),
    [
      ['firing', 'info', 'db'],
      ['firing', 'warning', 'web'],
    ],
  );
  house.book.edit(rule.id, { severity: 'info' });
  await house.pass(minute);
  assert.equal(house.notices.length, 2, 'to be less bad is no news');
});

test('a rule that keeps firing for a time ends then, and one that keeps nothing at the first evaluation that is clear', async (t) => {
  const house = await engine(t);
  house.book.add({ rule_key: 'sum', scope_type: 'global', keep_firing_for: '0s' });
  house.book.add({ rule_key: 'keep', scope_type: 'global', keep_firing_for: '2m' });
  house.answers.set('sum', of(['a', 9])).set('keep', of(['a', 9]));
  await house.pass(minute);
  house.answers.set('sum', []).set('keep', []);
  await house.pass(interval);
  assert.equal((await house.incident(key))!.status, 'resolved');
  await house.pass(90 * second);
  assert.equal((await house.incident('keep:global:global'))!.status, 'open');
  await house.pass(interval);
  assert.equal((await house.incident('keep:global:global'))!.status, 'resolved');
});

test('an incident of the version before is one instance, and goes on', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-alert-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const old = await openIn(dir);
  await old.migrate('alert', migrations(2));
  await old.tables<Record<string, never>>('alert').write(async (tx) => {
    const now = Date.UTC(2026, 10, 20);
    await sql`insert into alert_rules values (1, 'sum', 'Sum', 'metric_raw', 'svc_builtin', 'global', 'all', 'warning', 1, '[{}]', '{"team":"db"}',
      '{}', '', '[]', 0, 0, '[]', 0, 'ann', ${now}, ${now}, null)`.execute(tx);
    await sql`insert into alert_incidents values (5, ${key}, 1, 'sum', 'Sum', 'warning', 'acknowledged', 'global', 'global', null, 'a burns',
      '{"unit":"a","disk":"x","team":"db"}', '{}', '', '[]', 7, null, 1, 1, ${now}, '[]', '{}', ${now}, ${now}, ${now}, 'ann', null, null, ${now}, ${now}, 1)`.execute(
      tx,
    );
    await sql`insert into alert_instances values (${key}, 1, 'firing', '[1]', ${now}, null)`.execute(
      tx,
    );
  });
  await old.close();
  const house = new Engine({ dir });
  house.book.add({ rule_key: 'sum', scope_type: 'global', labels: { team: 'db' } });
  await house.open();
  t.after(() => house.close());
  house.answers.set('sum', [{ disk: 'x', unit: 'a', value: 8 }]);
  await house.pass(2 * minute);
  assert.deepEqual(await house.timeline(key), [], 'nothing has happened to it');
  assert.deepEqual(await listed(house), ['a firing 8 8']);
  assert.equal((await house.incident(key))!.status, 'acknowledged');
});
