import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { Deliveries } from '../../../plugins/notify/queue/deliveries.ts';
import { groupKeyOf } from '../../../plugins/notify/message/grouping.ts';
import { Repeats } from '../../../plugins/notify/queue/repeats.ts';
import type { Platform, Received } from './fakes/platform.ts';
import { startReceiver } from './fakes/receiver.ts';
import { noticeOf, type Office, openOffice, testClock } from './office.ts';

/** Grouping of a channel that configures none. */
const usual = { group_by: ['rule_key'], group_wait: '10s', group_interval: '1m' };

const toldOf = ({ body }: Received): string =>
  body.event === 'digest'
    ? body.notices
        .map(
          ({ event, incident }: { event: string; incident: { id: number } }) =>
            `${event} ${incident.id}`,
        )
        .join(', ')
    : `${body.event} ${body.incident.id}`;

/** Returns whether a request begins a message. */
const isFirst = ({ body }: Received): boolean => (body.page?.number ?? 1) === 1;

/** Lets seconds pass, one at a time, and says at which of them a message came. */
async function pass(
  office: Office,
  platform: Platform,
  seconds: number,
): Promise<readonly (readonly [number, string])[]> {
  const heard: (readonly [number, string])[] = [];
  for (let second = 1; second <= seconds; second += 1) {
    office.clock.advance(1_000);
    const before = platform.taken.length;
    await office.turn();
    heard.push(
      ...platform.taken.slice(before).map((request) => [second, toldOf(request)] as const),
    );
  }
  return heard;
}

async function grouped(t: TestContext, more: object = {}) {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  const channel = await office.channel({
    channel_type: 'webhook',
    endpoint: platform.url,
    ...usual,
    ...more,
  });
  return { office, platform, channel };
}

test('what fires together goes in one message after group_wait; what joins, and what ends, at group_interval', async (t) => {
  const { office, platform } = await grouped(t);
  await office.dispatcher.accept(noticeOf(1));
  assert.deepEqual(await pass(office, platform, 4), []);
  await office.dispatcher.accept(
    noticeOf(2),
    noticeOf(3, 'firing', { incident: { rule_key: 'disk_high' } }),
  );
  assert.deepEqual(await pass(office, platform, 20), [
    [6, 'firing 1, firing 2'],
    [10, 'firing 3'],
  ]);
  await office.dispatcher.accept(noticeOf(4));
  assert.deepEqual(
    await pass(office, platform, 30),
    [],
    'less than a minute after the first message',
  );
  await office.dispatcher.accept(noticeOf(1, 'resolved'));
  assert.deepEqual(await pass(office, platform, 30), [[16, 'firing 4, resolved 1']]);
});

test('who joins one incident within an interval goes in one message, which says it of all; its tries count on', async (t) => {
  const { office, platform } = await grouped(t);
  await office.dispatcher.accept(noticeOf(1));
  await pass(office, platform, 10);
  const joined = (by: number) =>
    noticeOf(1, 'firing', { id: `joined-${by}`, incident: { firing_instances: by } });
  await office.dispatcher.accept(joined(2));
  await pass(office, platform, 20);
  await office.dispatcher.accept(joined(3), joined(4));
  platform.next({ status: 500 });
  assert.deepEqual(await pass(office, platform, 39), []);
  await office.dispatcher.accept(joined(5));
  assert.deepEqual(
    (await pass(office, platform, 30)).map(([, told]) => told),
    ['firing 1'],
  );
  assert.equal(platform.taken.at(-1)!.body.incident.firing_instances, 5);
  await pass(office, platform, 100);
  assert.deepEqual(
    office.recorded
      .map(({ notice_id: id, result, attempts }) => [id, result, attempts] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    [
      ['1/1/firing', 'sent', 1],
      ['joined-2', 'folded', 0],
      ['joined-3', 'folded', 0],
      ['joined-4', 'folded', 0],
      ['joined-5', 'sent', 2],
    ],
  );
});

test('a group is told by nothing but its own time, whatever somebody does to the clock', async (t) => {
  const { office, platform } = await grouped(t);
  office.clock.jump(7_200_000);
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  office.clock.jump(-86_400_000);
  await pass(office, platform, 9);
  assert.equal(platform.taken.length, 0);
  office.clock.jump(86_400_000);
  assert.deepEqual(await pass(office, platform, 1), [[1, 'firing 1']]);
  office.clock.jump(-86_400_000);
  await office.dispatcher.accept(noticeOf(2));
  assert.equal(
    (await pass(office, platform, 60)).length,
    1,
    'a message of the future holds nothing back for longer than the interval',
  );
});

test('a group that waits when the process ends goes with the next one', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-groups-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const clock = testClock();
  const platform = await startReceiver(t);
  const before = await openOffice(t, { dataDir, clock });
  await before.channel({ channel_type: 'webhook', endpoint: platform.url, ...usual });
  await before.dispatcher.accept(noticeOf(1), noticeOf(2));
  await before.turn();
  await before.close();
  const after = await openOffice(t, { dataDir, clock });
  assert.deepEqual(await pass(after, platform, 12), [[10, 'firing 1, firing 2']]);
});

test('incidents stay in their group when their labels change, and each is told in order', async (t) => {
  const { office, platform } = await grouped(t, { group_by: ['team'] });
  await office.dispatcher.accept(noticeOf(1));
  await pass(office, platform, 11);
  platform.next({ status: 503 });
  await office.dispatcher.accept(
    noticeOf(1, 'resolved', { incident: { labels: { team: 'web' } } }),
    noticeOf(2, 'firing', { incident: { labels: { team: 'web' } } }),
  );
  const heard = await pass(office, platform, 90);
  assert.deepEqual(
    heard.map(([, what]) => what),
    ['firing 2', 'resolved 1'],
  );
});

test('a group key says what its incidents share; three dots keep each apart', () => {
  const { incident } = noticeOf(7, 'firing', { incident: { labels: { team: 'db' } } });
  const keyOf = (...by: string[]): string => groupKeyOf({ grouping: { by } }, incident);
  assert.deepEqual(
    [keyOf(), keyOf('alertname', 'team', 'dc'), keyOf('severity', 'device_id'), keyOf('...')],
    [
      '{}',
      '{"alertname":"cpu_high","team":"db","dc":""}',
      '{"severity":"warning","device_id":"7"}',
      'incident 7',
    ],
  );
});

test('a channel that is down for ten minutes loses nothing: who still burns is told, what ended meanwhile is not', async (t) => {
  const { office, platform } = await grouped(t);
  platform.always({ status: 502 });
  await office.dispatcher.accept(noticeOf(1), noticeOf(2));
  await pass(office, platform, 600);
  assert.deepEqual(
    office.delayed.map(({ incident_id: id, attempts }) => [id, attempts > 0]),
    [
      [1, false],
      [2, false],
    ],
    'what a digest holds has no tries of its own',
  );
  await office.dispatcher.accept(noticeOf(1, 'resolved'));
  platform.always(undefined);
  const heard = await pass(office, platform, 400);
  assert.deepEqual(
    heard.map(([, what]) => what),
    ['firing 2'],
  );
  assert.deepEqual(
    office.recorded.map(({ incident_id: id, kind, result }) => `${kind} ${id} ${result}`).sort(),
    ['firing 1 overtaken', 'firing 2 folded', 'resolved 1 overtaken'],
  );
});

test('what burns on is sent again after repeat_interval, unless it is in hand; a group of which nothing burns is forgotten', async (t) => {
  const { office, platform } = await grouped(t, { repeat_interval: '4h' });
  const repeats = new Repeats({ ...office, ids: { uuid: () => crypto.randomUUID() } });
  const [first, second] = [noticeOf(1), noticeOf(2)];
  office.burning.push(first.incident, second.incident);
  await office.dispatcher.accept(first, second);
  assert.equal((await pass(office, platform, 11)).length, 1);
  const later = async (ms: number) => {
    office.clock.advance(ms);
    await repeats.repeat();
    return (await pass(office, platform, 2)).map(([, what]) => what);
  };
  assert.deepEqual(await later(4 * 3_600_000 - 20_000), []);
  assert.deepEqual(await later(20_000), ['reminder 1, reminder 2']);
  assert.deepEqual(await later(60_000), []);
  office.burning.shift();
  assert.deepEqual(
    await later(4 * 3_600_000),
    ['reminder 2'],
    'what was acknowledged or muted meanwhile is left out',
  );
  office.burning.shift();
  assert.deepEqual(await later(4 * 3_600_000), []);
  assert.equal(
    (await office.tables.read.selectFrom('notify_groups').selectAll().execute()).length,
    0,
  );
});

test('the channel that stands in gets what cannot be sent, and its end', async (t) => {
  const office = await openOffice(t);
  const [broken, spare] = [await startReceiver(t), await startReceiver(t)];
  const other = await office.channel({
    channel_type: 'webhook',
    endpoint: spare.url,
    match_labels: { team: 'no one' },
  });
  await office.channel({
    channel_type: 'webhook',
    endpoint: broken.url,
    fallback_channel_id: other.id,
  });
  broken.always({ status: 404 });
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  await office.turn();
  await office.dispatcher.accept(noticeOf(1, 'resolved'));
  await office.turn();
  await office.turn();
  assert.deepEqual(spare.taken.map(toldOf), ['firing 1', 'resolved 1']);
  await office.remove(other.id);
  assert.equal(
    (await office.channels.list({ limit: 10 })).items[0]!.fallback_channel_id,
    null,
    'one that is gone stands in for none',
  );
});

test('what is tried again is counted by notifications: those that one message tells each for itself, and none of another channel', async (t) => {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  const draft = { channel_type: 'webhook', endpoint: platform.url };
  const [together, other] = [
    await office.channel({ ...draft, group_by: [], group_wait: '10s' }),
    await office.channel(draft),
  ];
  const deliveries = new Deliveries({
    ...office,
    ids: { uuid: () => crypto.randomUUID() },
  });
  const listed = async (channel: number) =>
    (await deliveries.list({ state: 'delayed', channel_id: channel }, { limit: 10 })).total;
  for (const status of [403, 503]) {
    platform.always({ status });
    for (const incident of [status, status + 1, status + 2]) {
      await office.dispatcher.accept(noticeOf(incident));
    }
    office.clock.advance(11_000);
    await office.turn();
    // What a platform refuses is late at once, what it is too busy for after some tries: it waits for the next one all the same.
    assert.deepEqual(
      [await listed(together.id), await listed(other.id)],
      status === 403 ? [3, 3] : [0, 0],
    );
    assert.deepEqual(
      [await deliveries.resendAll(together.id), await deliveries.resendAll(other.id)],
      [3, 3],
      String(status),
    );
    platform.always(undefined);
    await office.drain();
    assert.deepEqual(
      [await deliveries.resendAll(together.id), await deliveries.resendAll(other.id)],
      [0, 0],
      String(status),
    );
  }
  await assert.rejects(deliveries.resendAll(99), { code: 'not_found' });
});

test('what a channel could not be sent is listed and sent again when a person asks for it', async (t) => {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  const { id } = await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  const deliveries = new Deliveries({
    ...office,
    ids: { uuid: () => crypto.randomUUID() },
  });
  const list = async (state: 'delayed' | 'failed' | 'sent') =>
    (await deliveries.list({ state }, { limit: 10 })).items;
  platform.next({ status: 403 });
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  const [late] = await list('delayed');
  assert.deepEqual(
    [late!.incident_id, late!.attempts, late!.error, late!.finished_at],
    [1, 1, 'the platform answered 403', null],
  );
  assert.equal(await deliveries.resendAll(id), 1);
  await office.turn();
  assert.deepEqual(
    [platform.taken.length, (await list('delayed')).length, (await list('sent')).length],
    [1, 0, 1],
  );
  await assert.rejects(deliveries.resend(late!.id), /was sent and cannot be sent again/);
  await assert.rejects(deliveries.resend('no-such'), /There is no notification no-such/);

  const draft = { name: 'off', channel_type: 'webhook', endpoint: platform.url };
  const off = await office.channel(draft);
  await office.dispatcher.accept(noticeOf(2));
  await office.replace(off.id, { ...draft, enabled: false });
  await office.turn();
  const [failed] = await list('failed');
  assert.match(failed!.error!, /was disabled before this was sent/);
  await office.replace(off.id, draft);
  const anew = await deliveries.resend(failed!.id);
  await office.turn();
  assert.notEqual(anew.id, failed!.id, 'its outcome is another one');
  assert.deepEqual(
    office.recorded
      .filter(({ channel_id: channel }) => channel === off.id)
      .map(({ delivery_id: delivery, result }) => [delivery, result]),
    [
      [failed!.id, 'failed'],
      [anew.id, 'sent'],
    ],
  );
});

// The time is for a query that compares each with each.
test(
  'ten thousand incidents that fire at once are a few messages, and so are their ends; no one is lost',
  { timeout: 100_000 },
  async (t) => {
    const { office, platform } = await grouped(t);
    const incidents = Array.from({ length: 10_000 }, (_, index) => ({
      id: index + 1,
      rule_key: `rule_${index % 20}`,
    }));
    for (const kind of ['firing', 'resolved'] as const) {
      for (let from = 0; from < incidents.length; from += 500) {
        await office.dispatcher.accept(
          ...incidents
            .slice(from, from + 500)
            .map(({ id, rule_key: rule }) => noticeOf(id, kind, { incident: { rule_key: rule } })),
        );
      }
      const before = platform.taken.length;
      await pass(office, platform, 62);
      const requests = platform.taken.slice(before);
      const messages = requests.filter(isFirst);
      assert.ok(messages.length <= 20, `${messages.length} messages`);
      assert.equal(
        messages.reduce((sum, { body }) => sum + body.count, 0),
        10_000,
      );
      assert.equal(requests.flatMap(({ body }) => body.notices).length, 10_000);
    }
    assert.equal(office.recorded.length, 20_000);
  },
);

test('a message waits a moment for a cause that is being looked for, but one that is grave never does', async (t) => {
  const office = await openOffice(t, { investigates: true });
  const platform = await startReceiver(t);
  await office.channel({ channel_type: 'webhook', endpoint: platform.url, ...usual });
  for (const id of [1, 2, 3, 4, 5]) {
    office.looked.set(id, id === 4 ? 'skipped' : 'running');
  }
  const about = (id: number, severity: 'warning' | 'critical') =>
    noticeOf(id, 'firing', { incident: { rule_key: `rule ${id}`, severity } });
  await office.dispatcher.accept(
    about(1, 'warning'),
    about(2, 'critical'),
    about(3, 'warning'),
    about(4, 'warning'),
  );
  assert.deepEqual(await pass(office, platform, 11), [
    [10, 'firing 2'],
    [10, 'firing 4'],
  ]);
  office.looked.set(1, 'ready');
  assert.deepEqual(await pass(office, platform, 10), [
    [1, 'firing 1'],
    [4, 'firing 3'],
  ]);
});

test('a group that is still filling by the hundred when its time has come waits for the rest, for half a minute at most', async (t) => {
  const { office, platform } = await grouped(t);
  let id = 0;
  const burst = () =>
    office.dispatcher.accept(...Array.from({ length: 150 }, () => noticeOf((id += 1))));
  const counts = () => platform.taken.filter(isFirst).map(({ body }) => body.count);
  await burst();
  await pass(office, platform, 9);
  await burst();
  await pass(office, platform, 2);
  await burst();
  await pass(office, platform, 3);
  assert.deepEqual(counts(), []);
  await pass(office, platform, 1);
  assert.deepEqual(counts(), [450]);
  // Without an end: it goes half a minute after its time.
  await burst();
  await pass(office, platform, 56);
  for (let seconds = 56; seconds < 90; seconds += 2) {
    await burst();
    await pass(office, platform, 2);
    assert.deepEqual(counts().slice(1), seconds < 88 ? [] : [18 * 150]);
  }
});

test('while nothing is due the queue is not written to; what is due goes in its time, and so does what the channel that stands in is given', async (t) => {
  const office = await openOffice(t);
  const [broken, spare] = [await startReceiver(t), await startReceiver(t)];
  const other = await office.channel({
    channel_type: 'webhook',
    endpoint: spare.url,
    match_labels: { team: 'none' },
    group_wait: '10m',
  });
  await office.channel({
    channel_type: 'webhook',
    endpoint: broken.url,
    fallback_channel_id: other.id,
  });
  await office.channel({
    channel_type: 'webhook',
    endpoint: spare.url,
    match_labels: { team: 'late' },
    group_wait: '10m',
  });
  let writes = 0;
  const { write } = office.tables;
  Object.assign(office.tables, { write: (work: never) => ((writes += 1), write(work)) });
  /** Checks five times a second, as the plugin does. */
  const look = async (seconds: number): Promise<void> => {
    for (let looks = 0; looks < seconds * 5; looks += 1) {
      office.clock.advance(200);
      await office.send();
    }
  };
  broken.always({ status: 500 });
  await office.dispatcher.accept(noticeOf(1, 'firing', { incident: { labels: { team: 'late' } } }));
  await look(1);
  assert.equal(broken.requests.length, 1);
  await look(1);
  writes = 0;
  await look(2);
  assert.deepEqual([writes, broken.requests.length], [0, 1]);
  await look(2);
  assert.equal(broken.requests.length, 2, 'five seconds after the first');
  // By its last try before people are told, it is given to the other, which was at rest until then.
  for (let minutes = 0; spare.taken.length === 0; minutes += 1) {
    assert.ok(minutes < 9);
    await look(60);
  }
  assert.equal(toldOf(spare.taken[0]!), 'firing 1');
});
