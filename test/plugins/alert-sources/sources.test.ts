import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { settled } from '../imbridge/office.ts';
import { alert, pushOf, signature, sourceHouse } from './house.ts';

const hour = 3_600_000;
const hot = (instance: string, more: Record<string, string> = {}) => ({
  alertname: 'TooHot',
  instance,
  ...more,
});

test('an address is a secret: shown once, replaced at once, and a wrong one, a forged and a stale signature are answered alike', async (t) => {
  const { house, make, push, incidents, clock } = await sourceHouse(t);
  const { id, path } = await make({ key: 'prod' });
  const token = path.split('/').at(-1)!;
  const body = pushOf(alert('firing', hot('db-1')));
  for (const wrong of [
    'x',
    `${token}x`,
    token.slice(0, -1),
    token.toUpperCase(),
    'a'.repeat(100),
    'a'.repeat(3_000),
  ]) {
    assert.deepEqual(await push(`/api/v1/alert-sources/hooks/${wrong}`, body), {
      status: 401,
      text: '',
    });
  }
  assert.ok(!JSON.stringify(await house.json('/api/v1/alert-sources')).includes(token));
  const rotated = await house.json(`/api/v1/alert-sources/${id}/rotate`, {
    method: 'POST',
    body: '{}',
  });
  assert.equal((await push(path, body)).status, 401);
  const next = new URL(rotated.url).pathname;

  await house.json(`/api/v1/alert-sources/${id}`, {
    method: 'PUT',
    body: JSON.stringify({ signing_secret: 'grafana signs' }),
  });
  const text = JSON.stringify(body);
  const now = clock.now();
  const forged = [
    {},
    signature('another', text, now),
    signature('grafana signs', `${text} `, now),
    signature('grafana signs', text, now - 6 * 60_000),
    signature('grafana signs', text, now + 6 * 60_000),
    {
      ...signature('grafana signs', text, now),
      'x-grafana-alerting-timestamp': String(Math.floor(now / 1_000) - 1),
    },
    {
      'x-grafana-alerting-signature': signature('grafana signs', text, now)[
        'x-grafana-alerting-signature'
      ]!,
    },
  ];
  for (const headers of forged) {
    assert.deepEqual(await push(next, text, headers), { status: 401, text: '' });
  }
  assert.equal((await incidents()).length, 0);
  assert.equal((await push(next, text, signature('grafana signs', text, now))).status, 200);
  assert.equal((await incidents()).length, 1);
  await house.json(`/api/v1/alert-sources/${id}`, {
    method: 'PUT',
    body: JSON.stringify({ signing_secret: '••••', enabled: false }),
  });
  assert.equal((await push(next, text, signature('grafana signs', text, now))).status, 401);
  assert.equal(
    house.lines.filter((line) => line.includes(token)).length,
    0,
    'no log line has the secret',
  );
});

test('alerts of Grafana are grouped by what the source says, raised and lowered, and joined and left in the timeline', async (t) => {
  const { house, make, push, incidents, timeline } = await sourceHouse(t);
  const { path } = await make({ key: 'grafana', dimensions: [], default_severity: 'info' });
  const grafana = (status: 'firing' | 'resolved', host: string, more: object = {}) => ({
    ...alert(
      status,
      { alertname: 'Disk', grafana_folder: 'Hosts', host },
      { summary: `disk of ${host}` },
    ),
    values: { B: 97 },
    valueString: "[ var='B' labels={} value=97 ]",
    dashboardURL: 'https://grafana.example/d/1',
    panelURL: 'javascript:alert(1)',
    ...more,
  });
  assert.equal(
    (
      await push(path, {
        ...pushOf(grafana('firing', 'a'), grafana('firing', 'b')),
        orgId: 1,
        title: 'x',
        state: 'alerting',
      })
    ).status,
    200,
  );
  const [incident] = await incidents();
  assert.deepEqual(
    [incident.severity, incident.firing_instances, incident.annotations.dashboard_url],
    ['info', 2, 'https://grafana.example/d/1'],
  );
  assert.equal(incident.annotations.panel_url, undefined);
  assert.match(incident.annotations.values, /value=97/);
  // b is over; a is not spoken of, and stays.
  assert.deepEqual(JSON.parse((await push(path, pushOf(grafana('resolved', 'b')))).text), {
    firing: 0,
    resolved: 1,
    skipped: 0,
    left_out: 0,
  });
  assert.deepEqual(
    [(await incidents())[0].status, (await incidents())[0].firing_instances],
    ['open', 1],
  );
  await push(path, pushOf(grafana('resolved', 'a')));
  assert.deepEqual(
    (await timeline(incident.id)).filter((type) => !type.startsWith('notification')),
    ['firing', 'instances_changed', 'resolved'],
  );
  // What is over may fire again, and be over again; told twice as over is told once.
  await push(path, pushOf(grafana('firing', 'a')));
  await push(path, pushOf(grafana('resolved', 'a'), grafana('resolved', 'never')));
  await push(path, pushOf(grafana('resolved', 'a')));
  const types = (await timeline(incident.id)).filter(
    (type) => !type.startsWith('notification') && type !== 'repeat_suppressed',
  );
  assert.deepEqual(types.slice(3), ['reopened', 'firing', 'resolved']);
  assert.equal((await incidents()).length, 1);
  // One that a person has resolved stays so while it is told again.
  await push(path, pushOf(grafana('firing', 'a')));
  await house.json(`/api/v1/alerts/incidents/${incident.id}/resolve`, {
    method: 'POST',
    body: '{}',
  });
  await push(path, pushOf(grafana('firing', 'a')));
  assert.equal((await incidents())[0].status, 'resolved');
});

test('a device that is watched here gives its incidents its own scope; silences by label mute alerts of others too', async (t) => {
  const { house, sent, make, push, incidents, timeline } = await sourceHouse(t);
  const { path } = await make({ key: 'prod' });
  await house.json('/api/v1/alerts/silences', {
    method: 'POST',
    body: JSON.stringify({
      matchers: [{ name: 'team', op: '=', value: 'db' }],
      duration: '1h',
      reason: 'work',
    }),
  });
  await push(
    path,
    pushOf(
      alert('firing', hot('x', { device_id: '7', severity: 'critical' })),
      alert('firing', hot('y', { team: 'db', severity: 'critical' })),
    ),
  );
  const [scoped, muted] = (await incidents()).toSorted((a, b) => a.id - b.id);
  assert.deepEqual(
    [scoped.scope_type, scoped.scope_id, scoped.device_id, muted.scope_type],
    ['host', '7', '7', 'global'],
  );
  await settled(() => sent.length > 0);
  await settled(async () => (await timeline(muted.id)).includes('repeat_suppressed'));
  assert.deepEqual(
    sent.map(({ incident }) => incident.id),
    [scoped.id],
  );
});

test('a restart ends no alert; what a source left is over with it, also when svc was away', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-sources-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const one = await sourceHouse(t, { dataDir });
  const { path } = await one.make({ key: 'prod', unheard_after: '2h' });
  const { id } = await one.make({ key: 'lab' });
  await one.push(path, pushOf(alert('firing', hot('a')), alert('firing', hot('b'))));
  one.clock.ahead += 1.5 * hour;
  await one.push(path, pushOf(alert('firing', hot('a'))));
  await one.house.stop();

  const two = await sourceHouse(t, { dataDir, ahead: one.clock.ahead + hour });
  const stateOf = async (instance: string): Promise<string> =>
    (await two.incidents()).find(({ labels }) => labels.instance === instance).status;
  assert.equal(await stateOf('b'), 'open', 'a restart ends nothing by itself');
  await two.house.reload('alert-sources');
  assert.deepEqual([await stateOf('a'), await stateOf('b')], ['open', 'open']);
  const instances = await two.house.json(
    `/api/v1/alerts/incidents/${(await two.incidents()).find(({ status }) => status === 'open').id}/instances`,
  );
  assert.equal(instances.items[0].state, 'firing');
  const lab = await two.house.json(`/api/v1/alert-sources/${id}/rotate`, {
    method: 'POST',
    body: '{}',
  });
  await two.push(new URL(lab.url).pathname, pushOf(alert('firing', hot('c'))));
  assert.equal(await stateOf('c'), 'open');
  const removed = await two.house.fetch(`/api/v1/alert-sources/${id}`, { method: 'DELETE' });
  assert.equal(removed.status, 204);
  assert.equal(await stateOf('c'), 'resolved');
});

test('what is not told again in time is over; a clock that is set and a time away end nothing that may burn', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-sources-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const one = await sourceHouse(t, { dataDir });
  const { path } = await one.make({ key: 'prod', unheard_after: '2h' });
  const burning = async ({ incidents }: typeof one): Promise<string[]> =>
    (await incidents())
      .filter(({ status }) => status === 'open')
      .map(({ labels }) => labels.instance);
  // At its start, and each minute.
  const upkeep = ({ house }: typeof one): Promise<unknown> => house.reload('alert-sources');

  await one.push(path, pushOf(alert('firing', hot('a'))));
  await one.push(path, pushOf(alert('firing', hot('b'))));
  for (const jump of [25 * hour, -25 * hour, 0]) {
    one.clock.jump = jump;
    await upkeep(one);
    assert.deepEqual(await burning(one), ['b', 'a'], `the wall was set by ${jump / hour} h`);
  }
  one.clock.ahead += 1.5 * hour;
  await one.push(path, pushOf(alert('firing', hot('a'))));
  one.clock.ahead += hour;
  await upkeep(one);
  assert.deepEqual(await burning(one), ['a']);
  const over = (await one.incidents()).find(({ labels }) => labels.instance === 'b');
  const { items } = await one.house.json(`/api/v1/alerts/incidents/${over.id}/events`);
  assert.match(
    items.find(({ type }: { type: string }) => type === 'resolved').message,
    /its source has not re-sent it/,
  );
  await one.house.stop();

  const two = await sourceHouse(t, { dataDir, ahead: one.clock.ahead + 72 * hour });
  await upkeep(two);
  assert.deepEqual(await burning(two), ['a'], 'its source could not tell it while svc was away');
  two.clock.ahead += 2.1 * hour;
  await upkeep(two);
  assert.deepEqual(await burning(two), []);
});

test('a resolve of before, that comes late, does not end what has begun to burn again', async (t) => {
  const { make, push, incidents } = await sourceHouse(t);
  const { path } = await make({ key: 'prod' });
  const told = (status: 'firing' | 'resolved', startsAt: string, endsAt = '0001-01-01T00:00:00Z') =>
    push(
      path,
      pushOf({
        ...alert(status, hot('a')),
        startsAt: `2026-11-20T${startsAt}Z`,
        endsAt: endsAt.length > 9 ? endsAt : `2026-11-20T${endsAt}Z`,
      }),
    );
  const status = async (): Promise<string> => (await incidents())[0].status;
  await told('firing', '10:00:00');
  await told('resolved', '10:00:00', '10:05:00');
  assert.equal(await status(), 'resolved');
  await told('firing', '10:06:00');
  await told('resolved', '10:00:00', '10:05:00');
  assert.equal(await status(), 'open');
  await told('resolved', '10:06:00', '10:05:59');
  assert.equal(await status(), 'resolved', 'the clock of the source was set');
  await told('firing', '09:00:00');
  await told('resolved', '09:00:00', '09:01:00');
  assert.equal(await status(), 'resolved');
});

test('a large push is stored in parts, between which others are served, and is all there once it is answered', async (t) => {
  const { house, make, push } = await sourceHouse(t);
  const { path } = await make({ key: 'prod' });
  const total = async (): Promise<number> =>
    (await house.json('/api/v1/alerts/incidents?limit=1')).total;
  const alerts = Array.from({ length: 700 }, (_, at) => alert('firing', hot(`host-${at}`)));
  const seen = new Set<number>();
  let isAnswered = false;
  const answer = push(path, pushOf(...alerts)).finally(() => (isAnswered = true));
  while (!isAnswered) {
    seen.add(await total());
  }
  assert.equal((await answer).status, 200);
  assert.ok((await total()) >= 700);
  assert.ok(
    [...seen].some((count) => count > 100 && count < 700),
    `seen: ${[...seen].join()}`,
  );
});

test('a body that is no push is refused, one wrong alert costs no other, and a flood is told to come back', async (t) => {
  const { house, make, push, incidents } = await sourceHouse(t);
  const { path } = await make({ key: 'prod' });
  for (const body of [
    '',
    'null',
    '[]',
    '{}',
    '{"alerts":{}}',
    '\u0000',
    JSON.stringify({ alerts: Array.from({ length: 2_001 }, () => ({})) }),
  ]) {
    const { status, text } = await push(path, body);
    assert.deepEqual([status, /The push is invalid/.test(text)], [400, true], body.slice(0, 40));
  }
  assert.equal((await push(path, 'x'.repeat(4 * 1024 * 1024 + 1))).status, 413);
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`l${at}`, 'x']));
  const odd = [
    ...[
      null,
      7,
      {},
      { status: 'firing' },
      { status: 'on fire', labels: hot('a') },
      alert('firing', { instance: 'a' }),
    ],
    ...[
      { ...alert('firing', hot('a')), labels: { alertname: 7 } },
      alert('firing', { ...hot('a'), ...many }),
    ],
  ];
  const right = alert('firing', hot('a', { __proto__x: 'y' }), {
    summary: '{{ $labels.instance }} @channel <script>\u0007\u202e',
    description: 'd'.repeat(9_000),
  });
  const { status, text } = await push(path, pushOf(...(odd as object[]), right));
  assert.deepEqual(
    [status, JSON.parse(text)],
    [200, { firing: 1, resolved: 0, skipped: odd.length, left_out: 0 }],
  );
  const [incident] = await incidents();
  assert.equal(
    incident.summary,
    '{{ $labels.instance }} @channel <script>',
    'text of strangers is no template',
  );
  assert.equal(incident.annotations.description.length, 4_000);

  // The same a hundred times at once is one incident that has fired once.
  const storm = await Promise.all(
    Array.from({ length: 100 }, () => push(path, pushOf(alert('firing', hot('storm'))))),
  );
  assert.ok(storm.every((answer) => answer.status === 200));
  const stormy = (await incidents()).filter(({ labels }) => labels.instance === 'storm');
  assert.deepEqual(
    stormy.map(({ event_count: count }) => count),
    [1],
  );
  let last = 200;
  for (let sent = 0; last === 200 && sent < 600; sent += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => push(path, pushOf())));
    last = Math.max(...answers.map((answer) => answer.status));
  }
  assert.equal(last, 503, 'senders come back after a 503 alone');
  assert.equal(
    (await house.fetch('/api/v1/alert-sources/prod/alerts', { method: 'POST', body: '{}' })).status,
    503,
  );
  assert.equal(
    (await house.fetch('/api/v1/alert-sources/other/alerts', { method: 'POST', body: '{}' }))
      .status,
    404,
  );
});
