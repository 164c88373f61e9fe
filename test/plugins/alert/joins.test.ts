import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import { recordOutcomes } from '../../../plugins/alert/incident/notices.ts';
import { Engine, interval, minute, type Series } from './engine-house.ts';

const key = 'down:global:global';

/** A warning of a rule without groups, which each of these hosts breaches: as an imported InstanceDown does. */
async function engine(t: TestContext): Promise<{
  readonly house: Engine;
  burn(...hosts: readonly string[]): Promise<void>;
}> {
  const house = await new Engine().open();
  t.after(() => house.close());
  house.book.add({ rule_key: 'down', scope_type: 'global' });
  return {
    house,
    async burn(...hosts) {
      house.answers.set(
        'down',
        hosts.map((host): Series => ({ host, value: 1 })),
      );
      await house.pass(minute);
    },
  };
}

const namesIn = (list: readonly { readonly labels: Readonly<Record<string, string>> }[] = []) =>
  list.map(({ labels }) => labels['host']!).toSorted((a, b) => a.localeCompare(b));

/** `kind firing | left`, of each notice. */
const said = ({ notices }: Engine): readonly string[] =>
  notices.map(
    ({ kind, incident: { instances, left, labels } }) =>
      `${kind} ${(instances ? namesIn(instances) : [labels['host']]).join(' ')} | ${namesIn(left).join(' ')}`,
  );

test('who joins an incident is told within the cooldown, with who left meanwhile', async (t) => {
  const { house, burn } = await engine(t);
  await burn('a');
  await burn('a', 'b');
  await burn('b');
  await burn('b', 'c');
  await burn();
  assert.deepEqual(said(house), [
    'firing a | ',
    'firing a b | ',
    'firing b c | a',
    'resolved b | b c',
  ]);
});

test('who fires for less time than a message takes is named by the message of the end', async (t) => {
  const { house, burn } = await engine(t);
  await burn('a', 'b');
  await burn('a');
  await burn();
  assert.deepEqual(said(house), ['firing a b | ', 'resolved a | a b']);
});

test('who comes back before it was named as gone is no news; after that it is', async (t) => {
  const { house, burn } = await engine(t);
  await burn('a', 'b');
  await burn('a');
  await burn('a', 'b');
  assert.deepEqual(said(house), ['firing a b | '], 'channels believe that b fired all the time');
  await burn('a');
  await burn('a', 'c');
  await burn('a', 'b', 'c');
  assert.deepEqual(said(house).slice(1), ['firing a c | b', 'firing a b c | ']);
});

test('a message that names who joins says whose condition is no longer met since the same evaluation', async (t) => {
  const { house } = await engine(t);
  const answer = (...hosts: readonly string[]): Promise<void> => {
    house.answers.set(
      'down',
      hosts.map((host): Series => ({ host, value: 1 })),
    );
    return house.pass(interval);
  };
  await answer('a', 'b');
  await answer('b', 'c');
  const { clearing, clearing_instances: count } = house.notices.at(-1)!.incident;
  assert.deepEqual([said(house).at(-1), namesIn(clearing), count], ['firing b c | ', ['a'], 1]);
  await answer('b', 'c');
  await answer('b', 'c', 'd');
  assert.equal(said(house).at(-1), 'firing b c d | a');
  assert.equal(house.notices.at(-1)!.incident.clearing, undefined);
});

test('all who left are counted, of which some are named', async (t) => {
  const { house, burn } = await engine(t);
  const hosts = Array.from({ length: 1_500 }, (_, i) => `h${i}`);
  await burn(...hosts);
  await burn('a');
  await burn('a', 'h0');
  assert.equal(house.notices.length, 2, 'h0 is known to have fired all the time');
  await burn();
  const { left_instances: count, left } = house.notices.at(-1)!.incident;
  assert.deepEqual([count, left?.length], [1_501, 20]);
});

test('what is known of who left outlives a restart', async (t) => {
  const { house, burn } = await engine(t);
  await burn('a', 'b');
  await burn('a');
  await house.restart();
  await burn('a', 'b');
  assert.equal(said(house).length, 1);
  await burn('a');
  await house.restart();
  await burn('a', 'c');
  assert.deepEqual(said(house).slice(1), ['firing a c | b']);
});

test('an incident that fires again before its resolution was sent notifies of new instances only', async (t) => {
  const { house, burn } = await engine(t);
  await burn('a');
  await burn();
  await burn('a');
  assert.deepEqual(said(house), ['firing a | ', 'resolved a | '], 'a is known to fire');
  await burn();
  await burn('b');
  assert.deepEqual(said(house).slice(2), ['firing b | a'], 'a is known to have fired');
});

test('an incident that flaps is told so once, and again when it settles', async (t) => {
  const { house, burn } = await engine(t);
  const ended = async (): Promise<void> => {
    const last = house.notices.at(-1)!;
    if (last.kind === 'resolved') {
      await recordOutcomes(
        [
          {
            delivery_id: last.id,
            notice_id: last.id,
            incident_id: last.incident.id,
            kind: 'resolved',
            channel_id: 1,
            channel_name: 'ops',
            result: 'sent',
            attempts: 1,
            at: new Date(house.clock.now()).toISOString(),
          },
        ],
        { store: house.store, ledger: house.ledger, now: house.clock.now() },
      );
    }
  };
  for (let round = 0; round < 8; round++) {
    await burn('a');
    await burn();
    await ended();
  }
  const firings = house.notices.filter(({ kind }) => kind === 'firing');
  assert.deepEqual(
    firings.map(({ incident: { flapping } }) => flapping?.fires),
    [undefined, undefined, undefined, undefined, 5],
  );
  assert.deepEqual(firings.at(-1)!.incident.flapping, { fires: 5, window_seconds: 1_800 });
  assert.equal(house.notices.at(-1)!.kind, 'resolved', 'the end of what was told is told');
  const timeline = await house.timeline(key);
  assert.equal(timeline.filter((row) => row.startsWith('repeat_suppressed')).length, 3);
  house.answers.set('down', [{ host: 'a', value: 1 }]);
  await house.pass(house.cooldownMs + interval);
  assert.equal(house.notices.at(-1)!.kind, 'firing', 'it lasts');
  assert.equal(house.notices.filter(({ kind }) => kind === 'firing').length, 6);
});
