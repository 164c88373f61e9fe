import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startThreadForTest } from 'svc/testing';

import type { StoreStatus } from '../../../plugins/traces/thread/contract.ts';
import { bodyOf, spanId, startMs, traceId } from './bodies.ts';
import { folder, jsonOf } from './store-house.ts';

const worker = fileURLToPath(new URL('../../../plugins/traces/traces-worker.ts', import.meta.url));
const window = { start: startMs - 1_000, end: startMs + 5_000 };
const body = bodyOf(
  { 'service.name': 'shop' },
  { trace: traceId(1), id: spanId(1), name: 'GET /' },
);

test('a thread of its own stores, answers, refuses and tells, and the next one has what it kept', async (t) => {
  const data = { folder: folder(t) };
  const first = await startThreadForTest(t, worker, data);
  const { accepted } = await first.call<{ accepted: number }>('push', {
    format: 'otlp-proto',
    body,
    stamp: { device_id: '7' },
  });
  assert.equal(accepted, 1);
  assert.equal(
    jsonOf(await first.call('searchJson', { query: '{ resource.device_id = "7" }', ...window }))
      .traces.length,
    1,
  );
  await assert.rejects(first.call('searchJson', { query: '{ foo }', ...window }), {
    code: 'invalid_argument',
    kind: 'bad_data',
    message: /unknown identifier: foo/,
  });
  const leaving = new AbortController();
  leaving.abort();
  await assert.rejects(
    first.call('searchJson', { query: '{}', ...window }, { signal: leaving.signal }),
  );
  await first.call('tend', { now: true });
  assert.deepEqual(
    first.notices.map(({ kind }) => kind),
    ['open', 'span-metrics'],
  );
  assert.equal((await first.call<StoreStatus>('status')).blocks, 1);
  await first.close();

  const second = await startThreadForTest(t, worker, data);
  assert.equal(jsonOf(await second.call('trace', { traceId: '1', form: 'v1' })).batches.length, 1);
  await second.call('settle', {
    limits: { metricSeries: 0 },
    query: { timeoutMs: 1_000, maxSamples: 0 },
  });
  await second.call('push', { format: 'otlp-proto', body });
  const { metricSeries, queries } = await second.call<StoreStatus>('status');
  assert.deepEqual([metricSeries, queries.running], [0, 0], 'spans are no longer counted');
  await assert.rejects(
    second.call('metricsJson', { query: '{} | rate()', ...window, step: 6_000 }),
    { code: 'budget_exceeded' },
  );
});
