import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';

import { startTestHost } from 'svc/testing';

import { peer } from '../../peers.ts';
import { HandClock } from '../alert/engine-house.ts';
import { until } from '../edge/house.ts';

const path = '/api/v1/checks';
const send = (body: object, method = 'POST'): RequestInit => ({
  method,
  body: JSON.stringify(body),
});

async function startSite(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const startHouse = (t: TestContext, clock = new HandClock()) =>
  startTestHost(t, {
    plugins: ['checks', 'metricsdb'],
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' },
    clock,
  });

test('an address is watched: its verdict, its series, and how long it was up', async (t) => {
  let [status, asked] = [200, ''];
  const site = await startSite(t, (request, response) => {
    asked = String(request.headers['x-key']);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end('{"state":"ok"}');
  });
  const clock = new HandClock();
  const house = await startHouse(t, clock);
  const made = await house.json(
    path,
    send({
      name: 'shop',
      kind: 'http',
      target: `${site}/health`,
      interval_s: 30,
      retries: 0,
      conditions: ['[STATUS] == 200', '[BODY].state == ok'],
      headers: { 'x-key': 'secret-7' },
    }),
  );
  assert.deepEqual(
    [made.state, made.header_names, JSON.stringify(made).includes('secret-7')],
    ['waiting', ['x-key'], false],
  );
  const up = await house.json(`${path}/shop/run`, send({}));
  assert.deepEqual([up.state, up.cause, asked], ['up', null, 'secret-7']);
  assert.deepEqual(up.readings[0].findings, [
    { condition: '[STATUS] == 200', holds: true, found: '200' },
    { condition: '[BODY].state == ok', holds: true, found: 'ok' },
  ]);

  status = 503;
  clock.advance(60_000);
  const down = await house.json(`${path}/shop/run`, send({}));
  assert.deepEqual([down.state, down.cause], ['down', '[STATUS] == 200 does not hold: 503']);
  clock.advance(30_000);
  status = 200;
  await house.json(`${path}/shop/run`, send({}));

  const seriesOf = async (): Promise<number> => {
    const query = encodeURIComponent('{check="shop"}');
    const { data } = await house.json(
      `/prometheus/api/v1/query?query=${query}&time=${clock.now() / 1_000}`,
    );
    return data.result.length;
  };
  await until('its series', async () => (await seriesOf()) > 5);

  const { ratio, measured_ms: measured, changes } = await house.json(`${path}/shop/uptime?days=1`);
  assert.deepEqual([measured, Math.round(ratio * 90)], [90_000, 60]);
  assert.deepEqual(
    changes.map(({ state }: { state: string }) => state),
    ['up', 'down', 'up'],
  );

  clock.advance(45_000);
  await until('a round at its time', async () =>
    /^svc_checks_round_delay_seconds_count 1$/m.test(await (await house.fetch('/metrics')).text()),
  );
  // Its samples are as old as its end: an end of the same moment would not be after them.
  await until(
    'the end of that round',
    async () => Date.parse((await house.json(`${path}/shop`)).readings[0].at) === clock.now(),
  );
  clock.advance(1_000);
  const paused = await house.json(`${path}/shop`, send({ paused: true }, 'PATCH'));
  assert.deepEqual([paused.state, await seriesOf()], ['paused', 0]);
});

test('what a place may not reach, and a place that is away, say nothing about the target', async (t) => {
  const house = await startHouse(t);
  const { readings } = await house.json(
    `${path}/try`,
    send({ kind: 'tcp', target: '10.1.2.3:80', places: ['svc', 'agent:gone'] }),
  );
  assert.equal(readings[0].state, 'offline');
  assert.match(readings[0].cause, /outbound\.allow_private/);
  assert.deepEqual([readings[1].state, readings[1].cause], ['offline', 'there is no agent gone']);
});

test('a host is pinged with the program of the system', async (t) => {
  if (peer(t, 'ping') === undefined) {
    return;
  }
  const house = await startTestHost(t, {
    plugins: ['programs', 'checks'],
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' },
  });
  const { success, readings } = await house.json(
    `${path}/try`,
    send({ target: '127.0.0.1', ip: '4' }),
  );
  assert.equal(success, true, readings[0].cause);
  assert.ok(readings[0].phases.rtt >= 0 && readings[0].address === '127.0.0.1');
});

test('a target with a secret in it is shown without, and probed with it also after a change', async (t) => {
  const asked: string[] = [];
  const site = await startSite(t, (request, response) => {
    asked.push(String(request.url));
    response.writeHead(302, { location: '/next?session=s-7Q' }).end();
  });
  const house = await startHouse(t);
  const target = `${site}/health?token=t-7Q&page=2`;
  const draft = {
    name: 'shop',
    target,
    retries: 0,
    max_redirects: 1,
    conditions: ['[URL] == nowhere', '[STATUS] == 302'],
  };
  const made = await house.json(path, send(draft));
  assert.equal(made.target, `${site}/health?token=••••&page=2`);
  await house.json(
    `${path}/shop`,
    send({ target: made.target, interval_s: 90, max_redirects: 0 }, 'PATCH'),
  );
  const run = await house.json(`${path}/shop/run`, send({}));
  assert.equal(run.readings[0].findings[0].found, `${site}/health?token=••••&page=2`);
  const audit = await (await house.fetch('/metrics')).text();
  assert.equal(JSON.stringify([made, run, audit]).includes('t-7Q'), false);
  assert.equal(asked.at(-1), '/health?token=t-7Q&page=2');
  const changed = await house.json(`${path}/shop`, send({ target: `${site}/other` }, 'PATCH'));
  assert.equal(changed.target, `${site}/other`);
});
