import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import type { PushAnswer } from 'svc/contracts/metricsdb';
import { Board } from 'svc/sdk';
import type { TestHost } from 'svc/testing';

import type { MetricRow } from '../../../plugins/traces/store/intake/span-metrics.ts';
import { spanId, startMs, traceId } from './bodies.ts';
import { openHouse, push } from './house.ts';
import { rowsIn } from './metric-rows.ts';

/** Stands in for where metrics are kept: the host's own tokens are all it needs. */
function keeper(): {
  rows: MetricRow[];
  push(format: string, body: Uint8Array): Promise<PushAnswer>;
} {
  const rows: MetricRow[] = [];
  return {
    rows,
    push(format, body) {
      assert.equal(format, 'remote-write');
      const more = rowsIn(body);
      rows.push(...more);
      return Promise.resolve({ accepted: more.length, rejected: 0, reasons: [] });
    },
  };
}

test('calls of spans are written where metrics are kept, as long as that is wanted', async (t) => {
  const metrics = keeper();
  let now = startMs + 10_000;
  const clock = { now: () => now, monotonic: () => performance.now() };
  const house = await openHouse(t, { services: { 'metrics.ingest': metrics }, clock });
  const call = (number: number): Promise<unknown> =>
    push(
      house,
      { 'service.name': `s${number}` },
      { trace: traceId(number), id: spanId(number), name: 'GET /', ms: 3 },
    );
  await call(1);
  now += 20_000;
  await call(2);
  await until('something is written', () => metrics.rows.length > 0);
  const calls = metrics.rows.filter(
    ({ labels }) => labels['__name__'] === 'traces_spanmetrics_calls_total',
  );
  assert.deepEqual(
    calls.map(({ labels: { service, span_name: name, status_code: status }, value, time }) => [
      service,
      name,
      status,
      value,
      time >= now,
    ]),
    [
      ['s1', 'GET /', 'STATUS_CODE_UNSET', 1, true],
      ['s2', 'GET /', 'STATUS_CODE_UNSET', 1, true],
    ],
  );
  assert.equal(metrics.rows.length, 36);

  await until(
    'the series are told among the figures of the store',
    async () => (await seriesOf(house)) === 36,
  );
  house.service(Board).override('traces.span_metrics', false);
  await house.settled();
  await call(3);
  await until('there is no series any more', async () => (await seriesOf(house)) === 0);
});

const seriesOf = async (house: TestHost): Promise<number> =>
  Number(
    /^svc_traces_span_metric_series (\d+)/m.exec(await (await house.fetch('/metrics')).text())?.[1],
  );

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await holds()); await pause(50)) {
    assert.ok(Date.now() < deadline, `within a minute: ${what}`);
  }
}
