import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { TraceIngest } from 'svc/contracts/traces';

import { openHouse } from './house.ts';
import type { Loose } from './store-house.ts';
import { toldByTempo } from './told-by-tempo.ts';

const load = (name: string): Loose =>
  JSON.parse(
    gunzipSync(readFileSync(new URL(`../../golden/traceql/${name}`, import.meta.url))).toString(
      'utf8',
    ),
  );

test('a client is told of 200 traces what a real server told it: tags, values and traces, with their statuses and media types', async (t) => {
  const { traces } = load('traceql-input.json.gz');
  const { tags, byid, end } = load('traceql-expected-tempo2.10.8.json.gz');
  const house = await openHouse(t, { now: end * 1_000 });
  const ingest = house.service(TraceIngest);
  for (const trace of traces) {
    assert.equal(
      (await ingest.push('otlp-json', Buffer.from(JSON.stringify(trace)), {})).rejected,
      0,
    );
  }
  const bare = (type: string | null | undefined): string | undefined => type?.split(';')[0];
  for (const [path, expected] of Object.entries<Loose>(tags)) {
    const answer = await house.fetch(`/tempo${path}`);
    assert.deepEqual(
      [path, answer.status, bare(answer.headers.get('content-type'))],
      [path, 200, 'application/json'],
    );
    const { metrics, ...told } = (await answer.json()) as Loose;
    assert.equal(typeof metrics, 'object');
    if (path.includes('span.http.method/values?q=')) {
      told.tagValues = toldByTempo(traces, 'cart', told.tagValues);
    }
    assert.deepEqual(sorted(told), sorted({ ...expected, metrics: undefined }), path);
  }
  for (const [path, { status, ct, body }] of Object.entries<Loose>(byid)) {
    const answer = await house.fetch(`/tempo${path}`);
    const told = await answer.text();
    assert.deepEqual([path, answer.status], [path, status]);
    if (body === '') {
      assert.equal(told, '', 'it says nothing at all of a trace that is not there');
    } else {
      assert.equal(bare(answer.headers.get('content-type')), bare(ct));
      assert.deepEqual(spansOf(JSON.parse(told)), spansOf(body), path);
    }
  }
});

/** Lists in one order, at every level; what is undefined is not there. */
function sorted(value: Loose): Loose {
  if (Array.isArray(value)) {
    return value.map(sorted).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  return Object.fromEntries(entries.map(([key, entry]) => [key, sorted(entry)]));
}

/** Every span with its resource and scope, in one order. */
const spansOf = (body: Loose): Loose =>
  sorted(
    (body.batches ?? body.trace.resourceSpans ?? []).flatMap(({ resource, scopeSpans }: Loose) =>
      scopeSpans.flatMap(({ scope, spans }: Loose) =>
        spans.map((span: Loose) => ({ resource, scope, span })),
      ),
    ),
  );
