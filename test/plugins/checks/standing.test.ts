import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';

import { AlertEvaluator } from 'svc/contracts/alert';

import { partsOf } from '../../../plugins/checks/check/check.ts';
import { causeOf, circleOf, type Ground } from '../../../plugins/checks/standing/cause.ts';
import { svc } from '../../cli/launcher.ts';
import { HandClock } from '../alert/engine-house.ts';
import { edgeHouse, machine, until } from '../edge/house.ts';

test('an alert is held back while what its check stands on is down, and told when that has ended', async (t) => {
  const clock = new HandClock();
  const statuses: Record<string, number> = {};
  const server = createServer((request, response) => {
    response.writeHead(statuses[request.url!.slice(1)] ?? 200).end();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const { house, ask, create, simulate } = await edgeHouse(t, {
    plugins: ['edge', 'device', 'topology', 'metricsdb', 'alert', 'checks'],
    environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' },
    clock,
  });
  const watch = async (name: string, more: object = {}) => {
    const made = await ask('POST', '/checks', {
      ...{ name, target: `http://127.0.0.1:${port}/${name}`, interval_s: 86_400, retries: 0 },
      ...more,
    });
    if (made.status === 201) {
      await run(name);
    }
    return made;
  };
  const run = async (name: string) => {
    clock.advance(1_000);
    return (await ask('POST', `/checks/${name}/run`, {})).body;
  };
  const shown = async (name: string) => (await ask('GET', `/checks/${name}`)).body;
  const tell = async (): Promise<readonly string[]> => {
    clock.advance(5_000);
    await house.service(AlertEvaluator).tick();
    const { items } = (await ask('GET', '/alerts/incidents?status=active')).body;
    return items
      .filter(({ rule }: { rule: string }) => rule === 'check_down')
      .map(({ summary }: { summary: string }) => summary);
  };
  /** The store has the sample, so every rule that is evaluated from now on knows of it. */
  const stored = (expr: string) =>
    until(expr, async () => {
      const answer = await house.fetch(
        `/prometheus/api/v1/query?query=${encodeURIComponent(expr)}&time=${clock.now() / 1_000}`,
      );
      return ((await answer.json()) as { data: { result: unknown[] } }).data.result.length > 0;
    });

  await watch('gateway');
  await watch('shop', { depends_on: ['gateway'] });
  // The shop is the first to notice; the gateway is asked before anybody is told.
  statuses['gateway'] = statuses['shop'] = 500;
  const held = await run('shop');
  assert.deepEqual(
    [held.state, held.muted.kind, held.muted.name, held.muted.since],
    ['down', 'check', 'gateway', (await shown('gateway')).since],
  );
  await stored('svc_check_up{check="shop"} == 0 and on (check) svc_check_muted');
  await until('an incident of the gateway', async () => (await tell()).length > 0);
  assert.deepEqual(await tell(), ['gateway is down']);
  const { stdout } = await svc([
    ...['check', 'why', 'shop', '--url', house.url, '--token', house.token],
  ]);
  assert.match(stdout, /^Muted: the check gateway is down since 2026-/m);

  statuses['gateway'] = 200;
  await run('gateway');
  await until('the end of the cause', async () => (await shown('shop')).muted === null);
  assert.equal((await shown('shop')).state, 'down');
  await stored('absent(svc_check_muted{check="shop"})');
  await until('an incident of the shop', async () => (await tell()).includes('shop is down'));

  // What comes back with its cause is never told.
  statuses['shop'] = 200;
  await run('shop');
  statuses['gateway'] = statuses['shop'] = 500;
  await run('shop');
  statuses['gateway'] = statuses['shop'] = 200;
  await run('gateway');
  await until('the shop is up again', async () => (await shown('shop')).state === 'up');
  assert.equal((await shown('shop')).muted, null);

  // The topology knows as well: pay runs on web-1, which gateway routes to.
  const node = async (type: string, name: string): Promise<number> =>
    (await ask('POST', '/topology/nodes', { type, name })).body.id;
  const relate = async (type: string, src: number, dst: number): Promise<void> => {
    const { status, text } = await ask('POST', '/topology/relations', {
      ...{ type, src_id: src, dst_id: dst },
    });
    assert.equal(status, 201, text);
  };
  const [pay, router] = [await node('app', 'pay-1'), await node('app', 'gateway')];
  await relate('depends_on', pay, router);
  await watch('pay', { depends_on: ['node:pay-1'] });
  statuses['gateway'] = statuses['pay'] = 500;
  await run('gateway');
  assert.deepEqual((await run('pay')).muted?.name, 'gateway');

  // So does a host whose agent is away.
  const { session: berlin } = await simulate(await create('berlin'), { machine: machine(1) });
  berlin.emit('host_info', { hostname: 'berlin-1' });
  const host = await until('the host', async () => {
    const { items } = (await ask('GET', '/topology/nodes?type=host')).body;
    return items[0];
  });
  await watch('disk', { depends_on: [`node:${host.name}`] });
  await berlin.close();
  await until('the agent is offline', async () => {
    clock.advance(5_000);
    return (await ask('GET', '/edges')).body.items[0].status === 'offline';
  });
  statuses['disk'] = 500;
  const { muted } = await run('disk');
  assert.deepEqual([muted?.kind, muted?.name], ['host', host.name]);

  // And the agents that probe, however they are named.
  const { id } = (await ask('GET', '/devices')).body.items[0];
  const tagged = await ask('PATCH', `/devices/${id}`, { tags: { site: 'berlin' } });
  const given = await ask('PATCH', `/devices/${id}/roles`, { roles: ['edge'] });
  assert.deepEqual([tagged.status, given.status], [200, 200], `${tagged.text} ${given.text}`);
  for (const [name, place] of [
    ['by-name', 'agent:berlin'],
    ['by-tag', 'tag:site=berlin'],
    ['by-role', 'role:edge'],
    ['by-none', 'role:none'],
  ] as const) {
    await watch(name, { places: [place] });
    await until(`${name} is looked at`, async () => (await shown(name)).state === 'stale');
    const { muted: away } = await run(name);
    assert.deepEqual(
      [away?.kind, away?.name],
      name === 'by-none' ? [undefined, undefined] : ['agent', 'berlin'],
      name,
    );
  }

  const refused = async (method: string, path: string, body?: object) => {
    const answer = await ask(method, path, body);
    return [answer.status, answer.headers.get('x-svc-reason'), answer.body.message];
  };
  assert.deepEqual(await refused('PATCH', '/checks/gateway', { depends_on: ['shop'] }), [
    400,
    'checks.not_valid',
    'depends_on makes a circle: gateway → shop → gateway.',
  ]);
  assert.deepEqual(await refused('PATCH', '/checks/gateway', { depends_on: ['gateway'] }), [
    400,
    'checks.not_valid',
    'depends_on makes a circle: gateway → gateway.',
  ]);
  assert.deepEqual(await refused('PATCH', '/checks/shop', { depends_on: ['gatewax'] }), [
    400,
    'checks.not_valid',
    'depends_on names no check: gatewax.',
  ]);
  assert.deepEqual((await refused('DELETE', '/checks/gateway')).slice(0, 2), [
    409,
    'checks.stood_on',
  ]);
});

const check = (id: number, state: 'up' | 'down' = 'down') => ({
  ...partsOf({ target: 'https://example.org' }),
  ...{ id, name: `c${id}`, state, since: id, cause: null, paused: false },
  ...{ createdAt: 0, updatedAt: 0 },
});

test('the cause is the root of what is down, and in a circle there is none', () => {
  const [a, b, c, up] = [check(1), check(2), check(3), check(4, 'up')] as const;
  const below = (grounds: Readonly<Record<number, readonly Ground[]>>) => (one: { id: number }) =>
    grounds[one.id] ?? [];
  const away = { away: { kind: 'host', name: 'web-1', since: 9 } } as const;
  const cause = (grounds: Readonly<Record<number, readonly Ground[]>>) =>
    causeOf(a, below(grounds))?.name;
  assert.equal(cause({}), undefined);
  assert.equal(cause({ 1: [{ check: up }] }), undefined);
  assert.equal(cause({ 1: [{ check: { ...b, paused: true } }] }), undefined);
  assert.equal(cause({ 1: [{ check: b }] }), 'c2');
  assert.equal(cause({ 1: [{ check: b }], 2: [{ check: c }] }), 'c3');
  assert.equal(cause({ 1: [{ check: b }], 2: [away] }), 'web-1');
  assert.equal(cause({ 1: [{ check: b }], 2: [{ check: a }] }), undefined);
  assert.equal(cause({ 1: [{ check: b }], 2: [{ check: a }, { check: c }] }), 'c3');
  assert.equal(cause({ 1: [{ check: b }], 2: [{ check: c }], 3: [{ check: b }] }), undefined);
});

test('where all stand on all, each is looked at a few times', () => {
  const all = Array.from({ length: 40 }, (_, id) => check(id + 1));
  let asked = 0;
  const cause = causeOf(all[0]!, ({ id }) => {
    asked += 1;
    return all.filter((one) => one.id !== id).map((one) => ({ check: one }));
  });
  assert.equal(cause, undefined);
  assert.ok(asked <= 2 * all.length, `${asked} times`);
});

test('a circle is found, however long the way to it is', () => {
  const all = new Map([
    ['a', ['b', 'c']],
    ['b', ['d']],
    ['c', ['d']],
    ['d', ['e']],
  ]);
  const of = (more: readonly (readonly [string, readonly string[]])[]) => {
    const map = new Map<string, readonly string[]>([...all, ...more]);
    return circleOf('a', (name) => map.get(name) ?? []);
  };
  assert.equal(of([]), undefined);
  assert.deepEqual(of([['e', ['a']]])?.at(-1), 'a');
  // A circle that a check only leads to is not its own.
  assert.equal(of([['e', ['d']]]), undefined);
});
