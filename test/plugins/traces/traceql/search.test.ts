import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { budget, matcher } from 'svc/query';

import {
  parse,
  search,
  type SearchOptions,
  type SearchResult,
} from '../../../../plugins/traces/traceql/index.ts';
import { compileField } from '../../../../plugins/traces/traceql/search/field.ts';
import type { TraceBatch } from '../../../../plugins/traces/traceql/spans/source.ts';
import type { TraceSpans } from '../../../../plugins/traces/traceql/spans/span.ts';
import { TraceView } from '../../../../plugins/traces/traceql/spans/trace-view.ts';
import { epochMs, memorySource, type Sketch, traceOf } from '../spans.ts';

const id = (letter: string): string => letter.repeat(16);
const [A, B, C, D, E, F] = ['a', 'b', 'c', 'd', 'e', 'f'].map(id) as [
  string,
  string,
  string,
  string,
  string,
  string,
];

const ask = (
  traces: readonly TraceSpans[],
  query: string,
  options: Partial<SearchOptions> = {},
): Promise<SearchResult> =>
  search(
    memorySource(...traces),
    parse(query),
    {
      window: { startMs: epochMs - 1000, endMs: epochMs + 100_000 },
      limit: 20,
      spansPerSpanset: 100,
      ...options,
    },
    budget({ timeoutMs: 10_000, now: () => performance.now() }),
  );

/** First letters of the ids of the spans that match, spansets apart. */
async function matches(spans: readonly Sketch[], query: string): Promise<string> {
  const { traces } = await ask([traceOf('1'.repeat(32), ...spans)], query);
  return traces
    .flatMap(({ spansets }) =>
      spansets.map((spanset) => spanset.spans.map(({ span }) => span.id[0]).join('')),
    )
    .join(' ');
}

const cases = (spans: readonly Sketch[], table: Readonly<Record<string, string>>): void => {
  for (const [query, expected] of Object.entries(table)) {
    test(`${query} finds ${expected === '' ? 'nothing' : expected}`, async () =>
      assert.equal(await matches(spans, query), expected));
  }
};

test('the scope of an attribute is looked at when the query is compiled, not for each span', () => {
  const view = new TraceView(
    traceOf(
      '1'.repeat(32),
      { id: A, attributes: { key: 'span' }, resource: { key: 'resource' } },
      { id: B, parent: A },
    ),
  );
  for (const ofParent of [false, true]) {
    for (const scope of ['span', 'resource', 'event', 'link', 'instrumentation', 'any'] as const) {
      let looks = 0;
      const evaluate = compileField({
        kind: 'attribute',
        name: 'key',
        ofParent,
        get scope() {
          looks++;
          return scope;
        },
      });
      const before = looks;
      const values = [0, 1].map((index) => evaluate(view, index));
      const found = { type: 'string', value: scope === 'any' ? 'span' : scope };
      const hasIt = scope === 'span' || scope === 'resource' || scope === 'any';
      assert.deepEqual(values[ofParent ? 1 : 0], hasIt ? found : undefined);
      assert.deepEqual([before, looks], [1, 1]);
    }
  }
});

describe('fields', () => {
  const spans: Sketch[] = [
    {
      id: A,
      at: 0,
      ms: 100,
      name: 'root',
      kind: 2,
      service: 'front',
      attributes: {
        n: 5,
        f: 2.5,
        t: 'text',
        b: true,
        both: 'span',
        tags: ['x', 'y'],
        'odd key': 1,
        sizes: [1, 20],
      },
      resource: { both: 'resource', region: 'eu' },
      scope: { name: 'lib', version: '1.2', attributes: { short: 'yes' } },
    },
    {
      id: B,
      parent: A,
      at: 1,
      ms: 20,
      kind: 3,
      status: 2,
      statusMessage: 'broke',
      service: 'back',
      attributes: { n: 7, t: 'other', level: 'error' },
      events: [
        { name: 'one', sinceMs: 5, attributes: { e: 1 } },
        { name: 'two', sinceMs: 15, attributes: { e: 2 } },
      ],
      links: [{ traceId: '2'.repeat(32), spanId: '3'.repeat(16), attributes: { why: 'retry' } }],
    },
    { id: C, parent: B, at: 2, ms: 5, status: 1, service: 'back', attributes: { n: -1 } },
  ];
  cases(spans, {
    '{ .n = 5 }': 'a',
    '{ .n != 5 }': 'bc',
    '{ .n > 5.5 }': 'b',
    '{ span.n >= 5 && span.n <= 7 }': 'ab',
    '{ .n < 0 }': 'c',
    '{ .n = -1 }': 'c',
    '{ .f = 2.5 }': 'a',
    '{ .n = "5" }': '',
    '{ .t = "text" }': 'a',
    '{ .t > "p" }': 'a',
    '{ .t =~ "te.t|none" }': 'a',
    '{ .t =~ "te" }': '',
    '{ .t !~ "te.*" }': 'b',
    '{ .n =~ "5" }': '',
    '{ .b }': 'a',
    '{ .b = true }': 'a',
    '{ !.b }': '',
    '{ .b = nil }': 'bc',
    '{ .b != nil }': 'a',
    '{ nil != .b }': 'a',
    '{ nil = nil }': '',
    '{ .both = "span" }': 'a',
    '{ resource.both = "resource" }': 'a',
    '{ span.region = "eu" }': '',
    '{ .region = "eu" }': 'a',
    '{ span."odd key" = 1 }': 'a',
    '{ .tags = "y" }': 'a',
    '{ .tags != "y" }': '',
    '{ .tags != "z" }': 'a',
    '{ .tags =~ "x|z" }': 'a',
    '{ .tags !~ "x" }': '',
    '{ .sizes > 10 }': 'a',
    '{ "y" = .tags }': 'a',
    '{ event.e = 2 }': 'b',
    '{ event.e != 1 }': 'b',
    '{ event:name = "two" }': 'b',
    '{ event:timeSinceStart > 10ms }': 'b',
    '{ .e = 1 }': 'b',
    '{ link.why = "retry" }': 'b',
    '{ link:spanID = "3333333333333333" }': 'b',
    '{ link:traceID =~ "2+" }': 'b',
    '{ instrumentation.short = "yes" }': 'a',
    '{ instrumentation:name = "lib" && instrumentation:version = "1.2" }': 'a',
    '{ parent.t = "text" }': 'b',
    '{ parent.resource.service.name = "back" }': 'c',
    '{ name = "root" }': 'a',
    '{ status = error }': 'b',
    '{ statusMessage = "broke" }': 'b',
    '{ kind = client || kind = internal }': 'bc',
    '{ .level = error }': '',
    '{ duration > 15ms && duration < 1s }': 'ab',
    '{ duration > 20 }': 'abc',
    '{ traceDuration = 100ms }': 'abc',
    '{ rootName = "root" && rootServiceName = "front" && .n = 7 }': 'b',
    '{ trace:id = "11111111111111111111111111111111" }': 'abc',
    '{ span:id = "bbbbbbbbbbbbbbbb" }': 'b',
    '{ span:parentID = "aaaaaaaaaaaaaaaa" }': 'b',
    '{ childCount = 1 }': 'ab',
    '{ nestedSetParent = -1 }': 'a',
    '{ nestedSetLeft = 2 && nestedSetRight = 5 && nestedSetParent = 1 }': 'b',
    '{ .n + 1 = 6 }': 'a',
    '{ .n * 2 - 4 = .n + 3 }': 'b',
    '{ .n / 2 = 2 }': 'a',
    '{ .n % 4 = 3 }': 'b',
    '{ .n ^ 2 = 49 }': 'b',
    '{ -.n = 1 }': 'c',
    '{ duration / 2 > 40ms }': 'a',
    '{ 1 = 1 }': 'abc',
    '{ false }': '',
    '{ .none / 0 = 1 }': '',
    '{ .n / 0 = 1 }': '',
  });
});

describe('families', () => {
  //      a
  //    b   c        f has a parent that was never sent
  //   d e
  const spans: Sketch[] = [
    { id: A, at: 0 },
    { id: B, parent: A, at: 1, attributes: { k: 1 } },
    { id: C, parent: A, at: 2 },
    { id: D, parent: B, at: 3, attributes: { k: 1 } },
    { id: E, parent: B, at: 4 },
    { id: F, parent: id('9'), at: 5 },
  ];
  const named = (letters: string): string => `{ span:id =~ "[${letters}]+" }`;
  cases(spans, {
    [`${named('a')} > ${named('a-f')}`]: 'bc',
    [`${named('a')} >> ${named('a-f')}`]: 'bcde',
    [`${named('d')} < ${named('a-f')}`]: 'b',
    [`${named('d')} << ${named('a-f')}`]: 'ab',
    [`${named('d')} ~ ${named('a-f')}`]: 'e',
    [`${named('de')} ~ ${named('a-f')}`]: 'de',
    [`${named('a')} ~ ${named('a-f')}`]: '',
    [`${named('a')} !> ${named('a-f')}`]: 'adef',
    [`${named('a')} !>> ${named('a-f')}`]: 'af',
    [`${named('d')} !< ${named('a-f')}`]: 'acdef',
    [`${named('d')} !<< ${named('a-f')}`]: 'cdef',
    [`${named('d')} !~ ${named('a-f')}`]: 'abcdf',
    [`{ .nope = 1 } !> ${named('ab')}`]: 'ab',
    [`${named('ab')} &> ${named('de')}`]: 'bde',
    [`${named('ac')} &>> ${named('de')}`]: 'ade',
    [`${named('dc')} &< ${named('ab')}`]: 'abcd',
    [`${named('ef')} &<< ${named('a')}`]: 'ae',
    [`${named('d')} &~ ${named('ce')}`]: 'de',
    [`${named('a')} > ${named('b')} > ${named('e')}`]: 'e',
    [`${named('b')} && ${named('f')}`]: 'bf',
    [`${named('b')} && { .nope = 1 }`]: '',
    [`${named('b')} || { .nope = 1 }`]: 'b',
    '{ nestedSetParent = 0 }': 'f',
  });

  test('client and server that share an id are parent and child', async () => {
    const shared: Sketch[] = [
      { id: A, kind: 3 },
      { id: A, kind: 2, at: 1 },
      { id: B, parent: A, at: 2 },
    ];
    assert.equal(await matches(shared, '{ kind = client } > { kind = server }'), 'a');
    assert.equal(await matches(shared, '{ kind = server } > { }'), 'b');
    assert.equal(
      await matches([shared[1]!, shared[0]!, shared[2]!], '{ kind = client } >> { }'),
      'ab',
    );
  });

  test('spans whose parents go in a circle belong to nobody', async () => {
    const circle: Sketch[] = [
      { id: A, parent: B },
      { id: B, parent: A },
      { id: C, parent: C },
    ];
    assert.equal(await matches(circle, '{ } >> { }'), '');
    assert.equal(await matches(circle, '{ nestedSetLeft = 0 }'), 'ab');
  });
});

describe('pipelines', () => {
  const spans: Sketch[] = [
    { id: A, at: 0, ms: 10, service: 'x', attributes: { n: 1 } },
    { id: B, parent: A, at: 1, ms: 20, service: 'y', attributes: { n: 2 } },
    { id: C, parent: A, at: 2, ms: 30, service: 'y', attributes: { n: 4.5 } },
    { id: D, parent: A, at: 3, ms: 40, service: 'z' },
  ];
  cases(spans, {
    '{ } | count() = 4': 'abcd',
    '{ } | count() > 4': '',
    '{ .n > 1 } | count() = 2': 'bc',
    'count() > 3': 'abcd',
    '{ } | sum(.n) = 7.5': 'abcd',
    '{ } | avg(.n) = 2.5': 'abcd',
    '{ } | min(duration) = 10ms': 'abcd',
    '{ } | max(duration) > avg(duration) + 10ms': 'abcd',
    '{ .n = nil } | sum(.n) >= 0': '',
    '{ } | (max(.n) - min(.n)) * 2 = 7': 'abcd',
    '{ } | -count() < 0': 'abcd',
    '{ } | by(resource.service.name)': 'a bc d',
    'by(resource.service.name) | count() = 1': 'a d',
    '{ } | by(resource.service.name) | count() > 1 | { .n > 3 }': 'c',
    '{ } | by(resource.service.name, .n > 3)': 'a b c d',
    '{ } | by(resource.service.name) | count() = 1 | coalesce()': 'ad',
    '{ .n } | by(.n)': '',
    '({ .n = 1 } | count() = 1) && { .n = 2 }': 'ab',
    '({ } | count() > 9) || { .n = 2 }': 'b',
    '({ .n > 1 } | by(resource.service.name) | count() = 2) > { }': '',
    '{ .n = 1 } > ({ } | by(resource.service.name) | count() = 2)': 'bc',
  });

  test('what was counted and grouped by is said with each spanset', async () => {
    const { traces } = await ask(
      [traceOf('1'.repeat(32), ...spans)],
      '{ } | by(resource.service.name) | count() > 1 | avg(.n) > 0',
    );
    assert.deepEqual(
      traces[0]!.spansets.map(({ attributes }) => attributes),
      [
        [
          { key: 'by(resource.service.name)', value: { type: 'string', value: 'y' } },
          { key: 'count()', value: { type: 'int', value: 2 } },
          { key: 'avg(.n)', value: { type: 'float', value: 3.25 } },
        ],
      ],
    );
  });

  test('spans without the attribute are a group, and it is named', async () => {
    const { traces } = await ask(
      [traceOf('1'.repeat(32), ...spans)],
      '{ } | by(.nope) | count() = 4',
    );
    assert.deepEqual(traces[0]!.spansets[0]!.attributes[0], {
      key: 'by(.nope)',
      value: { type: 'string', value: 'nil' },
    });
  });

  test('spans show the attributes that the query speaks of or selects', async () => {
    const { traces } = await ask(
      [traceOf('1'.repeat(32), ...spans)],
      '{ .n = 2 && duration > 1ms } | select(resource.service.name, kind, .nope)',
    );
    assert.deepEqual(traces[0]!.spansets[0]!.spans[0]!.attributes, [
      { key: 'n', value: { type: 'int', value: 2 } },
      { key: 'service.name', value: { type: 'string', value: 'y' } },
      { key: 'kind', value: { type: 'kind', value: 1 } },
    ]);
  });
});

describe('a search', () => {
  const many = Array.from({ length: 30 }, (_, index) =>
    traceOf(index.toString(16).padStart(32, '0'), {
      id: A,
      at: index,
      ms: index + 1,
      service: `s${index % 3}`,
      resource: { device_id: String(index % 2) },
    }),
  );

  test('answers with the newest traces first, as many as were asked for', async () => {
    const { traces, partial } = await ask(many, '{ }', { limit: 3 });
    assert.deepEqual(
      traces.map(({ durationNs }) => durationNs / 1e6),
      [30, 29, 28],
    );
    assert.equal(partial, false);
  });

  test('shows no more spans of a spanset than were asked for, and counts all of them', async () => {
    const spans = Array.from({ length: 5 }, (_, index): Sketch => ({
      id: index.toString(16).padStart(16, '0'),
      at: 5 - index,
      service: 'x',
      status: index === 1 ? 2 : 0,
    }));
    const { traces } = await ask([traceOf('1'.repeat(32), ...spans)], '{ }', {
      spansPerSpanset: 2,
    });
    assert.equal(traces[0]!.spansets[0]!.matched, 5);
    assert.deepEqual(
      traces[0]!.spansets[0]!.spans.map(({ span }) => span.id.at(-1)),
      ['4', '3'],
    );
    assert.deepEqual([...traces[0]!.services], [['x', { spanCount: 5, errorCount: 1 }]]);
  });

  test('sees nothing of what its asker may not see', async () => {
    const enforce = [matcher('device_id', '=', '1')];
    assert.equal((await ask(many, '{ }', { enforce })).traces.length, 15);
    assert.equal((await ask(many, '{ resource.device_id = "0" }', { enforce })).traces.length, 0);
    const mixed = traceOf(
      '1'.repeat(32),
      { id: A, service: 'secret', resource: { device_id: '0' } },
      { id: B, parent: A, service: 'open', resource: { device_id: '1' } },
    );
    const { traces } = await ask([mixed], '{ }', { enforce });
    assert.deepEqual([...traces[0]!.services.keys()], ['open']);
    assert.equal(traces[0]!.rootService, '<root span not yet received>');
    assert.equal(
      (await ask([mixed], '{ parent.service.name = "secret" }', { enforce })).traces.length,
      0,
    );
  });

  test('that runs out of its budget answers with what it has found, and says so', async () => {
    async function* slowly(): AsyncIterable<TraceBatch> {
      for (const trace of many) {
        yield { traces: [trace], newestLeft: Infinity, share: 1 };
      }
    }
    const options = { window: { startMs: 0, endMs: Infinity }, limit: 20, spansPerSpanset: 3 };
    const spent = await search(
      { traces: slowly },
      parse('{ }'),
      options,
      budget({ timeoutMs: 10_000, maxSamples: 10, now: () => performance.now() }),
    );
    assert.deepEqual([spent.partial, spent.traces.length], [true, 10]);
    await assert.rejects(
      search(
        { traces: slowly },
        parse('{ .no = 1 }'),
        options,
        budget({ timeoutMs: 10_000, maxSamples: 10, now: () => performance.now() }),
      ),
      /more than 10 samples/,
    );
  });

  test('stops when nothing newer can come', async () => {
    let batches = 0;
    async function* ordered(): AsyncIterable<TraceBatch> {
      for (const trace of [...many].reverse()) {
        batches++;
        yield { traces: [trace], newestLeft: trace.spans[0]!.startMs - 1, share: 1 };
      }
    }
    await search(
      { traces: ordered },
      parse('{ }'),
      { window: { startMs: 0, endMs: Infinity }, limit: 2, spansPerSpanset: 3 },
      budget({ timeoutMs: 10_000, now: () => performance.now() }),
    );
    assert.equal(batches, 2);
  });
});
