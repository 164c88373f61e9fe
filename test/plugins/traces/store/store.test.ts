import assert from 'node:assert/strict';
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { nodeFiles } from 'svc/store';

import { bodyOf, type Sent, spanId, startMs, traceId } from '../bodies.ts';
import {
  folder,
  jsonOf,
  type Loose,
  noCall,
  openService,
  openStore,
  type Service,
} from '../store-house.ts';

const window = { start: startMs - 10_000, end: startMs + 1_000_000 };
const push = ({ methods }: Service, resource: Record<string, string>, ...spans: Sent[]) =>
  methods.push({ format: 'otlp-proto', body: bodyOf(resource, ...spans) });
const found = async ({ methods }: Service, query: string): Promise<string[]> =>
  (await methods.search({ query, ...window }, noCall)).traces.map((trace) =>
    trace.traceId.replace(/^0+/, ''),
  );
const span = (number: number, more: Partial<Sent> = {}): Sent => ({
  trace: traceId(number),
  id: spanId(number),
  startMs: startMs + number,
  ...more,
});

describe('what was taken', () => {
  test('stays when a later start writes its first block at the same millisecond of the clock', async (t) => {
    const place = folder(t);
    for (const number of [1, 2, 3]) {
      const service = await openService(t, { folder: place }, () => startMs);
      await push(service, { 'service.name': 'a' }, span(number));
      await service.methods.tend({ now: true });
      assert.deepEqual((await found(service, '{ }')).length, number);
      await service.close();
    }
  });

  test('counts once in metrics, however often and wherever it was pushed', async (t) => {
    const service = await openService(t);
    const count = async (query: string): Promise<number[]> => {
      const { values } = await service.methods.metrics(
        { query, start: startMs + 60_000, end: startMs + 60_000, step: 120_000 },
        noCall,
      );
      return values.map((one) => one[0]!);
    };
    const spans = Array.from({ length: 300 }, (_, at) => span(at + 1));
    await push(service, { 'service.name': 'a' }, ...spans);
    await push(service, { 'service.name': 'a' }, ...spans.slice(100));
    await service.methods.tend({ now: true });
    await push(service, { 'service.name': 'a' }, ...spans.slice(200), span(301));
    assert.deepEqual(await count('{ } | count_over_time()'), [301]);
    assert.deepEqual(await count('{ true } | count_over_time() by (resource.service.name)'), [301]);
    await service.methods.tend({ now: true });
    assert.deepEqual(await count('{ } | count_over_time()'), [301]);
  });

  test('of one device does not hide, nor stand in for, what another has sent under the same ids', async (t) => {
    const service = await openService(t);
    const sent = (device: string, status: number): Promise<unknown> =>
      service.methods.push({
        format: 'otlp-proto',
        body: bodyOf({ 'service.name': 'a' }, span(1, { status })),
        stamp: { device_id: device },
      });
    const seenBy = async (device?: string): Promise<unknown[]> => {
      const sight =
        device === undefined
          ? {}
          : { enforce: [{ name: 'device_id', op: '=', value: device }] as const };
      const counted = async (query: string): Promise<number[]> => {
        const { values } = await service.methods.metrics(
          { query, start: startMs + 60_000, end: startMs + 60_000, step: 120_000, ...sight },
          noCall,
        );
        return values.map((one) => one[0]!);
      };
      const { traces } = await service.methods.search(
        { query: '{ }', ...window, ...sight },
        noCall,
      );
      return [
        ...(await counted('{ } | count_over_time()')),
        ...(await counted('{ status = error } | count_over_time()')),
        traces.map(({ matched }) => matched),
        jsonOf(await service.methods.trace({ traceId: '1', form: 'v1', ...sight }, noCall)).batches
          .length,
      ];
    };
    await sent('7', 0);
    await service.methods.tend({ now: true });
    await sent('8', 2);
    await sent('8', 2);
    for (const _ of ['in a block and in the head', 'in two blocks']) {
      assert.deepEqual(await seenBy(), [2, 1, [2], 2]);
      assert.deepEqual(await seenBy('7'), [1, [1], 1]);
      assert.deepEqual(await seenBy('8'), [1, 1, [1], 1]);
      await service.methods.tend({ now: true });
    }
  });

  test('is found at once, and after a restart, whether it was in a block or not', async (t) => {
    const place = folder(t);
    const first = await openService(t, { folder: place });
    await push(first, { 'service.name': 'a' }, span(1), span(2));
    await first.methods.tend({ now: true });
    await push(first, { 'service.name': 'a' }, span(3));
    assert.deepEqual(await found(first, '{ resource.service.name = "a" }'), ['3', '2', '1']);
    await first.close();

    const second = await openService(t, { folder: place });
    assert.deepEqual(await found(second, '{ resource.service.name = "a" }'), ['3', '2', '1']);
    assert.deepEqual([second.methods.stats().headSpans, second.methods.stats().blockSpans], [1, 2]);
    await push(second, { 'service.name': 'b' }, span(4));
    await second.close();

    const third = await openService(t, { folder: place });
    assert.deepEqual(await found(third, '{ }'), ['4', '3', '2', '1']);
    await third.methods.tend({ now: true });
    await third.close();

    const fourth = await openService(t, { folder: place });
    assert.deepEqual([fourth.methods.stats().headSpans, fourth.methods.stats().walBytes], [0, 0]);
    await push(fourth, {}, span(5));
    await fourth.close();
    assert.deepEqual(await found(await openService(t, { folder: place }), '{ }'), [
      '5',
      '4',
      '3',
      '2',
      '1',
    ]);
  });

  test('comes back as it was sent, to the nanosecond and to the last of 64 bits', async (t) => {
    const service = await openService(t);
    const attributes = {
      text: 'größe',
      whole: 42,
      long: 9_007_199_254_740_993n,
      low: -9_223_372_036_854_775_808n,
      part: 0.1,
      yes: true,
      list: ['a', 1, [false]],
      map: { inner: { deep: 'x' } },
      '': 'no key',
      __proto__: 'p',
    };
    await push(
      service,
      { 'service.name': 'a' },
      span(1, {
        parent: spanId(9),
        kind: 3,
        status: 2,
        message: 'broke',
        attributes,
        events: [{ name: 'e', attributes: { at: 5 } }],
        links: [{ trace: traceId(7), id: spanId(8) }],
      }),
    );
    const before = await service.methods.trace({ traceId: traceId(1), form: 'v1' }, noCall);
    await service.methods.tend({ now: true });
    const after = await service.methods.trace({ traceId: traceId(1), form: 'v1' }, noCall);
    assert.deepEqual(jsonOf(after), jsonOf(before));
    const sent = jsonOf(after).batches[0].scopeSpans[0].spans[0];
    assert.deepEqual(sent.attributes, [
      { key: 'text', value: { stringValue: 'größe' } },
      { key: 'whole', value: { intValue: '42' } },
      { key: 'long', value: { intValue: '9007199254740993' } },
      { key: 'low', value: { intValue: '-9223372036854775808' } },
      { key: 'part', value: { doubleValue: 0.1 } },
      { key: 'yes', value: { boolValue: true } },
      {
        key: 'list',
        value: {
          arrayValue: {
            values: [
              { stringValue: 'a' },
              { intValue: '1' },
              { arrayValue: { values: [{ boolValue: false }] } },
            ],
          },
        },
      },
      {
        key: 'map',
        value: {
          kvlistValue: {
            values: [
              {
                key: 'inner',
                value: { kvlistValue: { values: [{ key: 'deep', value: { stringValue: 'x' } }] } },
              },
            ],
          },
        },
      },
    ]);
    assert.deepEqual(
      [sent.parentSpanId, sent.links[0].spanId],
      [
        Buffer.from(spanId(9), 'hex').toString('base64'),
        Buffer.from(spanId(8), 'hex').toString('base64'),
      ],
    );
    assert.equal(
      sent.events[0].timeUnixNano,
      String(BigInt(startMs + 1) * 1_000_000n + 5_000_000n),
    );
  });

  test('can be sent on as protobuf', async (t) => {
    const service = await openService(t);
    await push(
      service,
      { 'service.name': 'a' },
      span(1, { attributes: { n: 1 }, events: [{ name: 'e' }] }),
      span(1, { id: spanId(2), parent: spanId(1) }),
    );
    const body = (await service.methods.trace({ traceId: '1', form: 'proto' }, noCall))!;
    const other = await openService(t);
    assert.equal((await other.methods.push({ format: 'otlp-proto', body })).accepted, 2);
    assert.deepEqual(
      jsonOf(await other.methods.trace({ traceId: '1', form: 'v2' }, noCall)),
      jsonOf(await service.methods.trace({ traceId: '1', form: 'v2' }, noCall)),
    );
  });

  test('is one trace, wherever its parts lie and however often they were sent', async (t) => {
    const service = await openService(t);
    const parts = [
      span(1, { id: spanId(1) }),
      span(1, { id: spanId(2), parent: spanId(1), status: 2 }),
      span(1, { id: spanId(3), parent: spanId(2) }),
    ];
    for (const part of parts) {
      await push(service, { 'service.name': 'a' }, part);
      await push(service, { 'service.name': 'a' }, part);
      await service.methods.tend({ now: true });
      await push(service, { 'service.name': 'a' }, part);
    }
    const { traces } = await service.methods.search(
      { query: '{ status = error } >> { }', ...window },
      noCall,
    );
    assert.deepEqual(
      traces.map(({ matched, services }) => [matched, services['a']]),
      [[1, { spanCount: 3, errorCount: 1 }]],
    );
    assert.deepEqual((await found(service, '{ } | count() = 3')).length, 1);
    const { batches } = jsonOf(await service.methods.trace({ traceId: '1', form: 'v1' }, noCall));
    assert.equal(
      batches.flatMap((batch: Loose) => batch.scopeSpans.flatMap((scope: Loose) => scope.spans))
        .length,
      3,
    );
  });

  test('carries who sent it as the server knows it, whatever the sender says', async (t) => {
    const service = await openService(t);
    const claim = { 'service.name': 'a', device_id: '99', edge_id: '99' };
    await service.methods.push({
      format: 'otlp-proto',
      body: bodyOf(claim, span(1)),
      stamp: { device_id: '7', edge_id: '3' },
    });
    await service.methods.push({
      format: 'otlp-proto',
      body: bodyOf(claim, span(2)),
      stamp: { device_id: '8' },
    });
    await push(service, claim, span(3));
    for (const _ of [1, 2]) {
      assert.deepEqual(
        await found(service, '{ resource.device_id = "7" && resource.edge_id = "3" }'),
        ['1'],
      );
      assert.deepEqual(
        await found(service, '{ resource.device_id = "8" && resource.edge_id = nil }'),
        ['2'],
      );
      assert.deepEqual(await found(service, '{ .device_id = "99" }'), []);
      assert.deepEqual(await found(service, '{ resource.device_id = nil }'), ['3']);
      const enforce = [{ name: 'device_id', op: '=', value: '7' }] as const;
      assert.deepEqual(
        (await service.methods.search({ query: '{ }', ...window, enforce }, noCall)).traces.length,
        1,
      );
      assert.equal(
        await service.methods.trace({ traceId: '2', form: 'v1', enforce }, noCall),
        undefined,
      );
      assert.deepEqual(
        (
          await service.methods.tagValues({ tag: 'resource.device_id', ...window, enforce }, noCall)
        ).map(({ value }) => value),
        ['7'],
      );
      await service.methods.tend({ now: true });
    }
  });
});

describe('a push', () => {
  test('may be packed, and may be JSON', async (t) => {
    const service = await openService(t);
    const json = {
      resourceSpans: [
        {
          resource: { attributes: [{ key: 'service.name', value: { stringValue: 'j' } }] },
          scopeSpans: [
            {
              spans: [
                {
                  traceId: traceId(1),
                  spanId: spanId(1),
                  name: 'x',
                  kind: 'SPAN_KIND_SERVER',
                  startTimeUnixNano: `${startMs}000001`,
                  endTimeUnixNano: `${startMs + 1}000001`,
                  attributes: [
                    { key: 'whole', value: { doubleValue: 2 } },
                    { key: 'n', value: { intValue: '2' } },
                  ],
                  status: { code: 2 },
                },
              ],
            },
          ],
        },
      ],
    };
    await service.methods.push({
      format: 'otlp-json',
      body: gzipSync(JSON.stringify(json)),
      encoding: 'gzip',
    });
    const { batches } = jsonOf(await service.methods.trace({ traceId: '1', form: 'v1' }, noCall));
    const [sent] = batches[0].scopeSpans[0].spans;
    assert.deepEqual(
      [
        sent.kind,
        sent.status,
        sent.startTimeUnixNano,
        sent.attributes[0].value,
        sent.attributes[1].value,
      ],
      [
        'SPAN_KIND_SERVER',
        { code: 'STATUS_CODE_ERROR' },
        `${startMs}000001`,
        { doubleValue: 2 },
        { intValue: '2' },
      ],
    );
    assert.deepEqual(
      await service.methods.push({
        format: 'otlp-json',
        body: Buffer.from('{"resourceSpans":[]}'),
      }),
      { accepted: 0, rejected: 0, reasons: [] },
    );
  });

  test('that is broken is refused whole, and leaves nothing behind', async (t) => {
    const service = await openService(t);
    await push(service, { 'service.name': 'a' }, span(1));
    const body = bodyOf(
      { 'service.name': 'b' },
      span(1, { id: spanId(2) }),
      span(3, { attributes: { n: 1 }, events: [{ name: 'e', attributes: { m: 1 } }] }),
    );
    for (let length = 1; length < body.length; length += 3) {
      await assert.rejects(
        service.methods.push({ format: 'otlp-proto', body: body.subarray(0, length) }),
        { code: 'invalid_argument' },
      );
    }
    await assert.rejects(
      service.methods.push({ format: 'otlp-proto', body: Buffer.from('garbage') }),
      { code: 'invalid_argument' },
    );
    await assert.rejects(
      service.methods.push({ format: 'otlp-json', body: Buffer.from('{') }),
      /not JSON/,
    );
    await assert.rejects(
      service.methods.push({ format: 'otlp-json', body: Buffer.from('{"resourceSpans":5}') }),
      /resourceSpans is no array/,
    );
    await assert.rejects(service.methods.push({ format: 'otlp-proto', body, encoding: 'br' }), {
      status: 415,
    });
    assert.deepEqual(await found(service, '{ }'), ['1']);
    await service.methods.push({ format: 'otlp-proto', body });
    assert.deepEqual(await found(service, '{ resource.service.name = "b" }'), ['3', '1']);
    await service.methods.tend({ now: true });
    assert.deepEqual(await found(service, '{ event.m = 1 }'), ['3']);
  });

  test('is taken but for the spans that cannot be, and says why', async (t) => {
    const service = await openService(
      t,
      { limits: { traceSpans: 2, spanBytes: 500, bodyBytes: 4000 } },
      () => startMs,
    );
    const spans = [
      span(1),
      { ...span(2), trace: '00'.repeat(16) },
      { ...span(2), id: 'abcd' },
      span(3, { startMs: startMs + 2 * 86_400_000 }),
      span(4, { attributes: { long: 'x'.repeat(600) } }),
    ];
    assert.deepEqual(
      await push(service, {}, ...spans, span(1, { id: spanId(5) }), span(1, { id: spanId(6) })),
      {
        accepted: 2,
        rejected: 5,
        reasons: [
          'a span has no proper trace id (1 refused)',
          'a span has no proper id (1 refused)',
          'a span starts in the future (1 refused)',
          'a span has more than 500 bytes (1 refused)',
          'a trace has more than 2 spans (1 refused)',
        ],
      },
    );
    await assert.rejects(service.methods.push({ format: 'otlp-proto', body: Buffer.alloc(5000) }), {
      status: 413,
    });
    await assert.rejects(
      service.methods.push({
        format: 'otlp-proto',
        body: gzipSync(Buffer.alloc(5000)),
        encoding: 'gzip',
      }),
      { status: 413 },
    );
    assert.deepEqual(await found(service, '{ }'), ['1']);
  });

  test('is stored without what is beyond the limits of a span', async (t) => {
    const service = await openService(t, {
      limits: { attributes: 2, valueLength: 4, keyLength: 5, nameLength: 6, events: 1, links: 1 },
    });
    const answer = await push(
      service,
      {},
      span(1, {
        name: 'a long name',
        attributes: { toolong: 1, a: 'abcdefg', b: 2, c: 3 },
        events: [{ name: 'x' }, { name: 'y' }],
        links: [{ trace: traceId(1), id: 'ab' }],
      }),
    );
    assert.deepEqual(answer, {
      accepted: 1,
      rejected: 0,
      reasons: ['1 spans were stored without the parts beyond the limits of a span'],
    });
    const { batches } = jsonOf(await service.methods.trace({ traceId: '1', form: 'v1' }, noCall));
    const [sent] = batches[0].scopeSpans[0].spans;
    assert.deepEqual(
      [sent.name, sent.attributes, sent.events.length, sent.links],
      [
        'a long',
        [
          { key: 'a', value: { stringValue: 'abcd' } },
          { key: 'b', value: { intValue: '2' } },
        ],
        1,
        undefined,
      ],
    );
    assert.equal(service.methods.stats().trimmed, 1);
  });

  test('whatever is cut is told with the push, each time and for each span', async (t) => {
    const service = await openService(t, {
      limits: { attributes: 2, valueLength: 4, keyLength: 5, nameLength: 6 },
    });
    const told = (spans: number): readonly string[] => [
      `${spans} spans were stored without the parts beyond the limits of a span`,
    ];
    for (const _time of [1, 2]) {
      assert.deepEqual(
        (await push(service, {}, span(1), span(2, { attributes: { a: 'abcde' } }))).reasons,
        told(1),
        'a text',
      );
      assert.deepEqual(
        (await push(service, {}, span(3, { name: 'a long name' }))).reasons,
        told(1),
        'a name',
      );
      assert.deepEqual(
        (
          await push(
            service,
            {},
            span(4, { attributes: { a: ['abcde'] } }),
            span(5, { message: 'out of order' }),
          )
        ).reasons,
        told(2),
        'both',
      );
      assert.deepEqual(
        (await push(service, { 'a.b.c.d': 'x' }, span(6), span(7))).reasons,
        told(2),
        'what all spans of a resource lack',
      );
      assert.deepEqual(
        (await push(service, { a: '1', b: '2', c: '3' }, span(8))).reasons,
        told(1),
        'an attribute of the resource',
      );
      assert.deepEqual((await push(service, { a: '1' }, span(9, { name: 'short' }))).reasons, []);
    }
  });

  test('has an id of zeros, as some senders give to spans', async (t) => {
    const service = await openService(t);
    const answer = await push(service, {}, span(1), span(1, { id: '0'.repeat(16), name: 'no id' }));
    assert.deepEqual(answer, { accepted: 2, rejected: 0, reasons: [] });
    const { batches } = jsonOf(await service.methods.trace({ traceId: '1', form: 'v1' }, noCall));
    assert.deepEqual(batches[0].scopeSpans[0].spans.map(({ name }: Loose) => name).sort(), [
      'no id',
      'op',
    ]);
    await service.methods.tend({ now: true });
    assert.deepEqual(await found(service, '{ name = "no id" && nestedSetParent = -1 }'), ['1']);
  });

  test('is refused while the disk is full, reads go on, and it is taken again by itself', async (t) => {
    let free = 10e9;
    const store = await openStore(t, { disk: { everyMs: 0, look: () => ({ free, total: 20e9 }) } });
    await store.push('otlp-proto', bodyOf({}, span(1)));
    free = 1e6;
    await assert.rejects(store.push('otlp-proto', bodyOf({}, span(2))), {
      code: 'unavailable',
      retryAfterSeconds: 30,
    });
    assert.equal((await store.trace(Buffer.from(traceId(1), 'hex')))?.spans.length, 1);
    free = 10e9;
    assert.equal((await store.push('otlp-proto', bodyOf({}, span(2)))).accepted, 1);
  });

  test('that the log could not hold was not taken', async (t) => {
    let broken = false;
    const place = folder(t);
    const files = {
      create: async (path: string) => {
        const file = await nodeFiles.create(path);
        return {
          write: (...args: Parameters<typeof file.write>) =>
            broken ? Promise.reject(new Error('no space left')) : file.write(...args),
          sync: () => file.sync(),
          truncate: (size: number) => file.truncate(size),
          close: () => file.close(),
        };
      },
    };
    const store = await openStore(t, { folder: place, files: { ...nodeFiles, ...files } });
    await store.push('otlp-proto', bodyOf({}, span(1)));
    broken = true;
    await assert.rejects(store.push('otlp-proto', bodyOf({}, span(2))), { code: 'unavailable' });
    broken = false;
    await store.push('otlp-proto', bodyOf({}, span(3)));
    const ids = [1, 2, 3];
    const held = async (from: typeof store): Promise<boolean[]> =>
      Promise.all(
        ids.map(
          async (number) => (await from.trace(Buffer.from(traceId(number), 'hex'))) !== undefined,
        ),
      );
    assert.deepEqual(await held(store), [true, false, true]);
    await store.tend({ now: true });
    assert.deepEqual(await held(store), [true, false, true]);
    assert.equal(store.stats().blockSpans, 2);
  });
});

describe('blocks', () => {
  test('are made when the head is full, while spans go on coming', async (t) => {
    const service = await openService(t, { limits: { headSpans: 100 } });
    const count = 1000;
    for (let first = 1; first <= count; first += 50) {
      await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          push(service, { 'service.name': `s${index % 3}` }, span(first + index)),
        ),
      );
      if (first % 200 === 1) {
        await service.methods.tend();
      }
    }
    await service.methods.tend();
    const { blocks, blockSpans, headSpans } = service.methods.stats();
    assert.ok(blocks >= 5, String(blocks));
    assert.equal(blockSpans + headSpans, count);
    const { labels, values } = await service.methods.metrics(
      { query: '{ } | count_over_time()', start: startMs + 1000, end: startMs + 1000, step: 2000 },
      noCall,
    );
    assert.deepEqual([labels.length, values[0]![0]], [1, count]);
    assert.deepEqual(await found(service, `{ span:id = "${spanId(77)}" }`), [(77).toString(16)]);
  });

  test('are made of a head that is old', async (t) => {
    let now = startMs;
    const service = await openService(t, { limits: { headSpans: 16 } }, () => now);
    await push(service, {}, span(1), span(2));
    now += 121_000;
    assert.equal((await service.methods.tend()).blocks, 1);
    await push(service, {}, span(3));
    now += 121_000;
    assert.equal((await service.methods.tend()).blocks, 1);
    now += 3_600_000;
    assert.equal((await service.methods.tend()).blocks, 2);
  });

  test('go when they are too old or too many bytes, the newest never', async (t) => {
    let now = startMs;
    const day = 86_400_000;
    const service = await openService(t, { limits: { maxAgeMs: 5 * day } }, () => now);
    for (const number of [1, 2, 3]) {
      await push(service, {}, span(number, { startMs: now }));
      await service.methods.tend({ now: true });
      now += 3 * day;
    }
    assert.equal((await service.methods.tend()).blocks, 2);
    assert.equal(await service.methods.trace({ traceId: '1', form: 'v1' }, noCall), undefined);
    now += 100 * day;
    assert.equal(
      (await service.methods.tend()).blocks,
      2,
      'nothing is old without something newer',
    );
  });

  test('that are gone while somebody reads are read to the end', async (t) => {
    const place = folder(t);
    const store = await openStore(t, {
      folder: place,
      limits: { maxBytes: 1 },
      now: () => startMs,
    });
    for (const number of [1, 2]) {
      await store.push('otlp-proto', bodyOf({ 'service.name': 'a' }, span(number)));
      if (number === 1) {
        await store.tend({ now: true });
      }
    }
    await store.read(async () => {
      const trace = await store.trace(Buffer.from(traceId(1), 'hex'));
      await store.tend({ now: true });
      assert.equal(store.stats().blocks, 1);
      assert.equal(readdirSync(join(place, 'blocks')).length, 1);
      assert.equal(trace!.spans[0]!.name, 'op');
      assert.equal(trace!.spans[0]!.resource.length, 1);
    });
  });

  for (const [what, harm] of Object.entries({
    'changed in the middle': (path: string) => {
      const bytes = readFileSync(path);
      bytes.fill(0x55, 10, 60);
      writeFileSync(path, bytes);
    },
    'cut short': (path: string) => truncateSync(path, 50),
  })) {
    test(`that are ${what} are left out, the others answer, and answers say so`, async (t) => {
      const place = folder(t);
      const first = await openService(t, { folder: place });
      for (const number of [1, 2, 3]) {
        await push(first, { 'service.name': 'a' }, span(number, { attributes: { n: number } }));
        await first.methods.tend({ now: true });
      }
      await first.close();
      const blocks = join(place, 'blocks');
      harm(join(blocks, readdirSync(blocks).sort()[1]!));
      const second = await openService(t, { folder: place });
      assert.deepEqual(await found(second, '{ span.n > 0 }'), ['3', '1']);
      assert.equal(second.methods.stats().damage.length, 1);
      await assert.rejects(
        second.methods.trace({ traceId: '2', form: 'v1' }, noCall),
        /may be in a part of the store that cannot be read/,
      );
      const told = JSON.parse(
        Buffer.from(
          await second.methods.searchJson({ query: '{ span.n > 0 }', ...window }, noCall),
        ).toString(),
      );
      assert.deepEqual([told.status, told.warnings.length], ['PARTIAL', 1]);
      assert.deepEqual(
        (await second.methods.tagValues({ tag: 'span.n', ...window }, noCall)).map(
          ({ value }) => value,
        ),
        ['1', '3'],
      );
    });
  }
});
