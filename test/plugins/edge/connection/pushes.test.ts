import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isSvcError } from 'svc/sdk';

import { Pushes, type PushParts } from '../../../../plugins/edge/connection/pushes.ts';
import { edgeHouse, machine, until } from '../house.ts';

test('an edge pushes through its tunnel, under the limits and with the stamp that its requests would have', async (t) => {
  const { house, ask, create, edge, simulate } = await edgeHouse(t, {
    plugins: ['edge', 'device', 'ingest', 'metricsdb', 'setting'],
  });
  const keys = await create();
  const { session, welcome } = await simulate(keys);
  await session.call(
    'tell',
    { event: 'host_info', payload: { hostname: 'pushing', os: 'linux' } },
    { timeoutMs: 20_000 },
  );
  const push = (body: string, head: object = {}) =>
    session.call(
      'push',
      {
        to: '/api/v1/import/prometheus',
        type: 'text/plain',
        body: Buffer.from(body).toString('base64'),
        ...head,
      },
      { timeoutMs: 20_000 },
    );
  const refusal = async (asked: Promise<unknown>) => {
    const error = await asked.then(
      () => assert.fail('it was taken'),
      (thrown: unknown) => thrown,
    );
    assert.ok(isSvcError(error));
    return error;
  };

  await t.test('it is told that it may, and what it pushed is that of its device', async () => {
    assert.deepEqual([welcome.body['takes_pushes'], welcome.body['spread_ms']], [true, 4]);
    assert.deepEqual(await push('jobs{device_id="of another",edge_id="of another"} 3\n'), {});
    const { device_id: device } = await edge(keys.id);
    const { data } = (await (await house.fetch(`/prometheus/api/v1/query?query=jobs`)).json()) as {
      data: { result: { metric: object; value: [number, string] }[] };
    };
    assert.deepEqual(
      data.result.map(({ metric, value: [, value] }) => ({ metric, value })),
      [
        {
          metric: { __name__: 'jobs', device_id: String(device), edge_id: String(keys.id) },
          value: '3',
        },
      ],
    );
  });

  await t.test('what no route would take is refused in its words', async () => {
    const cases: [() => Promise<unknown>, string, RegExp][] = [
      [() => push('jobs 1\n', { to: '/api/v1/edges' }), 'not_found', /no push route/],
      [() => push('jobs 1\n', { type: 'image/png' }), 'invalid_argument', /accepts text\/plain/],
      [() => push('jobs 1\n', { encoding: 'br' }), 'invalid_argument', /the encoding br/],
      [() => push('', {}), 'invalid_argument', /no body/],
      [() => push('{{{', {}), 'invalid_argument', /./],
      [() => push('jobs 1\n', { body: 7 }), 'invalid_argument', /"body"/],
      [() => session.call('push', null, { timeoutMs: 20_000 }), 'invalid_argument', /"to"/],
    ];
    for (const [asked, code, words] of cases) {
      const error = await refusal(asked());
      assert.equal(error.code, code);
      assert.match(error.message, words);
    }
  });

  await t.test('one that pushes too often is told when to come back', async () => {
    await ask('PUT', '/system-settings/ingest/max_requests_per_second', { value: 0.1 });
    const error = await until('it is too often', async () => {
      try {
        await push('jobs 4\n');
        return undefined;
      } catch (thrown) {
        return thrown;
      }
    });
    assert.ok(isSvcError(error));
    assert.equal(error.code, 'rate_limited');
    assert.ok(error.retryAfterSeconds! > 0);
  });

  await t.test(
    'where a proxy has stores of its own, edges that connect are told to push by requests',
    async () => {
      await ask('PUT', '/system-settings/edge/tunnel_pushes', { value: false });
      const { welcome: later } = await simulate(await create('later'), { machine: machine(2) });
      assert.equal(later.body['takes_pushes'], false);
    },
  );
});

test('what an edge pushes lies in memory of its own, so that it can move to the thread of its store', async () => {
  const session = {};
  const bodies: Uint8Array[] = [];
  const owners = new Map([[session, { id: 7, deviceId: null }]]) as unknown as PushParts['owners'];
  const ingest = {
    available: true,
    get: () => ({
      push: async (_edge: unknown, { body }: { body: Uint8Array }) => void bodies.push(body),
    }),
  } as unknown as PushParts['ingest'];
  const { method } = new Pushes({ owners, ingest, settings: {} as PushParts['settings'] });
  for (const text of ['', 'up 1\n', 'x'.repeat(5_000)]) {
    await method.handle(
      { to: '/push', type: 'text/plain', body: Buffer.from(text).toString('base64') },
      { session } as never,
    );
    const body = bodies.pop()!;
    assert.deepEqual([Buffer.from(body).toString(), body.buffer.byteLength], [text, text.length]);
  }
});
