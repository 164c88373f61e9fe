import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { TunnelMethod } from 'svc/tunnel';

import { canonicalMetrics } from 'svc/contracts/edge';
import { edgeHouse, machine, until } from './house.ts';

test('what is shown of a device: who watches it, its processes and metrics of now, its place in the topology, what its failure reaches', async (t) => {
  const { ask, create, edge, simulate } = await edgeHouse(t);
  let answer: unknown;
  const asked: unknown[] = [];
  let fails = false;
  const tells: TunnelMethod = {
    handle(params) {
      if (fails) {
        throw new Error('it broke');
      }
      asked.push(params);
      return answer;
    },
  };
  const come = async (n: number) => {
    const keys = await create(`edge-${n}`);
    const { session } = await simulate(keys, {
      machine: machine(n),
      methods: { processes: tells, host_snapshot: tells },
    });
    session.emit('host_info', { hostname: 'same', os: 'linux' });
    const { device_id: device } = await until('it watches a device', async () => {
      const now = await edge(keys.id);
      return now.device_id !== null && now;
    });
    return { id: keys.id, device: device as number, session };
  };
  const [one, two] = [await come(1), await come(2)];

  await t.test('two machines of one name are two devices with a node each', async () => {
    const nodes = await until('both have a node', async () => {
      const { items } = (await ask('GET', '/topology/nodes?type=host')).body;
      return items.length === 2 && items;
    });
    assert.deepEqual(
      nodes
        .map((node: { device_id: number }) => node.device_id)
        .sort((a: number, b: number) => a - b),
      [one.device, two.device].sort((a, b) => a - b),
    );
    const { body: device } = await ask('GET', `/devices/${one.device}`);
    assert.deepEqual(
      [device.online, device.hostname, device.node_id],
      [true, 'same', nodes.find((node: { device_id: number }) => node.device_id === one.device).id],
    );
    const { body: app } = await ask('POST', '/topology/nodes', { type: 'app', name: 'shop' });
    await ask('POST', '/topology/relations', {
      type: 'runs_on',
      src_id: app.id,
      dst_id: device.node_id,
    });
    const { body: radius } = await ask('GET', `/topology/nodes/${device.node_id}/blast-radius`);
    assert.deepEqual(
      radius.reached.map(({ node }: { node: { id: number } }) => node.id),
      [app.id],
    );
  });

  const row = {
    pid: 1,
    ppid: 0,
    name: 'init',
    cmdline: '',
    user: 'root',
    state: 'S',
    cpu_percent: 0,
    mem_percent: 0,
    rss_bytes: 1,
    started_at: null,
  };
  const at = '2026-11-22T00:00:00.000Z';

  await t.test('as many processes as were asked for, in the order that was asked for', async () => {
    answer = {
      sampled_at: at,
      processes: Array.from({ length: 90 }, (_, n) => ({ ...row, pid: n + 1 })),
    };
    const few = await ask('GET', `/edges/${one.id}/processes?top=7&sort_by=mem`);
    assert.deepEqual([few.body.processes.length, asked.at(-1)], [7, { top: 7, sort_by: 'mem' }]);
    assert.deepEqual(
      [(await ask('GET', `/edges/${one.id}/processes`)).body.processes.length, asked.at(-1)],
      [50, { top: 50, sort_by: 'cpu' }],
    );
    for (const wrong of ['top=0', 'top=x', 'top=100000', 'sort_by=pid']) {
      assert.equal((await ask('GET', `/edges/${one.id}/processes?${wrong}`)).status, 400, wrong);
    }
  });

  await t.test('the closed set of metrics, null where the machine knows nothing', async () => {
    answer = { sampled_at: at, metrics: { node_load1: 1.5, node_swap_used_percent: null, up: 1 } };
    const { body } = await ask('GET', `/edges/${two.id}/metrics`);
    assert.deepEqual(
      [body.device_id, Object.keys(body.metrics).sort()],
      [two.device, [...canonicalMetrics].sort()],
    );
    const { node_load1: load, ...others } = body.metrics;
    assert.deepEqual([load, [...new Set(Object.values(others))]], [1.5, [null]]);
  });

  await t.test(
    'an edge that answers with something else is an error of its own, and not one of the house',
    async () => {
      for (const wrong of [
        null,
        'x',
        [],
        { processes: [] },
        { sampled_at: at, processes: [{ pid: 'x' }] },
        { sampled_at: 'now', processes: [] },
      ]) {
        answer = wrong;
        assert.equal(
          (await ask('GET', `/edges/${one.id}/processes`)).body.error,
          'upstream_error',
          JSON.stringify(wrong),
        );
      }
      for (const wrong of [
        null,
        { sampled_at: at },
        { sampled_at: at, metrics: { node_load1: 'high' } },
        { sampled_at: at, metrics: [] },
      ]) {
        answer = wrong;
        assert.equal(
          (await ask('GET', `/edges/${one.id}/metrics`)).body.error,
          'upstream_error',
          JSON.stringify(wrong),
        );
      }
    },
  );

  await t.test(
    'an edge that breaks is told as that, and not as a failure of this service',
    async () => {
      fails = true;
      for (const path of ['processes', 'metrics']) {
        const { status, body } = await ask('GET', `/edges/${one.id}/${path}`);
        assert.deepEqual([status, body.error], [502, 'upstream_error'], path);
      }
      fails = false;
    },
  );

  await t.test(
    'a clone of a machine that is online is in conflict with it, where both can be seen, and watches nothing',
    async () => {
      const keys = await create('clone');
      const { session } = await simulate(keys, { machine: machine(2) });
      session.emit('host_info', { hostname: 'clone' });
      const both = await until('it is seen', async () => {
        const { items } = (await ask('GET', `/devices/${two.device}/edges`)).body;
        return items.length === 2 && items;
      });
      assert.deepEqual(
        both.map(({ id, binding, rival_edge_id: rival }: Record<string, unknown>) => [
          id,
          binding,
          rival,
        ]),
        [
          [keys.id, 'conflict', two.id],
          [two.id, 'bound', null],
        ],
      );
      assert.deepEqual(
        [
          (await edge(keys.id)).device_id,
          (await ask('GET', `/devices/${two.device}`)).body.hostname,
        ],
        [null, 'same'],
      );
      assert.equal((await ask('GET', '/devices')).body.total, 2);
    },
  );

  await t.test(
    'a device whose edge has left is offline, was seen a moment ago, and answers nothing',
    async () => {
      const before = (await ask('GET', `/devices/${one.device}`)).body;
      await one.session.close();
      const after = await until('it is offline', async () => {
        const { body } = await ask('GET', `/devices/${one.device}`);
        return !body.online && body;
      });
      // Two clocks, the one of the wall and the one that only goes on, make a millisecond of difference.
      assert.ok(
        Date.parse(after.last_seen_at) >= Date.parse(before.last_seen_at) - 2,
        `${before.last_seen_at} and then ${after.last_seen_at}`,
      );
      const { items } = (await ask('GET', `/devices/${one.device}/edges`)).body;
      assert.deepEqual([items.length, items[0].id, items[0].binding], [1, one.id, 'bound']);
      assert.equal((await ask('GET', `/edges/${one.id}/processes`)).status, 503);
      assert.equal((await ask('GET', `/devices/${two.device}`)).body.online, true);
    },
  );
});
