import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';

import type { Order, Reading } from 'svc/check';
import type { EdgeMethod } from 'svc/contracts/edge-uplink';
import { EdgeMethods } from 'svc/contracts/edge-uplink';
import { AlertEvaluator } from 'svc/contracts/alert';
import { startTestEdge } from 'svc/testing';

import { HandClock } from '../alert/engine-house.ts';
import { policyOf } from '../edge-skills/machine.ts';
import { edgeHouse, machine, until } from '../edge/house.ts';

const reading = (success: boolean): Reading => ({
  success,
  cause: success ? null : 'connection refused',
  facts: {
    connected: success,
    error: success ? null : 'connection refused',
    took_ms: 3,
    phases: {},
  },
  findings: [],
});

test('an answer of an agent that is no result of a probe says nothing about the target, and nothing of it is kept', async (t) => {
  const { ask, create, simulate } = await edgeHouse(t, {
    plugins: ['edge', 'device', 'topology', 'metricsdb', 'alert', 'checks'],
  });
  let answer: unknown;
  await simulate(await create('berlin'), {
    machine: machine(1),
    methods: { check_probe: { handle: async () => answer } },
  });
  const { facts, ...rest } = reading(true);
  const far = { expires_at: 1e300, subject: null, issuer: null, names: null };
  await ask('POST', '/checks', {
    name: 'shop',
    target: 'https://shop.example.org/',
    places: ['agent:berlin'],
    retries: 0,
  });
  const read = async (said: unknown) => {
    answer = said;
    return (await ask('POST', '/checks/shop/run', {})).body;
  };
  for (const said of [
    null,
    'up',
    { ...rest },
    { ...rest, facts: { ...facts, took_ms: 'soon' } },
    { ...rest, facts: { ...facts, phases: { connect: -1 } } },
    { ...rest, facts: { ...facts, detail: 'x'.repeat(100_000) } },
    {
      ...rest,
      facts: { ...facts, certificate: { ...far, serial: null, protocol: null, problem: null } },
    },
    {
      ...rest,
      facts: {
        ...facts,
        measured: Array.from({ length: 51 }, (_, n) => ({ label: `${n}`, value: n, unit: '' })),
      },
    },
  ]) {
    const { state, readings } = await read(said);
    assert.deepEqual(
      [state, readings[0].state],
      ['stale', 'offline'],
      JSON.stringify(said)?.slice(0, 80),
    );
  }
  const { state, readings } = await read({
    ...rest,
    facts: { ...facts, phases: { hidden: 1, connect: 2 } },
  });
  assert.deepEqual([state, readings[0].phases], ['up', { connect: 2 }]);
});

test('an outage is raised once a second place confirms it, and an agent that is away makes none', async (t) => {
  const clock = new HandClock();
  const { house, ask, create, simulate } = await edgeHouse(t, {
    plugins: ['edge', 'device', 'topology', 'metricsdb', 'alert', 'checks'],
    clock,
  });
  const answers: Record<string, boolean> = { berlin: true, paris: true };
  const orders: Order[] = [];
  const connect = async (name: string, n: number) =>
    simulate(await create(name), {
      machine: machine(n),
      methods: {
        check_probe: {
          handle: async (order: unknown) => {
            orders.push(order as Order);
            return reading(answers[name]!);
          },
        },
      },
    });
  await connect('berlin', 1);
  const paris = await connect('paris', 2);
  const made = await ask('POST', '/checks', {
    name: 'shop',
    target: 'https://shop.example.org/',
    places: ['agent:berlin', 'agent:paris'],
    retries: 0,
  });
  assert.equal(made.status, 201, made.text);
  // Its first round has begun; a clock that is moved on meanwhile would end it.
  await until('the first round', async () => {
    const { state } = (await ask('GET', '/checks/shop')).body;
    return state === 'waiting' ? undefined : state;
  });
  const round = async () => {
    clock.advance(30_000);
    return (await ask('POST', '/checks/shop/run', {})).body;
  };
  const first = await round();
  assert.deepEqual([first.state, first.cause], ['up', null]);
  assert.deepEqual(
    [orders[0]!.kind, orders[0]!.target, orders[0]!.timeout_ms],
    ['http', 'https://shop.example.org/', 10_000],
  );

  answers['berlin'] = false;
  const one = await round();
  assert.deepEqual([one.state, one.cause], ['up', 'fails from berlin: connection refused']);

  answers['paris'] = false;
  const both = await round();
  assert.deepEqual([both.state, both.cause], ['down', 'from berlin, paris: connection refused']);
  const incident = await until('an incident', async () => {
    clock.advance(5_000);
    await house.service(AlertEvaluator).tick();
    const { items } = (await ask('GET', '/alerts/incidents?status=active')).body;
    return items.find(({ rule }: { rule: string }) => rule === 'check_down');
  });
  assert.equal(incident.summary, 'shop is down');
  const { annotations } = (await ask('GET', `/alerts/incidents/${incident.id}`)).body;
  assert.match(annotations.description, /fails from (?:berlin, paris|paris, berlin)\./);

  const command = await ask('POST', '/checks', { target: 'disk', kind: 'command' });
  assert.deepEqual([command.status, command.body.details[0].path], [400, '/places']);

  await paris.session.close();
  const alone = await round();
  assert.equal(alone.state, 'stale');
  assert.match(alone.cause, /^fails from berlin, but no second place could confirm it; paris: /);
});

test('an agent probes within the policy of its machine, and no further', async (t) => {
  const server = createServer((_request, response) => response.end('hello'));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const policy = policyOf({ probes: [`127.0.0.1:${port}`] });
  const edge = await startTestEdge(t, {
    plugins: ['programs', 'edge-skills'],
    services: { 'uplink.policy': policy },
  });
  const method = edge
    .contributions<EdgeMethod>(EdgeMethods)
    .find(({ name }) => name === 'check_probe')!;
  const run = (order: object) =>
    method.run(
      { timeout_ms: 5_000, ip: 'any', conditions: [], ...order },
      { signal: new AbortController().signal },
    ) as Promise<Reading>;
  const found = await run({ kind: 'http', target: `http://127.0.0.1:${port}/`, max_redirects: 3 });
  assert.deepEqual([found.success, found.facts.status], [true, 200]);
  assert.ok(found.facts.phases.connect! >= 0 && found.facts.phases.processing! > 0);
  await assert.rejects(run({ kind: 'tcp', target: '127.0.0.1:1' }), { code: 'forbidden' });
  await assert.rejects(run({ kind: 'gopher', target: 'x' }), { code: 'invalid_argument' });
  await assert.rejects(run({ kind: 'http', target: 'file:///etc/passwd' }), {
    code: 'invalid_argument',
  });
});
