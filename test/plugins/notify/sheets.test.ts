import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import type { NoticeInstance } from 'svc/contracts/notify';

import { startReceiver } from './fakes/receiver.ts';
import { noticeOf, openOffice } from './office.ts';

const instances = (count: number): readonly NoticeInstance[] =>
  Array.from({ length: count }, (_, at) => ({
    labels: { host: `h${at}`, zone: 'eu' },
    value: at,
    since: '2026-11-20T10:00:00.000Z',
  }));

async function meet(t: TestContext) {
  const office = await openOffice(t);
  const platform = await startReceiver(t);
  await office.channel({ channel_type: 'webhook', endpoint: platform.url });
  const hostsOf = (body: { incident: { instances?: readonly NoticeInstance[] } }) =>
    (body.incident.instances ?? []).map(({ labels }) => labels['host']);
  return { office, platform, hostsOf };
}

/** An incident of many instances, as the alert plugin notifies about it: with the first twenty. */
const crowd = (id: number, count: number) =>
  noticeOf(id, 'firing', {
    incident: { firing_instances: count, instances: instances(count).slice(0, 20) },
  });

test('a program is sent every instance of an incident, in as many requests as that takes', async (t) => {
  const { office, platform, hostsOf } = await meet(t);
  office.audible.set(1, instances(10_000));
  await office.dispatcher.accept(crowd(1, 10_000));
  await office.turn();
  const bodies = platform.taken.map(({ body }) => body);
  assert.ok(bodies.length > 3 && bodies.length < 30, `${bodies.length} requests`);
  assert.ok(platform.taken.every(({ text }) => text.length < 300 * 1024));
  assert.deepEqual(
    bodies.map(({ page }) => page),
    bodies.map((_, at) => ({ number: at + 1, more: at + 1 < bodies.length })),
  );
  assert.deepEqual(
    bodies.flatMap(hostsOf),
    instances(10_000).map(({ labels }) => labels['host']),
  );
  assert.ok(bodies.every(({ incident }) => incident.firing_instances === 10_000));
  assert.equal(
    new Set(platform.taken.map(({ headers }) => headers['idempotency-key'])).size,
    bodies.length,
  );
  assert.deepEqual(
    office.recorded.map(({ result }) => result),
    ['sent'],
  );
});

test('what fits into one request has no pages', async (t) => {
  const { office, platform, hostsOf } = await meet(t);
  office.audible.set(1, instances(21));
  await office.dispatcher.accept(crowd(1, 21));
  await office.turn();
  assert.equal(platform.taken.length, 1);
  assert.equal(platform.taken[0]!.body.page, undefined);
  assert.equal(hostsOf(platform.taken[0]!.body).length, 21);
});

test('a page that is refused is sent again with all others, under the keys that the receiver knows', async (t) => {
  const { office, platform, hostsOf } = await meet(t);
  office.audible.set(1, instances(2_500));
  await office.dispatcher.accept(crowd(1, 2_500));
  platform.next({ status: 204 }, { status: 503 });
  await office.turn();
  assert.deepEqual(office.recorded, [], 'not sent while a page is missing');
  await office.drain();
  const [first, refused] = platform.requests;
  const again = platform.taken[0]!;
  assert.equal(refused!.body.page.number, 2);
  assert.deepEqual(
    [again.headers['idempotency-key'], again.body.page],
    [first!.headers['idempotency-key'], { number: 1, more: true }],
  );
  assert.equal(platform.taken.flatMap(({ body }) => hostsOf(body)).length, 2_500);
});

test('a program is sent every incident of a digest, with all of its instances', async (t) => {
  const { office, platform, hostsOf } = await meet(t);
  office.audible.set(7, instances(450));
  for (let id = 1; id <= 600; id += 1) {
    await office.dispatcher.accept(id === 7 ? crowd(7, 450) : noticeOf(id));
  }
  await office.drain();
  const notices = platform.taken.flatMap(({ body }) => body.notices ?? [body]);
  assert.equal(new Set(notices.map(({ incident }) => incident.id)).size, 600);
  const hosts = notices.filter(({ incident }) => incident.id === 7).flatMap(hostsOf);
  assert.equal(new Set(hosts).size, 450);
});

test('a digest that has grown since it was refused is no repetition', async (t) => {
  const { office, platform } = await meet(t);
  for (let id = 1; id <= 7; id += 1) {
    await office.dispatcher.accept(noticeOf(id));
  }
  platform.next({ status: 500 });
  await office.turn();
  await office.dispatcher.accept(noticeOf(8));
  await office.drain();
  const keys = platform.requests
    .filter(({ body }) => body.event === 'digest')
    .map(({ headers }) => headers['idempotency-key']);
  assert.deepEqual([keys.length, new Set(keys).size], [2, 2]);
});
