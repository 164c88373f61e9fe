import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';

import { Repeats } from '../../../plugins/notify/queue/repeats.ts';
import { feishuPath, startFeishu } from './fakes/feishu.ts';
import type { Quirk } from './fakes/platform.ts';
import { startReceiver } from './fakes/receiver.ts';
import { slackPath, startSlack } from './fakes/slack.ts';
import { startTelegram, telegramToken } from './fakes/telegram.ts';
import {
  genieKey,
  pagerdutyPath,
  routingKey,
  startOpsgenie,
  startPagerduty,
} from './fakes/trackers.ts';
import { noticeOf, openOffice, testClock } from './office.ts';

const dayMs = 86_400_000;
const year: Quirk = { status: 429, headers: { 'retry-after': String(365 * 86_400) } };

async function meet(t: TestContext, more: object = {}) {
  const clock = testClock();
  const office = await openOffice(t, { clock, timeoutMs: 2_000 });
  const receiver = await startReceiver(t);
  const channel = await office.channel({
    channel_type: 'webhook',
    endpoint: receiver.url,
    name: 'pager',
    ...more,
  });
  const told = (): readonly string[] =>
    receiver.taken.map(({ body }) => `${body.event} ${body.incident?.id ?? body.count}`);
  return { clock, office, receiver, channel, told };
}

for (const [what, quirk] of [
  ['never ends its answer', 'slow'],
  ['breaks off its answer', 'reset'],
  ['answers without end', 'huge'],
] as const) {
  test(`a receiver that says 200 and ${what} has it: it is told once, and the timeline says so`, async (t) => {
    const { office, receiver, clock, channel } = await meet(t);
    receiver.next(quirk);
    await office.dispatcher.accept(noticeOf(1));
    await office.turn();
    clock.advance(dayMs);
    await office.turn();
    assert.deepEqual(
      [receiver.requests.length, office.recorded.map(({ result, attempts }) => [result, attempts])],
      [1, [['sent', 1]]],
    );
    assert.deepEqual([(await office.shown(channel.id)).last_error, office.delayed], [null, []]);
  });
}

test('what a platform has said in full counts, though its connection breaks off after it', async (t) => {
  const office = await openOffice(t, { clock: testClock(), timeoutMs: 2_000 });
  const platform = await startFeishu(t, office.clock);
  await office.channel({ channel_type: 'feishu', endpoint: platform.url + feishuPath });
  // A length that is never reached.
  platform.next({
    status: 200,
    headers: { 'content-length': '900' },
    body: '{"code":0,"msg":"success"}',
  });
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  assert.deepEqual(
    office.recorded.map(({ result }) => result),
    ['sent'],
  );
});

const cut = (status: number, body: string): Quirk => ({
  status,
  headers: { 'content-length': '900' },
  body,
});
for (const [type, start, path, secret, quirk] of [
  ['slack', startSlack, slackPath, undefined, cut(200, '')],
  ['slack', startSlack, slackPath, undefined, cut(200, 'o')],
  ['telegram', startTelegram, '?chat_id=-1001234567890', telegramToken, cut(200, '{"ok":tr')],
  ['pagerduty', startPagerduty, pagerdutyPath, routingKey, cut(202, '{"stat')],
  ['opsgenie', startOpsgenie, '', genieKey, cut(202, '')],
] as const) {
  test(`a platform whose head says yes has it, whatever becomes of the rest: ${type}, after ${JSON.stringify(quirk)}`, async (t) => {
    const office = await openOffice(t, { clock: testClock(), timeoutMs: 1_000 });
    const platform = await start(t);
    await office.channel({
      channel_type: type,
      endpoint: platform.url + path,
      ...(secret !== undefined && { secret }),
    });
    platform.next(quirk);
    await office.dispatcher.accept(noticeOf(1));
    await office.turn();
    office.clock.advance(dayMs);
    await office.turn();
    assert.deepEqual(
      [platform.requests.length, office.recorded.map(({ result }) => result)],
      [1, ['sent']],
    );
  });
}

test('a body that is another’s is no yes of a platform: a page of a proxy is tried again', async (t) => {
  const office = await openOffice(t, { clock: testClock(), timeoutMs: 1_000 });
  const platform = await startSlack(t);
  await office.channel({ channel_type: 'slack', endpoint: platform.url + slackPath });
  platform.next(cut(200, '<html>'));
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  assert.deepEqual([platform.requests.length, office.recorded.length], [1, 0]);
  await office.drain();
  assert.equal(platform.taken.length, 1);
});

test('a receiver that takes eleven seconds is told once', async (t) => {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume();
    setTimeout(() => response.end('ok'), 11_000);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => (server.closeAllConnections(), server.close()));
  const office = await openOffice(t);
  await office.channel({
    channel_type: 'webhook',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  assert.deepEqual([requests, office.recorded.map(({ result }) => result)], [1, ['sent']]);
});

test('a platform that asks for a year of patience gets an hour; until then people are told that it is late, and the channel that stands in is sent all of it', async (t) => {
  const clock = testClock();
  const office = await openOffice(t, { clock, timeoutMs: 2_000 });
  const [busy, other] = [await startReceiver(t), await startReceiver(t)];
  const standing = await office.channel({
    channel_type: 'webhook',
    endpoint: other.url,
    name: 'other',
    match_labels: { team: 'nobody' },
  });
  const channel = await office.channel({
    channel_type: 'webhook',
    endpoint: busy.url,
    name: 'busy',
    fallback_channel_id: standing.id,
  });
  busy.next(year);
  await office.dispatcher.accept(noticeOf(1));
  await office.turn();
  await office.turn();
  assert.equal((await office.shown(channel.id)).delayed, 1);
  assert.deepEqual(
    other.taken.map(({ body }) => body.incident.id),
    [1],
  );
  // What comes while nothing may be sent is not tried, and late all the same.
  clock.advance(10_000);
  await office.dispatcher.accept(noticeOf(2));
  await office.turn();
  await office.turn();
  assert.deepEqual(
    other.taken.map(({ body }) => body.incident.id),
    [1, 2],
  );
  assert.equal((await office.shown(channel.id)).delayed, 2);
  assert.deepEqual(
    office.delayed.map(({ incident_id: id, result }) => [id, result]),
    [
      [1, 'delayed'],
      [2, 'delayed'],
    ],
  );
  assert.match(
    office.delayed[1]!.error!,
    /^the platform accepts nothing before 2026-11-20T11:00:00\.000Z$/,
  );
  assert.equal(busy.requests.length, 1);
  clock.advance(3_600_000);
  await office.drain();
  assert.equal(busy.taken.length, 2, 'and so is the platform itself, at last');
  await office.dispatcher.accept(noticeOf(1, 'resolved'), noticeOf(2, 'resolved'));
  await office.drain();
  assert.deepEqual([busy.taken.length, other.taken.length], [4, 4], 'the end goes to both');
});

test('what is given up, because it may have arrived, goes to the channel that stands in', async (t) => {
  const office = await openOffice(t, { clock: testClock(), timeoutMs: 2_000 });
  const [platform, other] = [await startFeishu(t, office.clock), await startReceiver(t)];
  const standing = await office.channel({
    channel_type: 'webhook',
    endpoint: other.url,
    match_labels: { team: 'nobody' },
  });
  await office.channel({
    channel_type: 'feishu',
    endpoint: platform.url + feishuPath,
    fallback_channel_id: standing.id,
  });
  platform.next('huge');
  await office.dispatcher.accept(noticeOf(1));
  await office.drain();
  assert.deepEqual(
    office.recorded.map(({ result, channel_id: channel }) => [result, channel === standing.id]),
    [
      ['failed', false],
      ['sent', true],
    ],
  );
  await office.dispatcher.accept(noticeOf(1, 'resolved'));
  await office.drain();
  assert.deepEqual([platform.taken.length, other.taken.length], [1, 2], 'both are told the end');
});

test('a channel that is deleted and made anew under its name is told what burns and was never sent', async (t) => {
  const { office, receiver, clock, channel, told } = await meet(t);
  await office.dispatcher.accept(noticeOf(1), noticeOf(2));
  await office.drain();
  receiver.always({ status: 503 });
  await office.dispatcher.accept(noticeOf(3), noticeOf(4), noticeOf(5));
  await office.turn();
  await office.dispatcher.accept(noticeOf(5, 'resolved'));
  const burning = [1, 2, 3, 4].map((id) => noticeOf(id).incident);
  office.burning.push(...burning);
  await office.remove(channel.id);
  clock.advance(5_000);
  await office.turn();
  assert.deepEqual(
    office.recorded
      .filter(({ result }) => result === 'failed')
      .map(({ incident_id: id, error }) => [id, error]),
    [3, 4].map((id) => [id, 'the channel was deleted before this was sent']),
  );
  receiver.always(undefined);
  receiver.taken.length = 0;
  const stranger = await office.channel({
    channel_type: 'webhook',
    endpoint: receiver.url,
    name: 'another',
  });
  await office.drain();
  assert.deepEqual(told(), []);
  await office.remove(stranger.id);
  await office.channel({ channel_type: 'webhook', endpoint: receiver.url, name: 'pager' });
  await office.drain();
  assert.deepEqual(told().toSorted(), ['firing 3', 'firing 4']);
  await office.dispatcher.accept(noticeOf(3, 'resolved'), noticeOf(1, 'resolved'));
  await office.drain();
  assert.deepEqual(told().slice(2), ['resolved 3'], 'the end goes to who was told');
});

test('a channel that is disabled for a while is told afterwards what waited for it and still burns, once', async (t) => {
  const { office, receiver, clock, channel, told } = await meet(t);
  receiver.next({ status: 503 }, { status: 503 }, { status: 503 });
  await office.dispatcher.accept(noticeOf(1), noticeOf(2), noticeOf(3));
  await office.turn();
  const draft = { name: 'pager', channel_type: 'webhook', endpoint: `${receiver.url}/` };
  await office.replace(channel.id, { ...draft, enabled: false });
  clock.advance(60_000);
  await office.turn();
  assert.deepEqual(
    office.recorded.map(({ result }) => result),
    ['failed', 'failed', 'failed'],
  );
  await office.dispatcher.accept(noticeOf(2, 'resolved'));
  office.burning.push(noticeOf(1).incident, noticeOf(3).incident);
  for (const enabled of [true, false, true]) {
    await office.replace(channel.id, { ...draft, enabled });
    await office.drain();
  }
  assert.deepEqual(told().toSorted(), ['firing 1', 'firing 3']);
});

test('an end that waits for its channel is not given up because the clock was set', async (t) => {
  const { office, receiver, clock, told } = await meet(t);
  await office.dispatcher.accept(noticeOf(1));
  await office.drain();
  receiver.next({ status: 503 }, { status: 503 });
  await office.dispatcher.accept(noticeOf(1, 'resolved'));
  await office.turn();
  clock.jump(3 * dayMs);
  await office.drain();
  assert.deepEqual(told(), ['firing 1', 'resolved 1']);
});

test('what burns is sent again although the clock was set back by days since it was sent', async (t) => {
  const { office, clock, told } = await meet(t, { repeat_interval: '4h' });
  office.burning.push(noticeOf(1).incident);
  await office.dispatcher.accept(noticeOf(1));
  await office.drain();
  clock.jump(-3 * dayMs);
  const repeats = new Repeats({
    tables: office.tables,
    queue: office.queue,
    source: office.source,
    clock,
    ids: { uuid: () => crypto.randomUUID() },
  });
  for (let hour = 0; hour < 9; hour += 1) {
    await repeats.repeat();
    await office.drain();
    clock.advance(3_600_000);
  }
  assert.ok(told().length >= 3 && told().length <= 4, told().join());
});

test('a group that waits goes when its time is over, whatever the wall clock says', async (t) => {
  for (const step of [-30 * dayMs, -3_600_000, 3_600_000, 30 * dayMs]) {
    const { office, clock, told } = await meet(t, {
      group_by: [],
      group_wait: '30s',
      group_interval: '1m',
      name: `pager ${step}`,
    });
    await office.dispatcher.accept(noticeOf(1));
    await office.turn();
    clock.jump(step);
    clock.advance(29_000);
    await office.turn();
    assert.deepEqual(told(), [], `a step of ${step}: too soon`);
    clock.advance(1_000);
    await office.turn();
    assert.deepEqual(told(), ['firing 1'], `a step of ${step}`);
    await office.dispatcher.accept(noticeOf(2));
    clock.advance(60_000);
    await office.turn();
    assert.deepEqual(told(), ['firing 1', 'firing 2'], `a step of ${step}, after the first`);
  }
});
