import assert from 'node:assert/strict';
import { test } from 'node:test';

import { peer } from '../../peers.ts';
import { basic, disabled, ingestHouse, pretendStores, seven, unbound } from './house.ts';
import { backend, startNginx } from './nginx.ts';

const path = '/internal/auth/dataplane-verify';

test('a proxy is told whether a sender may push, and which edge and device it is', async (t) => {
  const house = await ingestHouse(t);
  const ask = async (authorization: string | undefined): Promise<readonly unknown[]> => {
    const { status, headers } = await fetch(house.url + path, {
      headers: authorization === undefined ? {} : { authorization },
    });
    return [
      status,
      headers.get('x-edge-id'),
      headers.get('x-device-id'),
      headers.get('www-authenticate'),
    ];
  };
  const challenge = 'Basic realm="svc"';
  assert.deepEqual(await ask(seven), [200, '7', '70', null]);
  assert.deepEqual(await ask('Bearer svc_ak_seven:svc_sk_seven'), [200, '7', '70', null]);
  assert.deepEqual(await ask(unbound), [200, '8', '', null]);
  assert.deepEqual(await ask(disabled), [403, null, null, null]);
  assert.deepEqual(await ask(undefined), [401, null, null, challenge]);
  assert.deepEqual(await ask(basic('svc_ak_seven', 'svc_sk_wrong')), [401, null, null, challenge]);
  assert.deepEqual(await ask('Digest username="x"'), [401, null, null, challenge]);
  assert.deepEqual(await ask(`Basic ${'x'.repeat(9_000)}`), [401, null, null, challenge]);
  assert.deepEqual(
    await ask(`Bearer ${await house.apiToken('admin', ['ingest:push'])}`),
    [200, null, null, null],
    'a token that may push is no edge',
  );
  assert.deepEqual(await ask(`Bearer ${await house.apiToken('user', ['edge:*'])}`), [
    403,
    null,
    null,
    null,
  ]);
});

test('without anybody who knows credentials nobody is let through', async (t) => {
  const house = await ingestHouse(t, { plugins: ['ingest'] });
  assert.equal((await fetch(house.url + path, { headers: { authorization: seven } })).status, 401);
});

test('real nginx, with the file that ships, lets edges and nobody else through to stores of somebody’s own', async (t) => {
  const program = peer(t, 'nginx');
  if (program === undefined) {
    return;
  }
  const stores = pretendStores();
  const house = await ingestHouse(t, { services: stores.services });
  const [metrics, logs, traces] = [await backend(t), await backend(t), await backend(t)];
  const url = await startNginx(t, program, {
    svc: Number(new URL(house.url).port),
    metrics: metrics.port,
    logs: logs.port,
    traces: traces.port,
  });
  const push = (
    to: string,
    authorization: string | undefined,
    headers: Record<string, string> = {},
  ): Promise<Response> =>
    fetch(url + to, {
      method: 'POST',
      body: Buffer.from('a body'),
      headers: {
        'content-type': 'application/x-protobuf',
        ...(authorization !== undefined && { authorization }),
        ...headers,
      },
    });

  for (const [to, store] of [
    ['/api/v1/write', metrics] as const,
    ['/loki/api/v1/push', logs] as const,
    ['/v1/traces', traces] as const,
  ]) {
    assert.equal((await push(to, seven, { 'x-edge-id': '1', 'x-device-id': '1' })).status, 204);
    const { url: asked, headers, body } = store.requests.pop()!;
    assert.equal(asked, to);
    assert.deepEqual(
      [headers['x-edge-id'], headers['x-device-id'], headers['authorization']],
      ['7', '70', undefined],
      'who it is says svc, and the keys stay here',
    );
    assert.equal(body.toString(), 'a body');

    assert.equal((await push(to, unbound, { 'x-device-id': '1' })).status, 204);
    assert.deepEqual(
      [store.requests[0]!.headers['x-edge-id'], store.requests.pop()!.headers['x-device-id']],
      ['8', undefined],
    );
    const script = basic('script', await house.apiToken('admin', ['ingest:push']));
    assert.equal((await push(to, script, { 'x-edge-id': '1' })).status, 204);
    assert.equal(
      store.requests.pop()!.headers['x-edge-id'],
      undefined,
      'a token is no edge, whatever it says',
    );

    const stranger = await push(to, basic('svc_ak_seven', 'svc_sk_wrong'));
    assert.deepEqual(
      [stranger.status, stranger.headers.get('www-authenticate')],
      [401, 'Basic realm="svc"'],
    );
    assert.equal((await push(to, undefined)).status, 401);
    assert.equal((await push(to, disabled)).status, 403);
    assert.deepEqual(store.requests, [], 'nothing of those came through');
  }

  assert.equal(
    (await fetch(url + path, { headers: { authorization: seven } })).status,
    404,
    'the question itself is not for the outside',
  );
  assert.equal(
    (await push('/v1/logs', seven, { 'x-edge-id': '1' })).status,
    200,
    'what svc stores goes to svc',
  );
  assert.deepEqual(stores.received.pop()!.stamp, { edge_id: '7', device_id: '70' });
  assert.equal(
    (await push('/v1/logs', basic('svc_ak_seven', 'no'), { 'x-edge-id': '7' })).status,
    401,
  );
});
