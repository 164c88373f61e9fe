import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { budget } from 'svc/query';

import { metricsJson } from '../../../../plugins/traces/store/read/answer-json.ts';
import { queryOfTags } from '../../../../plugins/traces/traceql/index.ts';
import { bodyOf, spanId, startMs, traceId } from '../bodies.ts';
import { jsonOf, type Loose, noCall, openService, type Service } from '../store-house.ts';

const window = { start: startMs - 1000, end: startMs + 100_000 };

async function filled(
  t: { after(work: () => unknown): void },
  limits: object = {},
): Promise<Service> {
  const service = await openService(t, { limits });
  const methods = [
    ['cart', 'GET', 1],
    ['cart', 'POST', 2],
    ['front', 'PUT', 0],
  ] as const;
  for (const [index, [name, method, status]] of methods.entries()) {
    await service.methods.push({
      format: 'otlp-proto',
      body: bodyOf(
        { 'service.name': name, tags: ['x', 'y'] },
        {
          trace: traceId(index + 1),
          id: spanId(index + 1),
          status,
          name: `op ${method}`,
          ms: 10 * (index + 1),
          attributes: { 'http.method': method, 'http.status': 200 + index, [`only${index}`]: true },
          events: [{ name: 'e', attributes: { why: method } }],
        },
      ),
    });
    if (index === 0) {
      await service.methods.tend({ now: true });
    }
  }
  return service;
}

const values = async ({ methods }: Service, tag: string, query?: string): Promise<string[]> =>
  (await methods.tagValues({ tag, ...window, ...(query !== undefined && { query }) }, noCall))
    .map(({ type, value }) => `${type} ${value}`)
    .sort();

describe('values of a tag', () => {
  test('come from blocks and head, with their types', async (t) => {
    const service = await filled(t);
    assert.deepEqual(await values(service, 'resource.service.name'), [
      'string cart',
      'string front',
    ]);
    assert.deepEqual(await values(service, '.service.name'), ['string cart', 'string front']);
    assert.deepEqual(await values(service, 'service.name'), ['string cart', 'string front']);
    assert.deepEqual(await values(service, 'span.service.name'), []);
    assert.deepEqual(await values(service, 'span.http.status'), ['int 200', 'int 201', 'int 202']);
    assert.deepEqual(await values(service, 'span.only1'), ['bool true']);
    assert.deepEqual(await values(service, 'resource.tags'), ['string x', 'string y']);
    assert.deepEqual(await values(service, 'event.why'), [
      'string GET',
      'string POST',
      'string PUT',
    ]);
    assert.deepEqual(await values(service, 'event:name'), ['string e']);
    assert.deepEqual(await values(service, 'name'), [
      'string op GET',
      'string op POST',
      'string op PUT',
    ]);
    assert.deepEqual(await values(service, 'rootServiceName'), ['string cart', 'string front']);
    assert.deepEqual(await values(service, 'status'), [
      'keyword error',
      'keyword ok',
      'keyword unset',
    ]);
    assert.deepEqual(await values(service, 'duration'), []);
  });

  test('are those of the spans that a filter leaves', async (t) => {
    const service = await filled(t);
    assert.deepEqual(
      await values(service, 'span.http.method', '{ resource.service.name = "cart" }'),
      ['string GET', 'string POST'],
    );
    assert.deepEqual(
      await values(
        service,
        'span.http.method',
        '{ resource.service.name = "cart" && status = error }',
      ),
      ['string POST'],
    );
    assert.deepEqual(await values(service, 'rootServiceName', '{ status = ok }'), ['string cart']);
    assert.deepEqual(await values(service, 'span.http.method', '{}'), [
      'string GET',
      'string POST',
      'string PUT',
    ]);
    await assert.rejects(
      service.methods.tagValues({ tag: 'span.x', ...window, query: '{ foo }' }, noCall),
      /unknown identifier: foo/,
    );
  });

  test('are no more than were asked for, and none of another time', async (t) => {
    const { methods } = await filled(t);
    assert.equal(
      (await methods.tagValues({ tag: 'span.http.status', ...window, limit: 2 }, noCall)).length,
      2,
    );
    await methods.tend({ now: true });
    assert.deepEqual(
      await methods.tagValues({ tag: 'span.http.status', start: 0, end: 1000 }, noCall),
      [],
    );
    await assert.rejects(
      methods.tagValues({ tag: 'span.x', ...window, limit: 0 }, noCall),
      /limit must be from 1 to 5000/,
    );
  });
});

test('names of tags are told by scope, or all in one list', async (t) => {
  const { methods } = await filled(t);
  const { scopes } = jsonOf(await methods.tagsJson({ ...window, version: 2 }, noCall));
  assert.deepEqual(scopes.slice(0, 3), [
    { name: 'resource', tags: ['service.name', 'tags'] },
    { name: 'span', tags: ['http.method', 'http.status', 'only0', 'only1', 'only2'] },
    { name: 'event', tags: ['why'] },
  ]);
  assert.deepEqual(
    jsonOf(await methods.tagsJson({ ...window, version: 1, scope: 'resource' }, noCall)).tagNames,
    ['service.name', 'tags'],
  );
  assert.ok(
    jsonOf(
      await methods.tagsJson({ ...window, version: 1, scope: 'intrinsic' }, noCall),
    ).tagNames.includes('traceDuration'),
  );
});

test('names are complete even where a block has more of them than the catalogue holds', async (t) => {
  const service = await openService(t);
  const many = Object.fromEntries(Array.from({ length: 120 }, (_, index) => [index, index]));
  for (let part = 0; part < 6; part++) {
    const attributes = Object.fromEntries(Object.keys(many).map((key) => [`k${part}.${key}`, 1]));
    await service.methods.push({
      format: 'otlp-proto',
      body: bodyOf({}, { trace: traceId(part + 1), id: spanId(1), attributes }),
    });
  }
  await service.methods.tend({ now: true });
  assert.equal((await service.methods.tagNames(window, noCall)).span.length, 720);
  assert.deepEqual(await values(service, 'span.k5.119'), ['int 1']);
});

test('a search by tags is one in TraceQL', async (t) => {
  assert.equal(queryOfTags({}), '{  }');
  assert.throws(() => queryOfTags({ tags: 'oops' }), /expecting key=value at position 1/);
  assert.throws(() => queryOfTags({ minDuration: 'long' }), /invalid minDuration/);
  const { methods } = await filled(t);
  const ask = async (tags: string, more: object = {}): Promise<string[]> => {
    const answer = jsonOf(await methods.searchJson({ tags, ...more, ...window }, noCall));
    assert.ok(answer.traces.every((trace: object) => !('spanSets' in trace)));
    return answer.traces.map((trace: Loose) => trace.traceID).sort();
  };
  assert.deepEqual(await ask(''), ['1', '2', '3']);
  assert.deepEqual(
    [await ask('service.name=cart'), await ask('service.name=CART'), await ask('service.name=car')],
    [['1', '2'], [], []],
  );
  assert.deepEqual(await ask('service.name=cart http.status=201'), ['2']);
  assert.deepEqual(await ask('name="op POST"'), ['2']);
  assert.deepEqual(await ask('error=true'), ['2']);
  assert.deepEqual(await ask('only0=true'), ['1']);
  assert.deepEqual(await ask('root.service.name=front'), ['3']);
  assert.deepEqual(await ask('', { minDuration: '15ms', maxDuration: '25ms' }), ['2']);
  assert.deepEqual(await ask('service.name=.*'), []);
});

test('an id of a trace may lack its zeros, and must be hexadecimal', async (t) => {
  const { methods } = await filled(t);
  assert.notEqual(await methods.trace({ traceId: '1', form: 'v1' }, noCall), undefined);
  await assert.rejects(
    methods.trace({ traceId: 'zzz', form: 'v1' }, noCall),
    /^.*trace IDs can only contain hex characters: invalid character 'z' at position 1$/,
  );
  await assert.rejects(
    methods.trace({ traceId: '0'.repeat(33), form: 'v1' }, noCall),
    /can't be larger than 128 bits/,
  );
  assert.deepEqual(jsonOf(await methods.trace({ traceId: 'abc', form: 'v2' }, noCall)), {
    trace: {},
    metrics: {},
  });
});

test('an answer of metrics ends where it becomes too large, whatever of it has no number', async () => {
  const long = Array.from({ length: 11_000 }, (_, at) => startMs + at);
  const [full, empty] = [new Float64Array(long.length), new Float64Array(long.length).fill(NaN)];
  const told = (filled: number): Promise<Uint8Array> =>
    metricsJson(
      {
        times: Float64Array.from(long),
        series: Array.from({ length: 5_000 }, (_, at) => ({
          labels: [],
          values: at < filled ? full : empty,
        })),
      },
      budget({ timeoutMs: 60_000, now: () => 0 }),
    );
  assert.equal(jsonOf(await told(1)).series.length, 5_000);
  await assert.rejects(told(200), {
    code: 'budget_exceeded',
    kind: 'too_large',
    message: /larger than 67108864 bytes: ask for a longer step/,
  });
});

test('a range of metrics is told with labels and samples', async (t) => {
  const { methods } = await filled(t);
  const asked = {
    query: '{ } | count_over_time() by (resource.service.name)',
    start: startMs,
    end: startMs,
    step: 10_000,
  };
  assert.deepEqual(jsonOf(await methods.metricsJson(asked, noCall)).series, [
    {
      labels: [{ key: 'resource.service.name', value: { stringValue: 'cart' } }],
      samples: [{ timestampMs: String(startMs), value: 2 }],
      promLabels: '{"resource.service.name"="cart"}',
    },
    {
      labels: [{ key: 'resource.service.name', value: { stringValue: 'front' } }],
      samples: [{ timestampMs: String(startMs), value: 1 }],
      promLabels: '{"resource.service.name"="front"}',
    },
  ]);
  const { labels, times, values: columns } = await methods.metrics(asked, noCall);
  assert.deepEqual(
    [labels[0]!['resource.service.name'], times[0]![0], columns[0]![0]],
    ['cart', startMs, 2],
  );
  assert.deepEqual(methods.check({ query: asked.query }), {
    printed: '{ } | count_over_time() by(resource.service.name)',
  });
});

test('names of tags are those of the spans that a filter wants', async (t) => {
  const { methods } = await filled(t);
  const names = async (query: string): Promise<readonly string[]> =>
    (await methods.tagNames({ ...window, query }, noCall)).span;
  assert.deepEqual(
    (await names('')).filter((name) => name.startsWith('only')),
    ['only0', 'only1', 'only2'],
  );
  assert.deepEqual(
    (await names('{ .only1 = true }')).filter((name) => name.startsWith('only')),
    ['only1'],
  );
  assert.deepEqual(await names('{ resource.service.name = "nowhere" }'), []);
});
