import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { messageOf } from 'svc/sdk';

import { jsonOf, type Loose, noCall, openService, type Service } from './store-house.ts';
import { toldByTempo } from './told-by-tempo.ts';

const folder = new URL('../../golden/traceql/', import.meta.url);
const load = (name: string): Loose =>
  JSON.parse(gunzipSync(readFileSync(new URL(name, folder))).toString('utf8'));
const input = load('traceql-input.json.gz') as { traces: object[] };
const expected = load('traceql-expected-tempo2.10.8.json.gz') as {
  start: number;
  end: number;
  limit: number;
  spss: number;
  queries: { q: string; status: number; body?: string; traces?: Loose[] }[];
  tags: Record<string, Loose>;
  byid: Record<string, { status: number; body: Loose }>;
};
const skipped = new Set(
  readFileSync(new URL('skipped.txt', folder), 'utf8')
    .split('\n')
    .map((line) => line.split('\t')[0]!)
    .filter((line) => line !== ''),
);
const window = { start: expected.start * 1000, end: expected.end * 1000 };

/** Layouts of spans in the store, which must make no difference. */
const layouts: Readonly<Record<string, (service: Service) => Promise<void>>> = {
  'in the head': async ({ methods }) => {
    for (const trace of input.traces) {
      await push(methods, trace);
    }
  },
  'in blocks': async ({ methods }) => {
    for (const [index, trace] of input.traces.entries()) {
      await push(methods, trace);
      if (index % 67 === 66) {
        await methods.tend({ now: true });
      }
    }
    await methods.tend({ now: true });
    assert.equal(methods.stats().blocks, 3);
    assert.equal(methods.stats().headSpans, 0);
  },
  'divided between blocks and head': async ({ methods }) => {
    for (const part of [0, 1, 2]) {
      for (const trace of input.traces as { resourceSpans: object[] }[]) {
        const resourceSpans = trace.resourceSpans.filter((_, index) => index % 3 === part);
        await push(methods, { resourceSpans });
      }
      if (part < 2) {
        await methods.tend({ now: true });
      }
    }
  },
};

async function push(methods: Service['methods'], trace: object): Promise<void> {
  const { rejected } = await methods.push({
    format: 'otlp-json',
    body: Buffer.from(JSON.stringify(trace)),
  });
  assert.equal(rejected, 0);
}

for (const [layout, fill] of Object.entries(layouts)) {
  describe(`200 traces ${layout} are answered as a real server answers`, () => {
    let opened: Promise<Service> | undefined;
    const closers: (() => unknown)[] = [];
    const house = (): Promise<Service> =>
      (opened ??= (async () => {
        const service = await openService({ after: (work) => void closers.unshift(work) });
        await fill(service);
        return service;
      })());

    for (const { q, status, body, traces } of expected.queries.filter(
      (query) => !skipped.has(query.q),
    )) {
      test(q, async () => {
        const { methods } = await house();
        const asked = {
          query: q,
          ...window,
          limit: expected.limit,
          spansPerSpanSet: expected.spss,
        };
        if (status !== 200) {
          await assert.rejects(
            methods.searchJson(asked, noCall),
            (error) => messageOf(error) === body,
          );
          return;
        }
        const answer = jsonOf(await methods.searchJson(asked, noCall)) as { traces: Loose[] };
        assert.deepEqual(answer.traces.map(comparable), traces);
      });
    }

    for (const [path, answer] of Object.entries(expected.tags).filter(
      ([url]) => !skipped.has(url),
    )) {
      test(path, async () => {
        const { methods } = await house();
        const told = await askTags(methods, path);
        if (path.includes('span.http.method/values?q=')) {
          assert.deepEqual(told.tagValues.map(({ value }: Loose) => value).sort(), ['GET', 'POST']);
          told.tagValues = toldByTempo(input.traces, 'cart', told.tagValues);
        }
        assert.deepEqual(sorted(told), sorted(withoutMetrics(answer)));
      });
    }

    for (const [path, { status, body }] of Object.entries(expected.byid).filter(
      ([url]) => !skipped.has(url),
    )) {
      test(path, async () => {
        const { methods } = await house();
        const form = path.startsWith('/api/v2/') ? 'v2' : 'v1';
        const bytes = await methods.trace({ traceId: path.split('/').at(-1)!, form }, noCall);
        assert.equal(bytes === undefined ? 404 : 200, status);
        if (bytes !== undefined) {
          assert.deepEqual(ordered(jsonOf(bytes)), ordered(body));
        }
      });
    }

    test('nothing was left behind', async (t: TestContext) => {
      await opened;
      for (const close of closers) {
        await close();
      }
      assert.ok(t.name);
    });
  });
}

/** A trace of ours in the form that the answers were recorded in. */
function comparable(trace: Loose): object {
  const services = Object.entries(trace.serviceStats as object).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return {
    traceID: trace.traceID,
    rootServiceName: trace.rootServiceName,
    rootTraceName: trace.rootTraceName,
    startTimeUnixNano: trace.startTimeUnixNano,
    durationMs: trace.durationMs,
    matched: trace.spanSets.map((spanset: Loose) => spanset.matched),
    spans: trace.spanSets
      .flatMap((spanset: Loose) => spanset.spans.map(({ spanID }: Loose) => spanID))
      .sort(),
    serviceStats: Object.fromEntries(services),
  };
}

async function askTags(methods: Service['methods'], path: string): Promise<Loose> {
  const url = new URL(path, 'http://localhost');
  const version = url.pathname.startsWith('/api/v2/') ? 2 : 1;
  const tag = /\/search\/tag\/(.+)\/values$/.exec(url.pathname)?.[1];
  const query = url.searchParams.get('q');
  const scope = url.searchParams.get('scope');
  const answer =
    tag === undefined
      ? await methods.tagsJson({ ...window, version, ...(scope !== null && { scope }) }, noCall)
      : await methods.tagValuesJson(
          { ...window, version, tag, ...(query !== null && { query }) },
          noCall,
        );
  return withoutMetrics(jsonOf(answer));
}

const withoutMetrics = ({ metrics: _, ...rest }: Loose): Loose => rest;

/** Lists in one order, at every level. */
function sorted(value: Loose): Loose {
  if (Array.isArray(value)) {
    return value.map(sorted).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, sorted(entry)]))
    : value;
}

/** A trace with batches of the same resource together and everything in one order. */
function ordered(body: Loose): Loose {
  const batches = body.batches ?? body.trace?.resourceSpans ?? [];
  const merged = new Map<string, Loose[]>();
  for (const { resource, scopeSpans } of batches) {
    for (const { scope, spans } of scopeSpans) {
      const key = JSON.stringify([sorted(resource), sorted(scope)]);
      merged.set(key, [...(merged.get(key) ?? []), ...spans]);
    }
  }
  return sorted([...merged]);
}
