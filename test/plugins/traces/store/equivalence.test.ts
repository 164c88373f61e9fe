import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';

import fc from 'fast-check';
import { budget } from 'svc/query';

import { openTracesStore, type TracesStore } from '../../../../plugins/traces/store/store.ts';
import { metrics, parse, printQuery, search } from '../../../../plugins/traces/traceql/index.ts';
import type { SpanSource } from '../../../../plugins/traces/traceql/spans/source.ts';
import type { TraceSpans } from '../../../../plugins/traces/traceql/spans/span.ts';
import { quiet } from '../store-house.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const input = JSON.parse(
  gunzipSync(
    readFileSync(new URL('../../../golden/traceql/traceql-input.json.gz', import.meta.url)),
  ).toString('utf8'),
) as {
  traces: object[];
};
const window = { startMs: 1_795_200_528_000, endMs: 1_795_204_068_000 };
const cost = () => budget({ timeoutMs: 60_000, now: () => performance.now() });

const conditions = [
  ...[
    'resource.service.name = "cart"',
    'resource.service.name =~ "c.*"',
    'resource.service.name != "cart"',
    '.service.name = "nobody"',
    'name = "SELECT"',
    'name !~ "S.*"',
  ],
  ...[
    'span.http.status_code = 500',
    'span.http.status_code = 500.0',
    '.http.status_code >= 404',
    'span.db.rows > 90',
    'span.user.vip = true',
    'span.user.vip',
    '.ratio < 0.1',
  ],
  ...[
    'status = error',
    'status != unset',
    'kind = client',
    'kind != server',
    'duration > 200ms',
    'duration <= 10ms',
    'statusMessage = "failed"',
    'event:name = "exception"',
  ],
  ...[
    'event.exception.message = "boom 1"',
    '.exception.message = "boom 2"',
    'instrumentation:name = "lib-cart"',
    'span.http.url != nil',
    'span.http.url = nil',
    'true',
    'false',
  ],
  ...[
    '!(status = error)',
    'rootName = "frontend.op2"',
    'traceDuration > 500ms',
    'nestedSetParent < 0',
    'parent.service.name = "cart"',
    'span.db.rows * 2 > 180',
    'childCount > 2',
  ],
];
const condition = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom(...conditions),
    fc
      .tuple(tie('filter'), fc.constantFrom('&&', '||'), tie('filter'))
      .map(([a, sign, b]) => `(${a} ${sign} ${b})`),
  ),
})).filter;
const spanset = condition.map((filter) => `{ ${filter} }`);
const query = fc
  .tuple(
    fc.oneof(
      spanset,
      fc
        .tuple(
          spanset,
          fc.constantFrom('&&', '||', '>', '>>', '<', '<<', '~', '!>', '!<<', '!~', '&>>', '&<'),
          spanset,
        )
        .map((parts) => parts.join(' ')),
    ),
    fc.constantFrom(
      '',
      ' | count() > 1',
      ' | by(resource.service.name)',
      ' | avg(duration) > 100ms',
      ' | by(name) | count() = 1',
    ),
  )
  .map(([left, right]) => left + right);

/** Everything there is, whatever the query hints at. */
const without = (traces: readonly TraceSpans[]): SpanSource => ({
  async *traces() {
    yield { traces, newestLeft: -Infinity, share: 1 };
  },
});

describe('hints, dictionaries and blocks change no answer', () => {
  let store: TracesStore;
  let all: SpanSource;

  before(async () => {
    const place = mkdtempSync(join(tmpdir(), 'svc-traces-'));
    store = await openTracesStore({ folder: place, log: quiet, now: () => Date.now() });
    for (const [index, trace] of input.traces.entries()) {
      await store.push('otlp-json', Buffer.from(JSON.stringify(trace)));
      if (index === 60 || index === 130) {
        await store.tend({ now: true });
      }
    }
    const { traces: everything } = await search(
      store.source(),
      parse('{ }'),
      { window, limit: 1000, spansPerSpanset: 1000 },
      cost(),
    );
    const whole = await Promise.all(
      everything.map(({ traceId }) => store.trace(Buffer.from(traceId, 'hex'))),
    );
    all = without(whole.map((trace) => trace!));
    return async () => {
      await store.close();
      rmSync(place, { recursive: true });
    };
  });

  const answer = async (source: SpanSource, text: string, limit: number): Promise<string> => {
    const { traces } = await search(
      source,
      parse(text),
      { window, limit, spansPerSpanset: 1000 },
      cost(),
    );
    return JSON.stringify(
      traces.map((trace) => [
        trace.traceId,
        trace.spansets.map(({ spans, attributes }) => [
          attributes,
          spans.map(({ span }) => span.id).sort(),
        ]),
      ]),
    );
  };

  test('of any search, at any limit', async () => {
    await fc.assert(
      fc.asyncProperty(query, fc.constantFrom(1, 7, 1000), async (text, limit) => {
        const printed = printQuery(parse(text));
        assert.equal(
          await answer(store.source(), text, limit),
          await answer(all, text, limit),
          text,
        );
        assert.equal(await answer(all, printed, limit), await answer(all, text, limit), printed);
      }),
      { numRuns: 120 },
    );
  });

  test('of any metrics query', async () => {
    const measure = fc.constantFrom(
      'rate()',
      'count_over_time() by (resource.service.name)',
      'max_over_time(duration)',
      'avg_over_time(span.db.rows) by (name)',
    );
    await fc.assert(
      fc.asyncProperty(query, measure, async (text, stage) => {
        const asked = { start: window.startMs, end: window.endMs, step: 60_000 };
        const told = async (source: SpanSource): Promise<string> => {
          const { series } = await metrics(source, parse(`${text} | ${stage}`), asked, cost());
          return JSON.stringify(
            series.map(({ labels, values }) => [
              labels,
              Array.from(values, (value) =>
                Number.isNaN(value) ? null : Number(value.toPrecision(9)),
              ),
            ]),
          );
        };
        assert.equal(await told(store.source()), await told(all), `${text} | ${stage}`);
      }),
      { numRuns: 50 },
    );
  });
});
