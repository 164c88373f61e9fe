import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { Ajv } from 'ajv';
import type { Parcel } from 'svc/contracts/edge-uplink';
import { Health } from 'svc/sdk';
import { startTestEdge } from 'svc/testing';

import edgeFile from '../../../plugins/edge-traces/edge.json' with { type: 'json' };

const validate = new Ajv({ useDefaults: true }).compile(edgeFile.spec);

test('in the house of an agent: the port is had as soon as it is free, kept over a reload and given back at the end', async (t) => {
  const other = createServer();
  await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  const parcels: Parcel[] = [];
  const edge = await startTestEdge(t, {
    plugins: ['edge-traces'],
    services: {
      'uplink.specs': { of: () => ({ address: '127.0.0.1', port, max_body_bytes: 65_536 }) },
      'uplink.shipping': { ship: async (parcel: Parcel) => void parcels.push(parcel) },
    },
  });
  const health = async (): Promise<string> =>
    (await edge.service(Health).check()).checks
      .map(({ ok, detail }) => `${ok} ${detail ?? ''}`)
      .join();
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    for (const deadline = Date.now() + 30_000; !(await holds()); await pause(20)) {
      assert.ok(Date.now() < deadline, `within 30 s; now: ${await health()}`);
    }
  };
  await until(async () => /^false failed to listen on port \d+: .*EADDRINUSE/.test(await health()));
  await new Promise((resolve) => other.close(resolve));
  await until(async () => (await health()).startsWith('true'));
  const post = async (): Promise<number> => {
    const body = '{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}';
    return (
      await fetch(`http://127.0.0.1:${port}/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
    ).status;
  };
  assert.equal(await post(), 200);
  const { signal, path, items, from } = parcels[0]!;
  assert.deepEqual([signal, path, items, from], ['traces', '/v1/traces', 1, 'edge-traces']);
  await edge.reload('edge-traces');
  await until(async () => (await post().catch(() => 0)) === 200);
  await edge.stop();
  await assert.rejects(post());
});

test('the spec knows its fields, and listens to nobody but this machine', () => {
  const spec = {};
  assert.ok(validate(spec));
  assert.deepEqual(spec, { address: '127.0.0.1', port: 4318, max_body_bytes: 4_194_304 });
  for (const wrong of [
    { address: '0.0.0.0' },
    { port: 0 },
    { max_body_bytes: 5_000_000 },
    { endpoint: 'x' },
  ]) {
    assert.ok(!validate(wrong), JSON.stringify(wrong));
  }
});
