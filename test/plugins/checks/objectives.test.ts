import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';

import { AlertEvaluator } from 'svc/contracts/alert';
import { startTestHost } from 'svc/testing';

import { budgetOf } from '../../../plugins/checks/objectives/budget.ts';
import { HandClock } from '../alert/engine-house.ts';
import { until } from '../edge/house.ts';

const [minute, day] = [60_000, 86_400_000];
const send = (body: object, method = 'POST'): RequestInit => ({
  method,
  body: JSON.stringify(body),
});

test('a budget is what the target leaves of the whole window, and says what it does not know', () => {
  const objective = { target: 99, days: 10 };
  const none = { up_ms: 0, down_ms: 0 };
  const at = (down: number, lastDown: number) =>
    budgetOf(
      objective,
      1,
      { up_ms: 5 * day - down, down_ms: down },
      { up_ms: day - lastDown, down_ms: lastDown },
    );
  assert.deepEqual(budgetOf(objective, 1, none, none), {
    state: 'unmeasured',
    uptime: null,
    measured_ms: 0,
    budget_ms: 0.1 * day,
    spent_ms: 0,
    budget_left: null,
    burn_rate: null,
  });
  assert.equal(budgetOf(objective, 0, none, none).state, 'unmeasured', 'no check is left');
  const quiet = at(0.025 * day, 0);
  assert.deepEqual(
    [quiet.state, quiet.uptime, quiet.budget_left, quiet.burn_rate],
    ['met', 99.5, 75, 0],
  );
  const hot = at(0.025 * day, 0.025 * day);
  assert.deepEqual([hot.state, hot.burn_rate!.toFixed(6)], ['at_risk', '2.500000']);
  const over = at(0.15 * day, 0);
  assert.deepEqual([over.state, over.budget_left!.toFixed(6)], ['spent', '-50.000000']);
  // Two checks may be down twice as long, one for the other as well.
  assert.equal(budgetOf(objective, 2, none, none).budget_ms, 0.2 * day);
});

test('an objective counts measured time; announced work is left out, a silence on an outage is not', async (t) => {
  let status = 200;
  const server = createServer((_request, response) => {
    response.writeHead(status).end();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const clock = new HandClock();
  const house = await startTestHost(t, {
    plugins: ['metricsdb', 'alert', 'checks'],
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' },
    clock,
  });
  const run = () => house.json('/api/v1/checks/web/run', send({}));
  const objective = () => house.json('/api/v1/objectives/web');
  /** Time passes as the check sees it: it is written down once a minute. */
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= minute) {
      clock.advance(Math.min(left, minute));
      await house.json('/api/v1/checks/web/uptime');
    }
  };
  const silence = (minutes: number, matchers: object[]) =>
    house.json(
      '/api/v1/alerts/silences',
      send({ matchers, duration: `${minutes}m`, reason: 'planned' }),
    );
  const ofCheck = [{ name: 'check', value: 'web' }];

  const refused = async (body: object) =>
    (await house.fetch('/api/v1/objectives', send(body))).status;
  assert.equal(await refused({ name: 'web', check: 'web', target: 99.9 }), 404, 'no such check');
  await house.json(
    '/api/v1/checks',
    send({
      name: 'web',
      group: 'shop',
      target: `http://127.0.0.1:${port}/`,
      interval_s: 86_400,
      retries: 0,
    }),
  );
  await run();
  assert.equal(await refused({ name: 'web', target: 99.9 }), 400, 'of nothing');
  assert.equal(await refused({ name: 'web', check: 'web', group: 'shop', target: 99.9 }), 400);
  assert.equal(await refused({ name: 'web', group: 'none', target: 99.9 }), 404);
  assert.equal(await refused({ name: 'web', check: 'web', target: 100 }), 400, 'no budget at all');
  await house.json('/api/v1/objectives', send({ name: 'web', check: 'web', target: 99, days: 1 }));
  await house.json('/api/v1/objectives', send({ name: 'all', group: 'shop', target: 99, days: 1 }));
  assert.equal(await refused({ name: 'web', check: 'web', target: 99.9 }), 409);

  await pass(10 * minute);
  status = 500;
  await run();
  await pass(5 * minute);
  const spent = await objective();
  assert.deepEqual(
    [spent.state, spent.checks, spent.spent_ms, spent.budget_ms, spent.uptime.toFixed(3)],
    ['at_risk', ['web'], 5 * minute, 0.01 * day, '66.667'],
  );
  assert.deepEqual((await house.json('/api/v1/objectives/all')).spent_ms, 5 * minute);

  // Who silences the outage does not make it planned work.
  await silence(2, ofCheck);
  await pass(2 * minute);
  assert.equal((await objective()).spent_ms, 7 * minute);

  // What is announced before does not count, up or down, nor does a silence of one rule cover anything.
  status = 200;
  await run();
  await silence(30, [{ name: 'rule', value: 'check_down' }, ...ofCheck]);
  await pass(3 * minute);
  const before = (await objective()).measured_ms;
  assert.equal(before, 20 * minute);
  await silence(10, ofCheck);
  await pass(2 * minute);
  status = 500;
  await run();
  await pass(5 * minute);
  const during = await objective();
  assert.deepEqual([during.spent_ms, during.measured_ms], [7 * minute, before]);
  const { spans } = await house.json('/api/v1/checks/web/uptime');
  const total = (field: string): number =>
    spans.reduce((sum: number, span: Record<string, number>) => sum + span[field]!, 0);
  assert.equal(total('maintenance_ms'), 7 * minute);
  // It counts again when the window is over, to the minute: the one that ends with it is none of it.
  await pass(4 * minute);
  assert.equal((await objective()).spent_ms, 9 * minute);

  const patched = await house.json('/api/v1/objectives/web', send({ target: 99.9 }, 'PATCH'));
  assert.deepEqual([patched.state, patched.days], ['spent', 1]);
  const { items } = await house.json('/api/v1/objectives');
  assert.deepEqual(
    items.map((one: { name: string; state: string }) => [one.name, one.state]),
    [
      ['all', 'at_risk'],
      ['web', 'spent'],
    ],
  );
  assert.equal((await house.fetch('/api/v1/objectives/all', { method: 'DELETE' })).status, 204);
  assert.equal((await house.json('/api/v1/objectives')).items.length, 1);
});

test('built-in rules report a budget that burns', async (t) => {
  let status = 200;
  const server = createServer((_request, response) => {
    response.writeHead(status).end();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const clock = new HandClock();
  const house = await startTestHost(t, {
    plugins: ['metricsdb', 'alert', 'checks'],
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' },
    clock,
  });
  const evaluator = house.service(AlertEvaluator);
  const reports = async (): Promise<boolean> => {
    clock.advance(250);
    await evaluator.tick();
    const { items } = await house.json('/api/v1/alerts/incidents');
    return JSON.stringify(items).includes('web spends its budget');
  };
  await house.json(
    '/api/v1/checks',
    send({ name: 'web', target: `http://127.0.0.1:${port}/`, interval_s: 86_400, retries: 0 }),
  );
  await house.json('/api/v1/checks/web/run', send({}));
  await house.json('/api/v1/objectives', send({ name: 'web', check: 'web', target: 99.9 }));
  assert.equal(await reports(), false);
  status = 500;
  await house.json('/api/v1/checks/web/run', send({}));
  await until('the rule reports the budget', reports, 60_000);
});
