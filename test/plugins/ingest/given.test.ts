import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LogIngest } from 'svc/contracts/logs';
import { MetricsIngest, type PushAnswer } from 'svc/contracts/metricsdb';
import { TraceIngest } from 'svc/contracts/traces';
import { startTestHost } from 'svc/testing';

/** A body with memory of its own, as bodies of requests have it. */
const own = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text));

test('a body that is given moves to the thread of its store, and one that is only shown stays', async (t) => {
  const house = await startTestHost(t, { plugins: ['metricsdb', 'logs', 'traces'] });
  const [metrics, logs, traces] = [
    house.service(MetricsIngest),
    house.service(LogIngest),
    house.service(TraceIngest),
  ];
  const line = JSON.stringify({
    streams: [{ stream: { app: 'a' }, values: [[`${Date.now()}000000`, 'x']] }],
  });
  const span = {
    traceId: '1'.repeat(32),
    spanId: '2'.repeat(16),
    name: 'a',
    startTimeUnixNano: `${Date.now()}000000`,
    endTimeUnixNano: `${Date.now()}000000`,
  };
  const ways: readonly [
    body: string,
    push: (body: Uint8Array, given?: boolean) => Promise<PushAnswer>,
  ][] = [
    ['load 1\n', (body, given = false) => metrics.push('exposition', body, { given })],
    [line, (body, given = false) => logs.push('loki-json', body, { given })],
    [
      JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
      (body, given = false) => traces.push('otlp-json', body, { given }),
    ],
  ];
  for (const [text, push] of ways) {
    const shown = own(text);
    assert.equal((await push(shown)).accepted, 1);
    assert.equal(Buffer.from(shown).toString(), text);
    const given = own(text);
    assert.equal((await push(given, true)).accepted, 1);
    assert.equal(given.length, 0, text);
    // Others may have a part of its memory.
    const pooled = Buffer.from(text);
    assert.equal((await push(pooled, true)).accepted, 1);
    assert.equal(pooled.toString(), text);
  }
});
