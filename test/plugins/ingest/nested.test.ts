import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readJsonPush } from '../../../plugins/logs/store/intake/json-push.ts';
import { readOtlpJson as readLogs } from '../../../plugins/logs/store/intake/otlp-push.ts';
import { readOtlpJson as readMetrics } from '../../../plugins/metricsdb/store/intake/otlp-json.ts';
import { protoFromJson } from '../../../plugins/traces/store/intake/otlp-json.ts';

const nobody = undefined as never;
const readers: Readonly<Record<string, (body: Buffer) => unknown>> = {
  streams: readJsonPush,
  resourceLogs: readLogs,
  resourceSpans: protoFromJson,
  resourceMetrics: (body) => readMetrics(body, nobody, nobody),
};

test('a body that is nested deep is refused before it is parsed, whatever store it is for', () => {
  for (const [field, read] of Object.entries(readers)) {
    for (const open of ['[', '{"a":']) {
      const body = Buffer.from(`{"${field}":${open.repeat(300)}`);
      assert.throws(() => read(body), /nested more than 256 levels deep/, `${field} ${open}`);
    }
    const shallow = Buffer.from(`{"${field}":[],"text":"\\"${'[{'.repeat(300)}"}`);
    assert.doesNotThrow(() => read(shallow), field);
    assert.throws(() => read(Buffer.from(`{"${field}":[}`)), /not JSON/, field);
  }
});
