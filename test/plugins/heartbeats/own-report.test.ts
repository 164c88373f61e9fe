import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { startTestHost, type TestHost } from 'svc/testing';

import { OwnReport } from '../../../plugins/heartbeats/own-report.ts';
import { HandClock } from '../alert/engine-house.ts';

const minute = 60_000;
const path = '/api/v1/heartbeats';
const send = (body: object, method = 'POST'): RequestInit => ({
  method,
  body: JSON.stringify(body),
});

async function until(what: string, is: () => Promise<boolean>): Promise<void> {
  for (let look = 0; look < 600; look++) {
    if (await is()) {
      return;
    }
    await pause(100);
  }
  assert.fail(`it never came to this: ${what}`);
}

test('a second svc notices that the first one has stopped, by one address and nothing else', async (t) => {
  const clock = new HandClock();
  const watcher = await startTestHost(t, { plugins: ['heartbeats'], clock });
  const state = async (): Promise<string> => (await watcher.json(`${path}/first-svc`)).state;
  const { url } = await watcher.json(path, send({ name: 'first-svc', period_s: 60, grace_s: 60 }));
  const first = await startTestHost(t, {
    plugins: ['heartbeats', 'host'],
    environment: {
      SVC_HEARTBEATS_OWN_ADDRESS: watcher.url + url.slice(url.indexOf('/hb/')),
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1/32',
    },
  });
  await until('the first report is there', async () => (await state()) === 'up');
  assert.equal(await ownHealth(first), null);

  await first.stop();
  clock.advance(3 * minute);
  await until('the silence counts', async () => (await state()) === 'down');
});

test('an address that refuses is named by the health of svc, without its secret, until it responds', async (t) => {
  const watcher = await startTestHost(t, { plugins: ['heartbeats'] });
  const first = await startTestHost(t, {
    plugins: ['heartbeats', 'host'],
    environment: {
      SVC_HEARTBEATS_OWN_ADDRESS: `${watcher.url}/hb/not-an-address-of-this-svc`,
      SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1/32',
    },
  });
  await until('the failure is known', async () => (await ownHealth(first)) !== null);
  const detail = (await ownHealth(first))!;
  assert.match(detail, /heartbeats\.own_address was not reached: it responded with status 404/);
  assert.doesNotMatch(detail + first.lines.join(''), /not-an-address-of-this-svc/);
  assert.equal((await fetch(`${first.url}/readyz`)).status, 200, 'svc itself still works');
});

test('svc that is not ready reports a failure with its reasons, and repeats what was not taken', async () => {
  const clock = new HandClock();
  const asked: (readonly [path: string, body: string])[] = [];
  const problems = [{ plugin: 'metricsdb', label: 'the metrics store', detail: 'disk full' }];
  let [ok, status, address] = [true, 200, 'https://hc.example.org/abc/'];
  const own = new OwnReport({
    clock,
    log: { info: () => undefined, warn: () => undefined } as never,
    health: {
      check: async () => ({
        ok,
        checks: problems.map((one) => ({ ...one, ok, degraded: false, ms: 1 })),
      }),
    },
    fetch: async (url, { body }) => {
      asked.push([new URL(url).pathname, String(body)]);
      return { status, headers: {}, body: new Uint8Array(), url };
    },
    address: () => address,
    intervalMs: () => minute,
    reports: { add: () => undefined },
  });
  const after = async (ms: number): Promise<number> => {
    clock.advance(ms);
    await own.tick();
    return asked.length;
  };
  assert.equal(await after(0), 1);
  assert.equal(await after(minute - 1_000), 1, 'not before its time');
  ok = false;
  assert.equal(await after(1_000), 2);
  assert.deepEqual(asked[1], ['/abc/fail', 'metricsdb: the metrics store: disk full']);

  [ok, status] = [true, 500];
  assert.equal(await after(minute), 3);
  assert.match(own.status().detail!, /responded with status 500/);
  status = 200;
  assert.equal(await after(15_000), 4, 'what was not taken is repeated before the next is due');
  assert.deepEqual(own.status(), { ok: true });

  address = '';
  assert.equal(await after(minute), 4, 'without an address, nothing is sent');
  address = 'https://other.example.org/x';
  assert.equal(await after(0), 5, 'a new address is told at once');
});

/** What the health of the own report says while it fails. */
async function ownHealth(house: TestHost): Promise<string | null> {
  const { items } = await house.json('/api/v1/health');
  return items.find(({ label }: { label: string }) => label === 'own heartbeat').detail;
}
