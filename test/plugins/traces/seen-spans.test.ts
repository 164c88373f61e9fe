import assert from 'node:assert/strict';
import { test } from 'node:test';

import { SeenSpans } from '../../../plugins/traces/traceql/spans/seen-spans.ts';

test('spans with neighbouring ids, kinds and traces are told apart, and each is new once', () => {
  const seen = new SeenSpans(() => undefined);
  const resource = [{ key: 'device_id', value: { type: 'string', value: '7' } }] as const;
  const count = (): number => {
    let fresh = 0;
    for (let trace = 1; trace <= 20; trace++) {
      for (let id = 1; id <= 500; id++) {
        for (let kind = 0; kind <= 5; kind++) {
          const traceId = trace.toString(16).padStart(32, '0');
          fresh += Number(seen.add(traceId, { idHigh: id % 3, idLow: id, kind, resource }));
        }
      }
    }
    return fresh;
  };
  assert.equal(count(), 20 * 500 * 6);
  assert.equal(count(), 0);
});
