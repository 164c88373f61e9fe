import assert from 'node:assert/strict';
import { test } from 'node:test';

import { SpanMetricsWriter } from '../../../../plugins/traces/span-metrics-writer.ts';
import type { MetricRow } from '../../../../plugins/traces/store/intake/span-metrics.ts';
import type { SpanMetricsNotice } from '../../../../plugins/traces/thread/contract.ts';
import { bodyOf, spanId, startMs, traceId } from '../bodies.ts';
import { rowsIn } from '../metric-rows.ts';
import { folder, openService, type Service } from '../store-house.ts';

const told = ({ notices }: Service): MetricRow[] =>
  notices
    .splice(0)
    .flatMap(({ kind, value }) =>
      kind === 'span-metrics'
        ? (value as SpanMetricsNotice).flatMap(({ body }) => rowsIn(body))
        : [],
    );
const named = (rows: readonly MetricRow[], name: string): Record<string, number> =>
  Object.fromEntries(
    rows
      .filter(({ labels }) => labels['__name__'] === `traces_spanmetrics_${name}`)
      .map(({ labels, value }) => [labels['le'] ?? labels['status_code']!, value]),
  );

test('calls, errors and durations are counted by service, name, kind, status and device', async (t) => {
  let now = startMs;
  const service = await openService(t, {}, () => now);
  const push = (ms: number, status: number): Promise<unknown> =>
    service.methods.push({
      format: 'otlp-proto',
      body: bodyOf(
        { 'service.name': 'shop', device_id: '99' },
        { trace: traceId(now + ms), id: spanId(1), name: 'GET /', kind: 2, status, ms },
      ),
      stamp: { device_id: '7' },
    });
  for (const ms of [1, 2, 3, 100, 20_000]) {
    await push(ms, 0);
  }
  await push(50, 2);
  await service.methods.tend();
  assert.deepEqual(told(service), []);
  now += 15_000;
  await service.methods.tend();
  const rows = told(service);
  assert.deepEqual(rows[0], {
    labels: {
      __name__: 'traces_spanmetrics_calls_total',
      service: 'shop',
      span_name: 'GET /',
      span_kind: 'SPAN_KIND_SERVER',
      status_code: 'STATUS_CODE_UNSET',
      device_id: '7',
    },
    time: now,
    value: 5,
  });
  assert.deepEqual(named(rows, 'calls_total'), { STATUS_CODE_UNSET: 5, STATUS_CODE_ERROR: 1 });
  assert.deepEqual(named(rows, 'latency_count'), { STATUS_CODE_UNSET: 5, STATUS_CODE_ERROR: 1 });
  assert.ok(Math.abs(named(rows, 'latency_sum')['STATUS_CODE_UNSET']! - 20.106) < 1e-9);
  assert.deepEqual(
    named(
      rows.filter(({ labels }) => labels['status_code'] === 'STATUS_CODE_UNSET'),
      'latency_bucket',
    ),
    {
      0.002: 2,
      0.004: 3,
      0.008: 3,
      0.016: 3,
      0.032: 3,
      0.064: 3,
      0.128: 4,
      0.256: 4,
      0.512: 4,
      1.024: 4,
      2.048: 4,
      4.096: 4,
      8.192: 4,
      16.384: 4,
      '+Inf': 5,
    },
  );

  await push(1, 0);
  now += 15_000;
  await service.methods.tend();
  assert.deepEqual(named(told(service), 'calls_total'), { STATUS_CODE_UNSET: 6 });
  now += 60_000;
  await service.methods.tend();
  assert.deepEqual(named(told(service), 'calls_total'), {
    STATUS_CODE_UNSET: 6,
    STATUS_CODE_ERROR: 1,
  });
  now += 3_700_000;
  await service.methods.tend();
  assert.deepEqual(told(service), []);
  assert.equal(service.methods.stats().metricSeries, 0);
});

test('there are no more series than are allowed, and what they cannot tell is counted', async (t) => {
  const service = await openService(t, { limits: { metricSeries: 40 } });
  for (const name of ['a', 'b', 'c', 'd', 'a']) {
    await service.methods.push({
      format: 'otlp-proto',
      body: bodyOf({ 'service.name': 'shop' }, { trace: traceId(1), id: spanId(1), name }),
    });
  }
  await service.methods.tend({ now: true });
  assert.deepEqual(
    new Set(told(service).map(({ labels }) => labels['span_name'])),
    new Set(['a', 'b']),
  );
  const { metricSeries, metricSpansDropped } = service.methods.stats();
  assert.deepEqual([metricSeries, metricSpansDropped], [36, 2]);
});

test('a service whose spans have a name each leaves room for the others', async (t) => {
  const service = await openService(t, { limits: { metricSeries: 200 * 18 } });
  const push = async (name: string, from: string): Promise<unknown> =>
    await service.methods.push({
      format: 'otlp-proto',
      body: bodyOf({ 'service.name': from }, { trace: traceId(1), id: spanId(1), name }),
    });
  for (let n = 0; n < 300; n++) {
    await push(`GET /orders/${n}`, 'shop');
  }
  for (let n = 0; n < 30; n++) {
    await push(`step ${n}`, 'cart');
  }
  await service.methods.tend({ now: true });
  const rows = told(service).filter(
    ({ labels }) => labels['__name__'] === 'traces_spanmetrics_calls_total',
  );
  const counted = (of: string): number =>
    rows.filter(({ labels }) => labels['service'] === of).length;
  assert.deepEqual([counted('shop'), counted('cart')], [160, 30]);
});

test('counters begin anew after a restart, and what was counted before is not counted again', async (t) => {
  const place = folder(t);
  const first = await openService(t, { folder: place });
  const body = bodyOf({ 'service.name': 'shop' }, { trace: traceId(1), id: spanId(1) });
  await first.methods.push({ format: 'otlp-proto', body });
  await first.close();
  const second = await openService(t, { folder: place });
  await second.methods.push({ format: 'otlp-proto', body });
  await second.methods.tend({ now: true });
  assert.deepEqual(named(told(second), 'calls_total'), { STATUS_CODE_UNSET: 1 });
});

test('many samples are told in several bodies, each series in one of them', () => {
  const rows = Array.from({ length: 25_000 }, (_, at): MetricRow => ({
    labels: { __name__: 'calls', span_name: `ü ${at}` },
    time: startMs,
    value: at / 2,
  }));
  const writer = new SpanMetricsWriter();
  assert.deepEqual(
    writer.bodies(rows).map((body) => body.rows),
    [10_000, 10_000, 5_000],
  );
  assert.deepEqual(
    writer.bodies(rows).flatMap(({ body }) => rowsIn(body)),
    rows,
    'also from labels that were written before',
  );
});

test('a push tells what was counted when it is time, and does not wait for the timer', async (t) => {
  let now = startMs;
  const service = await openService(t, {}, () => now);
  const push = (): Promise<unknown> =>
    service.methods.push({
      format: 'otlp-proto',
      body: bodyOf(
        { 'service.name': 'shop' },
        { trace: traceId(now), id: spanId(1), name: 'GET /', kind: 2, ms: 1 },
      ),
    });
  await push();
  assert.deepEqual(told(service), []);
  now += 60_000;
  await push();
  assert.deepEqual(named(told(service), 'calls_total'), { STATUS_CODE_UNSET: 2 });
  await push();
  assert.deepEqual(told(service), []);
});
