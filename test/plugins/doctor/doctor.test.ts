import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { LogCare } from 'svc/contracts/logs';
import { MetricsIngest } from 'svc/contracts/metricsdb';
import { startTestHost, type TestHost, useNoLeaks } from 'svc/testing';
import { WebSocket } from 'ws';

import { FakeModel } from '../../../plugins/model/cli/fake-model/fake-model.ts';
import { openLogStore } from '../../../plugins/logs/store/store.ts';
import { edgeHouse, freshMachine, until } from '../edge/house.ts';
import { silent } from '../logs/fixture.ts';

interface Found {
  readonly subject: string;
  readonly area: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly fix: string | null;
}

async function found(house: TestHost, subject: string, thorough = false): Promise<Found> {
  const { items } = await house.json<{ items: readonly Found[] }>(
    `/api/v1/doctor?thorough=${thorough}`,
  );
  assert.ok(items.every(({ verdict, fix }) => (verdict === 'ok') === (fix === null)));
  return items.find((item) => item.subject === subject)!;
}

const minuteMs = 60_000;

test('stores near their bounds, and a block that is damaged', { timeout: 120_000 }, async (t) => {
  const now = Date.now();
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-doctor-'));
  const before = await openLogStore({
    folder: join(dataDir, 'plugins/logs'),
    log: silent,
    now: () => Date.now(),
  });
  const rows = Array.from({ length: 16 }, (_, at) => [
    `${now - minuteMs + at}000000`,
    randomBytes(60_000).toString('base64'),
  ]);
  await before.push(
    'loki-json',
    Buffer.from(JSON.stringify({ streams: [{ stream: { app: 'noise' }, values: rows }] })),
    {},
  );
  await before.flush();
  await before.close();
  const house = await startTestHost(t, {
    plugins: ['doctor', 'programs', 'metricsdb', 'logs', 'traces', 'setting'],
    dataDir,
  });
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  useNoLeaks(t, house);
  const set = (category: string, key: string, value: unknown) =>
    house.json(`/api/v1/system-settings/${category}/${key}`, {
      method: 'PUT',
      body: JSON.stringify({ value }),
    });
  for (const store of ['metrics store', 'log store', 'trace store']) {
    assert.equal((await found(house, store)).verdict, 'ok', store);
  }
  await house.service(MetricsIngest).write(
    Array.from({ length: 10 }, (_, lane) => ({
      labels: { __name__: 'heat', lane: String(lane) },
      time: now,
      value: 1,
    })),
  );
  await set('metricsdb', 'max_series', 10);
  const series = await until('series are counted', async () => {
    const one = await found(house, 'metrics store');
    return one.verdict === 'warn' && one;
  });
  assert.match(
    series.detail,
    /^holds 1\d of the 10 series that metricsdb\.max_series allows: beyond it samples of new series are refused/,
  );
  assert.match(series.fix!, /raise metricsdb\.max_series/);

  await set('logs', 'retention_bytes', 1_048_576);
  const bytes = await until('a block is as large as all may be', async () => {
    const one = await found(house, 'log store');
    return one.verdict !== 'ok' && one;
  });
  assert.match(
    bytes.detail,
    /^holds \d+ of the 1048576 bytes of lines that logs\.retention_bytes allows/,
  );

  const folder = join(house.dataDir, 'plugins/logs/blocks');
  const block = join(folder, readdirSync(folder)[0]!);
  const whole = readFileSync(block);
  whole[12]! ^= 0xff;
  writeFileSync(block, whole);
  await house.service(LogCare).check();
  const damaged = await found(house, 'log store');
  assert.equal(damaged.verdict, 'fail');
  assert.match(damaged.detail, /^a part cannot be read: .*does not hold what was written/);
  assert.match(damaged.fix!, /backup/);
});

test('a store elsewhere that does not answer', async (t) => {
  const environment = {
    SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
    SVC_LOGSTORE_URL: 'http://127.0.0.1:9',
  };
  const house = await startTestHost(t, { plugins: ['doctor', 'logs'], environment });
  const away = await found(house, 'log store');
  assert.equal(away.verdict, 'fail');
  assert.match(away.detail, /^does not answer/);
  assert.match(away.fix!, /logs\.remote_url/);
});

test('edges that come and go', async (t) => {
  const { house, create, simulate } = await edgeHouse(t, {
    plugins: ['doctor', 'edge', 'device', 'topology'],
  });
  const flapping = await create('flapper');
  for (let time = 0; time < 7; time++) {
    const { session } = await simulate(flapping);
    await session.close();
  }
  const flaps = await until('it flaps', async () => {
    const one = await found(house, 'edges');
    return one.verdict !== 'ok' && one;
  });
  assert.match(flaps.detail, /^flapper came back at least six times within the hour$/);
  assert.match(flaps.fix!, /journalctl -u svc-edge/);
});

test('a host whose clock is off, and hosts that agree that this one is', async (t) => {
  const { house, create, simulate } = await edgeHouse(t, {
    plugins: ['doctor', 'edge', 'device', 'topology'],
  });
  const hourMs = 3_600_000;
  const connected = async (number: number, offMs: number): Promise<void> =>
    void (await simulate(await create(`web-${number}`), {
      machine: freshMachine(),
      now: () => Date.now() + offMs,
    }));
  await connected(1, 0);
  assert.equal((await found(house, 'edges')).verdict, 'ok');
  await connected(2, hourMs);
  const one = await found(house, 'edges');
  assert.deepEqual(
    [one.verdict, one.detail],
    ['warn', 'the clocks of web-2 are more than 10 s off'],
  );
  await connected(3, hourMs);
  await connected(4, hourMs);
  const all = await found(house, 'edges');
  assert.equal(all.verdict, 'fail');
  assert.match(
    all.detail,
    /^the clock of this machine is about 3\d{3} s behind, compared with 3 of 4 hosts$/,
  );
  assert.match(all.fix!, /NTP/);
});

test('a model that calls no tools, and none at all', async (t) => {
  const house = await startTestHost(t, { plugins: ['doctor', 'model'] });
  assert.match(
    (await found(house, 'model')).detail,
    /^no model is available, so agents do not answer/,
  );
  const fake = await FakeModel.start({ rules: [{ reply: { text: 'I cannot.' } }] });
  t.after(() => fake.close());
  const environment = {
    SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1',
    SVC_LLM_COMPATIBLE_BASE_URL: fake.url,
    SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
  };
  const other = await startTestHost(t, { plugins: ['doctor', 'model'], environment });
  assert.deepEqual(
    [(await found(other, 'model')).verdict, fake.requests.length],
    ['ok', 0],
    'nothing is charged unless that is asked for',
  );
  const poor = await found(other, 'model', true);
  assert.equal(poor.verdict, 'fail');
  assert.match(
    poor.detail,
    /^compatible\/demo: .*does not call tools when asked to; agents can only chat with it/,
  );
  assert.match(poor.fix!, /llm\.default_model/);
});

test('a probe opens an echo for a minute, and nothing without one', async (t) => {
  const house = await startTestHost(t, { plugins: ['doctor'] });
  useNoLeaks(t, house);
  const { probe } = await house.json<{ probe: string }>('/api/v1/doctor/probes', {
    method: 'POST',
  });
  const stream = await fetch(`${house.url}/api/v1/doctor/probes/${probe}/stream`);
  assert.deepEqual(
    [...(await stream.text()).matchAll(/^data: (\w+)$/gm)].map(([, word]) => word),
    ['one', 'two', 'three'],
  );
  const socket = new WebSocket(
    `${house.url.replace('http', 'ws')}/api/v1/doctor/probes/${probe}/socket`,
  );
  const echo = await new Promise<string>((resolve, reject) => {
    socket.once('open', () => socket.send('hello'));
    socket.once('message', (data: Buffer) => resolve(data.toString()));
    socket.once('error', reject);
  });
  assert.equal(echo, 'hello');
  const unknown = 'x'.repeat(32);
  assert.equal((await fetch(`${house.url}/api/v1/doctor/probes/${unknown}/stream`)).status, 404);
  assert.equal((await fetch(`${house.url}/api/v1/doctor/probes`, { method: 'POST' })).status, 401);
  for (let open = 1; open < 16; open++) {
    await house.json('/api/v1/doctor/probes', { method: 'POST' });
  }
  assert.equal((await house.fetch('/api/v1/doctor/probes', { method: 'POST' })).status, 429);
});
