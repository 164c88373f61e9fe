import assert from 'node:assert/strict';

import type { TestHost } from 'svc/testing';

import { bodyOf, spanId, traceId } from '../traces/bodies.ts';

/** Pushed apart, so that each is a record of its own in the log of its store. */
export async function fill(house: TestHost, now: number): Promise<void> {
  const json = { 'content-type': 'application/json' };
  for (let n = 1; n <= 3; n++) {
    const streams = [
      { stream: { app: 't' }, values: [[`${now - n * 1_000}000000`, `level=info n=${n}`]] },
    ];
    const span = { trace: traceId(n), id: spanId(n), startMs: now - n * 1_000 };
    const exemplar = `# TYPE m counter\nm_total{n="${n}"} ${n} # {trace_id="${n}"} 1\n# EOF\n`;
    const pushes: [path: string, init: RequestInit][] = [
      ['/loki/api/v1/push', { headers: json, body: JSON.stringify({ streams }) }],
      [
        '/v1/traces',
        {
          headers: { 'content-type': 'application/x-protobuf' },
          body: Uint8Array.from(bodyOf({ 'service.name': 's' }, span)),
        },
      ],
      [
        '/api/v1/import/prometheus',
        { headers: { 'content-type': 'text/plain' }, body: `m{n="${n}"} ${n}\n` },
      ],
      [
        '/api/v1/import/prometheus',
        {
          headers: { 'content-type': 'application/openmetrics-text; version=1.0.0' },
          body: exemplar,
        },
      ],
    ];
    for (const [path, init] of pushes) {
      const { status } = await house.fetch(path, { method: 'POST', ...init });
      assert.ok(status < 300, `${path}: ${status}`);
    }
  }
}
