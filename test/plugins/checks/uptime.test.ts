import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';

import { startTestHost } from 'svc/testing';

import { badgeOf } from '../../../plugins/checks/uptime/badge.ts';
import { HandClock } from '../alert/engine-house.ts';

const path = '/api/v1/checks';
const send = (body: object, method = 'POST'): RequestInit => ({
  method,
  body: JSON.stringify(body),
});

test('checks of a group have an uptime of their own; a badge is public only where its author wants it', async (t) => {
  let status = 200;
  const server = createServer((_request, response) => {
    response.writeHead(status).end();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const clock = new HandClock();
  const house = await startTestHost(t, {
    plugins: ['checks'],
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' },
    clock,
  });
  const create = (name: string, more: object) =>
    house.json(
      path,
      send({ name, target: `http://127.0.0.1:${port}/`, interval_s: 86_400, retries: 0, ...more }),
    );
  const run = (name: string) => house.json(`${path}/${name}/run`, send({}));
  await create('web', { group: 'shop', badge: true });
  await create('pay', { group: 'shop' });
  await create('mail', {});
  for (const name of ['web', 'pay', 'mail']) {
    await run(name);
  }
  clock.advance(60_000);
  status = 500;
  await run('pay');
  clock.advance(60_000);

  const { items } = await house.json('/api/v1/check-groups');
  assert.deepEqual(
    items.map((item: { group: string; state: string; checks: number; down: string[] }) => [
      item.group,
      item.state,
      item.checks,
      item.down,
    ]),
    [
      ['', 'up', 1, []],
      ['shop', 'down', 2, ['pay']],
    ],
  );
  // Two checks in two minutes, one of them down for the second one.
  for (const range of ['day', 'week', 'month', 'year']) {
    assert.equal(items[1].uptime[range].toFixed(3), '0.750', range);
  }

  const stranger = (target: string): Promise<Response> =>
    fetch(`${house.url}/badges/checks/${target}`);
  const badge = await stranger('web');
  assert.deepEqual(
    [badge.status, badge.headers.get('content-type'), badge.headers.get('cache-control')],
    [200, 'image/svg+xml', 'public, max-age=60'],
  );
  assert.match(await badge.text(), /<title>web: up<\/title>/);
  assert.match(await (await stranger('web?show=uptime&days=7')).text(), /web: 100 % in 7 d/);
  assert.match(await (await stranger('web?label=The%20shop')).text(), /<title>The shop: up</);
  const [hidden, unknown] = [await stranger('pay'), await stranger('pax')];
  assert.deepEqual([hidden.status, unknown.status], [404, 404]);
  assert.equal(
    ((await hidden.json()) as { message: string }).message.replace('pay', 'pax'),
    ((await unknown.json()) as { message: string }).message,
    'whether a check exists is not told',
  );
  await house.json(`${path}/web`, send({ badge: false }, 'PATCH'));
  assert.equal((await stranger('web')).status, 404);
});

test('a badge is never better than what was measured, and a label is text', () => {
  assert.match(badgeOf({ label: 'x', ratio: 0.999_999, days: 30 }), /x: 99\.999 % in 30 d/);
  assert.match(badgeOf({ label: 'x', ratio: null, days: 1 }), /x: no data in 24 h/);
  const hostile = badgeOf({ label: '"><script>alert(1)</script>\u0000', state: 'up' });
  assert.doesNotMatch(hostile, /<script|\p{Cc}(?!$)/u);
});
