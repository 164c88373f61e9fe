import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test, type TestContext } from 'node:test';

import { type Background, NoticeDispatcher, type NoticeInstances } from 'svc/contracts/notify';
import { startTestHost } from 'svc/testing';

import { PageLinks } from '../../../plugins/notify/message/page-link.ts';
import { silent } from '../../storage/folder.ts';
import { startReceiver } from './fakes/receiver.ts';
import { noticeOf, openOffice, testClock } from './office.ts';

const day = 86_400_000;
const evil = '</td><script>alert(1)</script><img src=x onerror=alert(2)>"\'';

async function pageHouse(t: TestContext) {
  const clock = testClock();
  const backgrounds = new Map<number, Background>();
  const instances: NoticeInstances['items'][number][] = [];
  const alerts = {
    record: async () => undefined,
    pinning: async () => [],
    burning: async () => [],
    background: async (id: number) => backgrounds.get(id),
    instances: async (_id: number, { from, limit }: { from: number; limit: number }) => ({
      items: instances.slice(from, from + limit),
      total: instances.length,
    }),
  };
  const house = await startTestHost(t, {
    plugins: ['notify'],
    services: { 'alert.notices': alerts },
    clock,
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.0/8' },
  });
  const platform = await startReceiver(t);
  const draft = {
    name: 'Ops',
    channel_type: 'webhook',
    endpoint: platform.url,
    group_by: [],
    group_wait: '0s',
    group_interval: '0s',
  };
  await house.json('/api/v1/notification-channels', {
    method: 'POST',
    body: JSON.stringify(draft),
  });
  /** Sends notices, and resolves with the path that the message links to. */
  const linkTo = async (...ids: readonly number[]): Promise<string> => {
    const before = platform.taken.length;
    await house
      .service(NoticeDispatcher)
      .accept(
        ...ids.map((id) =>
          noticeOf(id, 'firing', { fire_seq: before + 1, incident: { summary: `CPU of ${evil}` } }),
        ),
      );
    while (platform.taken.length === before) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return new URL(platform.taken.at(-1)!.body.link).pathname;
  };
  /** Opens a page like a browser that has never signed in. */
  const open = async (path: string) => {
    const answer = await fetch(house.url + path);
    return { status: answer.status, headers: answer.headers, html: await answer.text() };
  };
  return { clock, backgrounds, instances, linkTo, open };
}

test('the link of a message opens a page of its incident for who is not signed in, with nothing that runs or loads', async (t) => {
  const { clock, backgrounds, linkTo, open } = await pageHouse(t);
  const { incident } = noticeOf(1, 'firing', {
    incident: {
      summary: `CPU of ${evil}`,
      labels: { evil },
      annotations: { description: evil },
      runbook_url: 'https://wiki.example/cpu',
    },
  });
  const hour = Array.from(
    { length: 60 },
    (_, minute) => [clock.now() - (60 - minute) * 60_000, minute] as const,
  );
  backgrounds.set(1, {
    incident,
    hour,
    steps: [`Restart ${evil}`],
    beside: [],
    acknowledged_by: 'ann@example.org',
  });
  const path = await linkTo(1);
  const { status, headers, html } = await open(path);
  assert.deepEqual(
    [status, headers.get('content-type'), headers.get('cache-control')],
    [200, 'text/html; charset=utf-8', 'no-store'],
  );
  assert.doesNotMatch(html, /<script|<img|onerror=alert\(2\)>/);
  assert.match(html, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/);
  assert.match(html, /<a rel="noreferrer" href="https:\/\/wiki\.example\/cpu">/);
  assert.match(html, /<svg[^]*<polyline points="24\.0,[\d. ,]+"/);
  assert.match(html, /acknowledged by ann@example\.org/);
  const style = /<style>([^]*)<\/style>/.exec(html)![1]!;
  const hash = createHash('sha256').update(style).digest('base64');
  assert.equal(
    headers.get('content-security-policy'),
    `default-src 'none'; style-src 'sha256-${hash}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
  );

  backgrounds.set(1, {
    incident: { ...incident, status: 'resolved', resolved_at: '2026-11-20T10:10:00.000Z' },
    steps: ['x'],
    beside: [],
  });
  const over = await open(path);
  assert.match(over.html, /<h1 class="good">\[RESOLVED\] warning: no longer on device 1/);
  backgrounds.clear();
  assert.equal((await open(path)).status, 503);
});

test('a link opens its own page only, and for a week', async (t) => {
  const { clock, backgrounds, linkTo, open } = await pageHouse(t);
  const path = await linkTo(1);
  backgrounds.set(1, { incident: noticeOf(1).incident, steps: [], beside: [] });
  backgrounds.set(2, { incident: noticeOf(2).incident, steps: [], beside: [] });
  const [head, body, mac] = /^(.*\/)([\w-]+)\.([\w-]+)$/.exec(path)!.slice(1) as [
    string,
    string,
    string,
  ];
  const other = Buffer.from(
    Buffer.from(body, 'base64url').toString().replace(/^i1/, 'i2'),
  ).toString('base64url');
  assert.notEqual(other, body);
  for (const forged of [
    `${other}.${mac}`,
    `${body}.${mac.slice(0, -2)}AA`,
    `${body}.${'A'.repeat(43)}`,
  ]) {
    assert.deepEqual([forged, (await open(head + forged)).status], [forged, 404]);
  }
  assert.equal((await open(path)).status, 200);
  clock.advance(7 * day + 2_000);
  assert.equal((await open(path)).status, 410);
});

test('the link of a digest opens a page that names everything in it, each with its own page', async (t) => {
  const { backgrounds, linkTo, open } = await pageHouse(t);
  backgrounds.set(12, { incident: noticeOf(12).incident, steps: [], beside: [] });
  const { status, html } = await open(
    await linkTo(...Array.from({ length: 60 }, (_, index) => index + 1)),
  );
  const links = [...html.matchAll(/<li><a href="[^"]*(\/api\/v1\/incident-pages\/[^"]+)">/g)].map(
    ([, link]) => link!,
  );
  assert.deepEqual([status, links.length], [200, 60]);
  assert.doesNotMatch(html, /<script|<img/);
  assert.equal((await open(links[11]!)).status, 200);
});

test('all that a message only counts is reached from its link, with its labels: incidents of a digest, instances of an incident', async (t) => {
  const { backgrounds, instances, linkTo, open } = await pageHouse(t);
  /** Returns labels over all pages, following the link to the next. */
  const reached = async (path: string, name: string): Promise<string[]> => {
    const found: string[] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      const { status, html } = await open(next);
      assert.equal(status, 200, next);
      found.push(
        ...[...html.matchAll(new RegExp(`<li>[^]*?\\b${name}=(\\w+)`, 'g'))].map(
          ([, value]) => value!,
        ),
      );
      const more: string | undefined = /<a rel="next" href="(\?from=\d+)">/.exec(html)?.[1];
      next = more && path + more;
    }
    return found;
  };
  const many = Array.from({ length: 1_200 }, (_, index) => index + 1);
  const digest = await linkTo(...many);
  assert.deepEqual(
    (await reached(digest, 'device_id')).toSorted((a, b) => Number(a) - Number(b)),
    many.map(String),
  );
  backgrounds.set(7, { incident: noticeOf(7).incident, steps: [], beside: [] });
  instances.push(
    ...many.map((unit) => ({
      labels: { unit: `u${unit}`, evil },
      state: 'firing',
      value: unit,
      since: '2026-11-20T09:59:00.000Z',
    })),
  );
  const one = await linkTo(7);
  assert.deepEqual(
    await reached(one, 'unit'),
    many.map((unit) => `u${unit}`),
  );
  assert.doesNotMatch((await open(one)).html, /<script|<img/);
});

test('a link key of a lost master key is replaced once, and messages go on', async (t) => {
  const { tables, storage, clock } = await openOffice(t);
  const complaints: string[] = [];
  const log = {
    ...silent,
    error: (_fields: object, message: string) => void complaints.push(message),
  };
  const parts = {
    tables,
    secrets: storage.secrets('notify'),
    ids: { token: () => randomBytes(32).toString('base64url') },
    log,
  };
  const first = await PageLinks.open(parts);
  await tables.write((tx) =>
    tx
      .updateTable('notify_page_keys')
      .set({ key: 'v1.00000000.AAAAAAAAAAAAAAAA.AAAA.AAAAAAAAAAAAAAAAAAAAAA' })
      .execute(),
  );
  const second = await PageLinks.open(parts);
  const third = await PageLinks.open(parts);
  const link = second.sign({ incident: 7 }, clock.now());
  assert.deepEqual(third.open(link, clock.now()), { result: 'open', target: { incident: 7 } });
  assert.deepEqual(third.open(first.sign({ incident: 7 }, clock.now()), clock.now()), {
    result: 'forged',
  });
  assert.equal(complaints.length, 1);
});
