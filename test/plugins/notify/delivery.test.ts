import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { sql } from 'kysely';

import { attempt } from '../../../plugins/notify/queue/attempt.ts';
import { shippedTypes } from '../../../plugins/notify/types/channel-types.ts';
import { removeExpired } from '../../../plugins/notify/store/retention.ts';
import { startReceiver } from './fakes/receiver.ts';
import { noticeOf, openOffice, testClock } from './office.ts';

const results = (
  outcomes: readonly { readonly notice_id: string; readonly result: string }[],
): string[] => outcomes.map(({ notice_id, result }) => `${notice_id} ${result}`);

test('a notice reaches every channel once, however often it is accepted, and each end is told once', async (t) => {
  const office = await openOffice(t);
  const [a, b] = [await startReceiver(t), await startReceiver(t)];
  await office.channel({ channel_type: 'webhook', endpoint: `${a.url}/hook` });
  await office.channel({ channel_type: 'webhook', endpoint: `${b.url}/hook` });
  const notice = noticeOf(7);
  await Promise.all([office.dispatcher.accept(notice), office.dispatcher.accept(notice)]);
  await office.turn();
  await office.dispatcher.accept(notice);
  await office.turn();
  assert.deepEqual([a.taken.length, b.taken.length], [1, 1]);
  assert.deepEqual(results(office.recorded), ['7/1/firing sent', '7/1/firing sent']);
  assert.deepEqual(office.announced, office.recorded);
  assert.equal(new Set(office.recorded.map(({ delivery_id }) => delivery_id)).size, 2);
  assert.notEqual(a.taken[0]!.headers['idempotency-key'], b.taken[0]!.headers['idempotency-key']);
  assert.equal(office.recorded[0]!.at, '2026-11-20T10:00:00.000Z');
});

test('what is accepted in a transaction that is undone was never accepted', async (t) => {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  const undone = office.tables.write(async () => {
    await office.dispatcher.accept(noticeOf(1));
    throw new Error('the incident could not be stored');
  });
  await assert.rejects(undone, /could not be stored/);
  await office.turn();
  assert.equal(platform.requests.length, 0);
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  assert.equal(platform.taken.length, 1);
});

test('a try that fails is made again after 5, 15, 45 and 135 seconds, then every five minutes, and the timeline says so once', async (t) => {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  const { id } = await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  platform.always({ status: 500, body: 'database is down' });
  await office.dispatcher.accept(noticeOf(1));
  const gaps: number[] = [];
  for (let last = 0, second = 0; second <= 900; second += 1, office.clock.advance(1_000)) {
    const before = platform.requests.length;
    await office.turn();
    if (platform.requests.length > before && second > 0) {
      gaps.push(second - last);
      last = second;
    }
  }
  assert.deepEqual(gaps, [5, 15, 45, 135, 300, 300]);
  assert.deepEqual([office.recorded.length, office.delayed.length], [0, 1]);
  const { result, attempts, error } = office.delayed[0]!;
  assert.deepEqual(
    [result, attempts, error],
    ['delayed', 5, 'the platform answered 500: database is down'],
  );
  const { last_error: last, queued, delayed } = await office.shown(id);
  assert.deepEqual([last, queued, delayed], ['the platform answered 500: database is down', 1, 1]);
  platform.always(undefined);
  await office.drain();
  assert.deepEqual(results(office.recorded), ['1/1/firing sent']);
});

test('a fifth of each wait is left to chance', async (t) => {
  for (const [random, wait] of [
    [0, 4_000],
    [0.999_999, 6_000],
  ] as const) {
    const office = await openOffice(t, { random: () => random });
    const platform = await startReceiver(t);
    await office.channel({ channel_type: 'webhook', endpoint: platform.url });
    platform.next({ status: 503 });
    await office.dispatcher.accept(noticeOf(1));
    await office.turn();
    office.clock.advance(wait - 1);
    await office.turn();
    assert.equal(platform.taken.length, 0);
    office.clock.advance(1);
    await office.turn();
    assert.equal(platform.taken.length, 1);
  }
});

test('Retry-After is obeyed to the letter, as seconds and as a date, and holds for the whole channel, also over a restart', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-notify-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const clock = testClock();
  const office = await openOffice(t, { dataDir, clock });
  const platform = await startReceiver(t);
  await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  platform.next({ status: 429, headers: { 'retry-after': '37' } });
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  await office.dispatcher.accept(noticeOf(2));
  clock.advance(36_999);
  await office.turn();
  assert.equal(platform.requests.length, 1);
  clock.advance(1);
  await office.turn();
  assert.deepEqual(
    platform.taken.map(({ body }) => body.incident.id).sort((a, b) => a - b),
    [1, 2],
  );

  platform.next({
    status: 503,
    headers: { 'retry-after': new Date(clock.now() + 90_000).toUTCString() },
  });
  await office.dispatcher.accept(noticeOf(3));
  await office.turn();
  await office.close();
  const again = await openOffice(t, { dataDir, clock });
  clock.advance(89_000);
  await again.turn();
  assert.equal(platform.requests.length, 4);
  clock.advance(1_000);
  await again.turn();
  assert.equal(platform.taken.length, 3);
});

test('a platform that asks to be left alone for a year is asked again after an hour; one that asks for a part of a millisecond is, too', async (t) => {
  const clock = testClock();
  const office = await openOffice(t, { clock });
  const platform = await startReceiver(t);
  await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  platform.next({ status: 429, headers: { 'retry-after': '31536000' } });
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  clock.advance(3_600_000);
  await office.turn();
  assert.equal(platform.taken.length, 1);
  const judge = t.mock.method(shippedTypes['webhook']!, 'judge', () => ({
    result: 'retry',
    reason: 'busy',
    afterMs: 1_500.25,
  }));
  await office.dispatcher.accept(noticeOf(2));
  await office.turn();
  judge.mock.restore();
  clock.advance(1_501);
  await office.turn();
  assert.deepEqual(results(office.recorded), ['1/1/firing sent', '2/1/firing sent']);
});

test('somebody who sets the clock neither delays a notification nor hurries it', async (t) => {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  for (const jump of [-7_200_000, 7_200_000]) {
    platform.next({ status: 500 });
    await office.dispatcher.accept(noticeOf(platform.requests.length + 1));
    await office.turn();
    const before = platform.requests.length;
    office.clock.jump(jump);
    office.clock.advance(4_999);
    await office.turn();
    assert.equal(platform.requests.length, before, `not before its time after a jump of ${jump}`);
    office.clock.advance(1);
    await office.turn();
    assert.equal(platform.requests.length, before + 1, `and in time after a jump of ${jump}`);
  }
});

test('notices of one incident arrive in order, while another incident does not wait for them', async (t) => {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  platform.next({ status: 500 });
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  await office.dispatcher.accept(noticeOf(1, 'reminder'));
  await office.dispatcher.accept(noticeOf(2));
  await office.turn();
  assert.deepEqual(
    platform.taken.map(({ body }) => [body.incident.id, body.event]),
    [[2, 'firing']],
  );
  await office.drain();
  assert.deepEqual(
    platform.taken.map(({ body }) => [body.incident.id, body.event]),
    [
      [2, 'firing'],
      [1, 'firing'],
      [1, 'reminder'],
    ],
  );
});

test('more than five that wait go as one digest; they are folded when it has arrived', async (t) => {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  for (let incident = 1; incident <= 5; incident += 1) {
    await office.dispatcher.accept(noticeOf(incident));
  }
  await office.turn();
  assert.deepEqual(
    platform.taken.map(({ body }) => body.event),
    Array(5).fill('firing'),
  );
  office.clock.advance(60_000);
  for (let incident = 6; incident <= 12; incident += 1) {
    await office.dispatcher.accept(
      noticeOf(incident, 'firing', {
        incident: { severity: incident === 9 ? 'critical' : 'info' },
      }),
    );
  }
  platform.next({ status: 500 });
  await office.turn();
  assert.equal(office.recorded.length, 5, 'nothing has ended while the digest has not arrived');
  await office.dispatcher.accept(noticeOf(13));
  office.clock.advance(5_000);
  await office.turn();
  const digest = platform.taken.at(-1)!.body;
  assert.deepEqual(
    [platform.taken.length, digest.event, digest.count, digest.omitted],
    [6, 'digest', 8, 0],
  );
  assert.deepEqual(
    digest.notices.map(({ incident }: { incident: { id: number } }) => incident.id),
    [9, 13, 6, 7, 8, 10, 11, 12],
    'the worst first',
  );
  assert.deepEqual(
    office.recorded.slice(5).map(({ incident_id, result }) => [incident_id, result]),
    [6, 7, 8, 9, 10, 11, 12, 13].map((id) => [id, 'folded']),
  );
  await office.dispatcher.accept(noticeOf(9, 'resolved'));
  await office.turn();
  assert.equal(
    platform.taken.at(-1)!.body.event,
    'resolved',
    'who got a firing in a digest gets its resolve',
  );
});

test('when a digest is refused, what is in it is late, and goes again', async (t) => {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  platform.next({ status: 400, body: 'no' });
  for (let incident = 1; incident <= 8; incident += 1) {
    await office.dispatcher.accept(noticeOf(incident));
  }
  await office.turn();
  assert.equal(platform.requests.length, 1);
  assert.deepEqual(
    office.delayed.map(({ result, error }) => `${result} ${error}`),
    Array(8).fill('delayed the platform answered 400: no'),
  );
  await office.drain();
  assert.deepEqual([platform.taken.length, platform.taken[0]!.body.count], [1, 8]);
  assert.deepEqual(
    office.recorded.map(({ result }) => result),
    Array(8).fill('folded'),
  );
});

test('a resolve goes to who got the firing with its number, and an unsent firing goes with it', async (t) => {
  const office = await openOffice(t);
  const [all, critical, quiet] = [
    await startReceiver(t),
    await startReceiver(t),
    await startReceiver(t),
  ];
  await office.channel({ channel_type: 'webhook', endpoint: all.url });
  await office.channel({
    channel_type: 'webhook',
    endpoint: critical.url,
    match_severity_min: 'critical',
  });
  await office.channel({ channel_type: 'webhook', endpoint: quiet.url, send_resolved: false });
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  await office.dispatcher.accept(noticeOf(1, 'resolved', { incident: { severity: 'critical' } }));
  await office.turn();
  assert.deepEqual([all.taken.length, critical.taken.length, quiet.taken.length], [2, 0, 1]);
  assert.deepEqual(results(office.recorded), [
    '1/1/firing sent',
    '1/1/firing sent',
    '1/1/resolved sent',
  ]);

  // The second firing is not sent yet when its resolve comes: nobody needs either.
  await office.dispatcher.accept(noticeOf(1, 'firing', { fire_seq: 2 }));
  await office.dispatcher.accept(noticeOf(1, 'resolved', { fire_seq: 2 }));
  await office.drain();
  assert.deepEqual([all.taken.length, quiet.taken.length], [2, 1]);
  assert.deepEqual(results(office.recorded).slice(3).sort(), [
    '1/2/firing overtaken',
    '1/2/firing overtaken',
    '1/2/resolved overtaken',
  ]);

  // A resolve whose firing nobody was told of concerns nobody.
  await office.dispatcher.accept(noticeOf(1, 'resolved', { fire_seq: 3 }));
  await office.drain();
  assert.equal(office.recorded.length, 6);
});

test('a channel that refuses connections is never said to have got what a resolve overtook', async (t) => {
  const office = await openOffice(t);
  await office.channel({ channel_type: 'webhook', endpoint: 'http://127.0.0.1:1/hook' });
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  await office.dispatcher.accept(noticeOf(1, 'resolved'));
  await office.drain();
  assert.deepEqual(results(office.recorded).sort(), [
    '1/1/firing overtaken',
    '1/1/resolved overtaken',
  ]);
  assert.match(
    office.recorded.find(({ kind }) => kind === 'firing')!.error!,
    /ECONNREFUSED|refused/,
  );
});

test('a firing that may have arrived is followed by its resolve, but is not repeated', async (t) => {
  const office = await openOffice(t, { timeoutMs: 200 });
  const platform = await startReceiver(t);
  await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  platform.next('hang up');
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  await office.dispatcher.accept(noticeOf(1, 'resolved'));
  await office.drain();
  assert.deepEqual(
    platform.taken.map(({ body }) => body.event),
    ['resolved'],
  );
  assert.deepEqual(results(office.recorded).sort(), ['1/1/firing overtaken', '1/1/resolved sent']);
});

test('a firing that was refused until it was over has no resolve', async (t) => {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  platform.next({ status: 400 });
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  await office.dispatcher.accept(noticeOf(1, 'resolved'));
  await office.drain();
  assert.equal(platform.requests.length, 1);
  assert.deepEqual(
    [...results(office.delayed), ...results(office.recorded).sort()],
    ['1/1/firing delayed', '1/1/firing overtaken', '1/1/resolved overtaken'],
  );
});

test('what waits for a channel that is disabled or deleted meanwhile has failed, and says why', async (t) => {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  const draft = { name: 'one', channel_type: 'webhook', endpoint: platform.url };
  const { id } = await office.channel(draft);
  platform.always({ status: 500 });
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  await office.replace(id, { ...draft, enabled: false });
  await office.turn();
  assert.equal(office.recorded[0]!.error, 'the channel was disabled before this was sent');
  await office.dispatcher.accept(noticeOf(2));
  await office.turn();
  assert.equal(office.recorded.length, 1, 'a disabled channel takes nothing on');
  await office.replace(id, { ...draft, enabled: true });
  await office.dispatcher.accept(noticeOf(3));
  await office.remove(id);
  await office.turn();
  assert.deepEqual(
    [office.recorded[1]!.result, office.recorded[1]!.error],
    ['failed', 'the channel was deleted before this was sent'],
  );
});

test('a channel that is deleted while it is sent to holds up no other', async (t) => {
  const office = await openOffice(t);
  const other = await startReceiver(t);
  let gone = async (): Promise<void> => undefined;
  const server = createServer((request, response) => {
    request.resume();
    void gone().then(() => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { id } = await office.channel({ channel_type: 'webhook', endpoint });
  gone = async () => {
    await office.remove(id);
  };
  await office.channel({ channel_type: 'webhook', endpoint: other.url });
  await office.dispatcher.accept(noticeOf(1));
  await office.drain();
  await office.dispatcher.accept(noticeOf(2));
  await office.drain();
  assert.deepEqual(results(office.recorded).toSorted(), [
    '1/1/firing sent',
    '1/1/firing sent',
    '2/1/firing sent',
  ]);
  assert.equal(other.taken.length, 2);
});

test('outcomes wait for whoever keeps the timeline, and one that is refused holds up only its own incident', async (t) => {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  office.setSource(false);
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  assert.deepEqual([office.recorded.length, office.announced.length], [0, 1]);
  office.setSource(true);
  office.refuse(({ incident_id }) => incident_id === 1);
  await office.dispatcher.accept(noticeOf(2));
  await office.turn();
  assert.deepEqual(results(office.recorded), ['2/1/firing sent']);
  office.refuse(undefined);
  await office.turn();
  assert.equal(office.recorded.length, 1, 'not before its time');
  office.clock.advance(1_000);
  await office.turn();
  await office.turn();
  assert.deepEqual(results(office.recorded), ['2/1/firing sent', '1/1/firing sent']);
  assert.equal(office.announced.length, 2);
});

test('a channel that fails ten times in a row is degraded, and well again after the next that arrives', async (t) => {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  const { id } = await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  platform.always({ status: 502 });
  const fail = async (times: number): Promise<void> => {
    while (platform.requests.length < times) {
      await office.turn();
      office.clock.advance(1_000);
    }
  };
  await office.dispatcher.accept(noticeOf(1));
  await fail(9);
  assert.equal((await office.shown(id)).degraded, false);
  await fail(10);
  const shown = await office.shown(id);
  assert.deepEqual(
    [shown.degraded, shown.degraded_reason],
    [true, '10 attempts in a row failed; the last error: the platform answered 502'],
  );
  platform.always(undefined);
  await office.dispatcher.accept(noticeOf(3));
  await office.drain();
  const well = await office.shown(id);
  assert.deepEqual(
    [well.degraded, well.degraded_reason, well.last_sent_at === null],
    [false, null, false],
  );
});

test('a try that another process made and did not see the end of is made again, and does not count', async (t) => {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  await office.dispatcher.accept(noticeOf(1));
  await office.tables.write((tx) =>
    tx.updateTable('notify_deliveries').set({ state: 'sending', attempts: 5 }).execute(),
  );
  await office.turn();
  assert.deepEqual(
    [platform.taken.length, office.recorded[0]!.result, office.recorded[0]!.attempts],
    [1, 'sent', 5],
  );
});

test('what a version without jobs has left is taken over, once', async (t) => {
  const office = await openOffice(t);
  const [a, b] = [await startReceiver(t), await startReceiver(t)];
  await office.channel({ channel_type: 'webhook', endpoint: a.url });
  await office.channel({ channel_type: 'webhook', endpoint: b.url });
  await office.dispatcher.accept(noticeOf(1));
  await office.tables.write(async (tx) => {
    await sql`delete from notify_jobs`.execute(tx);
    await tx
      .updateTable('notify_deliveries')
      .set({ state: 'sending', owner: 'p0/g1', attempts: 2 })
      .where('channel_id', '=', 2)
      .execute();
  });
  await office.send();
  assert.deepEqual([a.taken.length, b.taken.length], [0, 0]);
  for (let time = 0; time < 2; time += 1) {
    await office.tables.write((tx) => office.queue.takeOver(tx));
    await office.turn();
  }
  assert.deepEqual([a.taken.length, b.taken.length], [1, 1]);
  assert.deepEqual(
    (await office.deliveries()).map(({ state, attempts }) => [state, attempts]),
    [
      ['sent', 1],
      ['sent', 2],
    ],
  );
});

test('what another generation of this process is sending is left to it for as long as a try can last', async (t) => {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  await office.turn();
  await office.dispatcher.accept(noticeOf(1));
  const stop = new AbortController();
  const before = office.generation(2, stop.signal);
  platform.next('silent');
  const sent = before.turn();
  while (platform.requests.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await office.turn();
  assert.equal(platform.requests.length, 1, 'nobody else sends it');
  stop.abort();
  await sent;
  assert.equal((await office.deliveries())[0]!.state, 'queued', 'it was put back');
  await office.turn();
  assert.deepEqual([platform.taken.length, office.recorded[0]!.attempts], [1, 1]);
});

test('another address starts afresh: neither degraded nor held back', async (t) => {
  const office = await openOffice(t);
  const [old, fresh] = [await startReceiver(t), await startReceiver(t)];
  const draft = { name: 'one', channel_type: 'webhook', endpoint: `${old.url}/a` };
  const { id } = await office.channel(draft);
  old.next({ status: 404 }, { status: 429, headers: { 'retry-after': '3000' } });
  await office.dispatcher.accept(noticeOf(1));
  await office.dispatcher.accept(noticeOf(2));
  await office.turn();
  assert.equal((await office.shown(id)).degraded, true);
  const changed = await office.replace(id, { ...draft, endpoint: `${fresh.url}/a` });
  assert.deepEqual([changed.degraded, changed.queued], [false, 2]);
  await office.dispatcher.accept(noticeOf(3));
  await office.turn();
  assert.deepEqual(
    fresh.taken.map(({ body }) => body.incident.id),
    [1, 2, 3],
    'what the address before did not take goes to this one at once',
  );
});

test('what is over is cleared away after a month, but a firing waits for its resolve, and no id is told twice', async (t) => {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  for (const notice of [noticeOf(1), noticeOf(2)]) {
    await office.dispatcher.accept(notice);
  }
  await office.turn();
  await office.dispatcher.accept(noticeOf(1, 'resolved'));
  await office.turn();
  office.clock.advance(40 * 86_400_000);
  await removeExpired(office.tables, office.clock);
  assert.deepEqual(
    (await office.deliveries()).map(({ notice_id: id }) => id),
    ['2/1/firing'],
  );
  const bodies = await office.tables.read.selectFrom('notify_notices').select('body').execute();
  assert.deepEqual(
    bodies.map(({ body }) => body),
    ['', '', ''],
  );
  await office.dispatcher.accept(noticeOf(1));
  await office.dispatcher.accept(noticeOf(2, 'resolved'));
  await office.turn();
  assert.deepEqual(
    platform.taken.map(({ body }) => `${body.incident.id} ${body.event}`),
    ['1 firing', '2 firing', '1 resolved', '2 resolved'],
  );
});

test('words of another room go to the channels they name, once, and again when the platform was away', async (t) => {
  const office = await openOffice(t);
  const [a, b] = [await startReceiver(t), await startReceiver(t)];
  const first = await office.channel({ channel_type: 'webhook', endpoint: `${a.url}/hook` });
  await office.channel({ channel_type: 'webhook', endpoint: `${b.url}/hook` });
  const words = {
    id: 'approval.1',
    title: 'Approval needed',
    lines: ['Runs: restart db'],
    path: '/ui/approvals/1',
    channels: [first.id, 99],
  };
  a.always({ status: 503 });
  await office.dispatcher.say(words);
  await office.turn();
  a.always(undefined);
  await office.dispatcher.say(words);
  office.clock.advance(60_000);
  await office.turn();
  assert.deepEqual([a.taken.length, b.requests.length], [1, 0]);
  const { event, title, text, link } = a.taken[0]!.body as Record<string, string>;
  assert.deepEqual(
    [event, title, text, link!.endsWith('/ui/approvals/1')],
    ['words', 'Approval needed', 'Runs: restart db', true],
  );
  assert.deepEqual([office.recorded, office.announced], [[], []]);
});

test('a kind of channel that never ends its delivery holds up no other: it is tried again, and may have it', async () => {
  const endless = {
    title: 'Endless',
    secret: 'none',
    limits: [],
    check: () => undefined,
    deliver: () => new Promise(() => undefined),
  } as const;
  const parts = {
    tables: {},
    types: { find: () => endless, named: () => assert.fail() },
    addresses: { open: () => ({ endpoint: 'x', secret: '' }) },
    linkOf: () => '',
    now: () => 0,
    timeoutMs: 10,
  };
  const row = { id: 'd', kind: 'test', group_key: '' };
  const channel = { channel_type: 'endless', name: 'Ops' };
  assert.deepEqual(await attempt(parts as never, row as never, channel as never, () => false), {
    result: 'retry',
    reason: 'The delivery did not finish within 0.025 s.',
    unclear: true,
  });
});
