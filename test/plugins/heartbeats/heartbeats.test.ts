import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { AlertEvaluator } from 'svc/contracts/alert';
import { startTestHost } from 'svc/testing';

import {
  countedAfterAway,
  type Pace,
  type Reports,
  standingAt,
} from '../../../plugins/heartbeats/heartbeat/heartbeat.ts';
import { HandClock } from '../alert/engine-house.ts';

const minute = 60_000;
const hour = 60 * minute;
const path = '/api/v1/heartbeats';
const send = (body: object, method = 'POST'): RequestInit => ({
  method,
  body: JSON.stringify(body),
});

const pace: Pace = { periodMs: hour, cron: null, timeZone: 'UTC', graceMs: 10 * minute };
const reports: Reports = { countedFrom: 0, startedAt: null, failure: null };

test('a job is late after its period, and down after its grace', () => {
  const state = (now: number, more: Partial<Reports> = {}, other: Partial<Pace> = {}): string =>
    standingAt({ ...pace, ...other }, { ...reports, ...more }, now).state;
  assert.equal(state(0, { countedFrom: null }), 'waiting');
  assert.equal(state(59 * minute), 'up');
  assert.equal(state(60 * minute), 'late');
  assert.equal(state(70 * minute), 'down');
  assert.equal(state(minute, { failure: 'the job reported exit code 3' }), 'down');
  assert.equal(state(minute, { startedAt: 0 }), 'running');
  assert.equal(state(10 * minute, { startedAt: 0 }), 'down');
  assert.equal(state(minute, { startedAt: 0, countedFrom: null }), 'running');

  const nightly = { periodMs: null, cron: '15 2 * * *', timeZone: 'Europe/Berlin' };
  const at = Date.UTC(2026, 9, 24, 0, 20);
  const next = standingAt({ ...pace, ...nightly }, { ...reports, countedFrom: at }, at);
  // That night the clocks go back, and show 2:15 twice: the first is meant.
  assert.equal(new Date(next.expectedAt!).toISOString(), '2026-10-25T00:15:00.000Z');
});

test('what was due while svc was away counts from its return', () => {
  const away = { from: 50 * minute, until: 5 * hour };
  assert.equal(countedAfterAway(pace, 0, away), away.until);
  // Down before it left, and not due before it came back.
  assert.equal(countedAfterAway(pace, -2 * hour, away), -2 * hour);
  assert.equal(
    countedAfterAway(pace, 49 * minute, { from: 50 * minute, until: 55 * minute }),
    49 * minute,
  );
});

test('a job reports to its address, is missed, and comes back; a restart forgets nothing', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-heartbeats-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const clock = new HandClock();
  const options = {
    plugins: ['device', 'topology', 'metricsdb', 'alert', 'heartbeats'],
    clock,
    dataDir,
  };
  const house = await startTestHost(t, options);
  const { url } = await house.json(path, send({ name: 'backup', period_s: 3_600, grace_s: 60 }));
  const address = url.slice(url.indexOf('/hb/'));
  assert.match(address, /^\/hb\/[\w-]{32,}$/);
  const report = (end = '', init: RequestInit = {}): Promise<Response> =>
    fetch(house.url + address + end, init);
  const state = async () => (await house.json(`${path}/backup`)).state;

  assert.equal(await state(), 'waiting');
  clock.advance(24 * hour);
  assert.equal(await state(), 'waiting', 'nothing is expected before the first report');

  assert.equal((await report('/start')).status, 200);
  assert.equal(await state(), 'running');
  clock.advance(5_000);
  const ended = await report('/0', { method: 'POST', body: 'copied 7 files\n\u001b[31mred' });
  assert.deepEqual([ended.status, await ended.text()], [200, 'OK\n']);
  assert.equal(await state(), 'up');
  const { items } = await house.json(`${path}/backup/logs`);
  assert.deepEqual(
    [items[0].kind, items[0].exit_code, items[0].duration_ms, items[0].log],
    ['success', 0, 5_000, 'copied 7 files\n[31mred'],
  );
  assert.equal((await house.json(`${path}/backup/pings`)).items[0].log, null);

  assert.equal((await report('/3')).status, 200);
  const failed = await house.json(`${path}/backup`);
  assert.deepEqual([failed.state, failed.cause], ['down', 'the job reported exit code 3']);
  assert.equal((await report()).status, 200);
  assert.equal(await state(), 'up');

  clock.advance(hour + 2 * minute);
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  assert.equal(await state(), 'down');
  for (let round = 0; round < 3; round++) {
    clock.advance(5_000);
    await house.service(AlertEvaluator).tick();
  }
  const incidents = (await house.json('/api/v1/alerts/incidents?status=active')).items;
  assert.deepEqual(
    incidents
      .filter(({ rule }: { rule: string }) => rule === 'heartbeat_missed')
      .map(({ summary }: { summary: string }) => summary),
    ['backup did not run as expected'],
  );

  for (const wrong of ['/hb/x', `${address}/maybe`, `${address}/256`]) {
    assert.equal((await fetch(house.url + wrong)).status, 404, wrong);
  }
  const resumed = await house.json(`${path}/backup`, send({ paused: false }, 'PATCH'));
  assert.equal(resumed.grace_s, 60, 'a change leaves what it omits');
  const second = await house.json(`${path}/backup/rotate`, send({}));
  assert.notEqual(second.url, url);
  assert.equal((await report()).status, 404);
  assert.equal((await house.json(`${path}/backup/address`)).url, second.url);
});
