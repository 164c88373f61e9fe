import assert from 'node:assert/strict';

import type { WholeHouse } from '../../whole-house.ts';

/** Pushes a gauge over the last hours, one hour a request; `valueOf` gets the age in minutes. */
export async function pushPast(
  house: Pick<WholeHouse, 'fetch'>,
  name: string,
  { hours, everyMinutes }: { readonly hours: number; readonly everyMinutes: number },
  valueOf: (minutesAgo: number) => number,
): Promise<void> {
  const now = Date.now();
  for (let hour = hours; hour > 0; hour--) {
    const dataPoints = Array.from({ length: 60 / everyMinutes }, (_, index) => {
      const minutesAgo = hour * 60 - index * everyMinutes;
      const at = BigInt(now - minutesAgo * 60_000) * 1_000_000n;
      return { timeUnixNano: String(at), asDouble: valueOf(minutesAgo) };
    });
    const attributes = [{ key: 'service.name', value: { stringValue: 'shop' } }];
    const answer = await house.fetch('/otlp/v1/metrics', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        resourceMetrics: [
          {
            resource: { attributes },
            scopeMetrics: [{ metrics: [{ name, gauge: { dataPoints } }] }],
          },
        ],
      }),
    });
    assert.equal(answer.status, 200, await answer.text());
  }
}
