import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { labelsRecord, matcher } from 'svc/query';
import { ProtoWriter, snappyEncode } from 'svc/store';

import { parseLabelsText } from '../../../plugins/logs/store/intake/label-text.ts';
import { nanosText, parseNanos } from '../../../plugins/logs/store/lines/nanos.ts';
import { body, linesOf, openStore, present, push, read, stream } from './fixture.ts';

const anything = [matcher('service_name', '=~', '.+')];

describe('limits of a push', () => {
  test('leave out what breaks them, keep the rest, and say why in words that senders know', async (t) => {
    const { store } = await openStore(t, { limits: { lineBytes: 100, olderMs: 86_400_000 } });
    const many = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`l${i}`, 'v']));
    const cases: [object, RegExp][] = [
      [
        stream({ 'a-b': 't' }, [[0, 'x']]),
        /^couldn't parse labels: 1:3: parse error: unexpected character inside braces: '-'$/,
      ],
      [stream(many, [[0, 'x']]), /^stream '\{l0="v".* has 16 label names; limit 15$/],
      [
        stream({ [`n${'a'.repeat(1024)}`]: 'v' }, [[0, 'x']]),
        /label name too long: .* of 1025 bytes; limit 1024/,
      ],
      [
        stream({ a: 'ü'.repeat(1025) }, [[0, 'x']]),
        /label value too long: label 'a' has 2050 bytes; limit 2048/,
      ],
      [
        stream({ a: 't' }, [[175_772_000, 'x']]),
        /^entry for stream '\{a="t", service_name="unknown_service"\}' has timestamp too new: 2026-11-22T18:49:32Z$/,
      ],
      [
        stream({ a: 't' }, [[-86_400_001, 'x']]),
        /has timestamp too old: 2026-11-19T17:59:59.999Z, oldest acceptable timestamp is: 2026-11-19T18:00:00Z$/,
      ],
      [
        stream({ a: 't' }, [[0, 'x'.repeat(101)]]),
        /^max entry size '100' bytes exceeded for stream '\{a="t".* with length '101' bytes$/,
      ],
      [
        stream({ a: 't' }, [
          [0, 'x', Object.fromEntries(Array.from({ length: 129 }, (_, i) => [`m${i}`, 'v']))],
        ]),
        /too many structured metadata labels: '129', limit: '128'/,
      ],
      [
        stream({ a: 't' }, [[0, 'x', { m: 'v'.repeat(65_536) }]]),
        /structured metadata too large: '65537' bytes, limit: '65536' bytes/,
      ],
    ];
    for (const [index, [bad, reason]] of cases.entries()) {
      const good = stream({ app: 'good' }, [[index, `kept ${index}`]]);
      const answer = await store.push(
        'loki-json',
        Buffer.from(JSON.stringify({ streams: [bad, good] })),
        {},
      );
      assert.deepEqual([answer.accepted, answer.rejected], [1, 1], String(reason));
      assert.match(answer.reasons[0]!, reason);
    }
    assert.equal((await read(store, { matchers: anything })).length, cases.length);
  });

  test('of streams: those that are there go on, new ones have to wait', async (t) => {
    const { store } = await openStore(t, { limits: { activeStreams: 2 } });
    assert.equal(
      (
        await store.push(
          'loki-json',
          Buffer.from(
            JSON.stringify({ streams: ['a', 'b', 'c'].map((app) => stream({ app }, [[1, 'x']])) }),
          ),
          {},
        )
      ).accepted,
      2,
    );
    await assert.rejects(push(store, { app: 'd' }, [[1, 'x']]), {
      code: 'rate_limited',
      message: /maximum active stream limit exceeded when trying to create stream \{app="d"/,
    });
    assert.equal((await push(store, { app: 'a' }, [[2, 'y']])).accepted, 1);
  });

  test('of streams of one sender: what others leave is shared, and what is idle counts no more', async (t) => {
    const { store } = await openStore(t, { limits: { activeStreams: 500, senderShare: 80 } });
    const many = (name: string, count: number, first = 0): Buffer =>
      Buffer.from(
        JSON.stringify({
          streams: Array.from({ length: count }, (_, i) =>
            stream({ app: name, n: String(first + i) }, [[1, 'x']]),
          ),
        }),
      );
    const greedy = await store.push('loki-json', many('greedy', 600), { sender: 'token 7 of Kim' });
    assert.equal(greedy.accepted, 400);
    assert.match(
      greedy.reasons[0]!,
      /: this sender \(token 7 of Kim\) has 400 active streams, its share of 500, use fewer labels/,
    );
    assert.deepEqual(store.status().largestSender, { sender: 'token 7 of Kim', active: 400 });
    assert.deepEqual(
      store.status().streamBounds.slice(0, 1).concat(store.status().streamBounds.slice(2)),
      [
        { limit: 'all', sender: 'token 7 of Kim', used: 400, max: 500 },
        { limit: 'sender', sender: 'token 7 of Kim', used: 400, max: 400 },
      ],
    );
    // Nearly all of it is gone by now, and still some is left for whoever comes.
    const modest = await store.push('loki-json', many('modest', 60), { sender: 'agent 3' });
    assert.equal(modest.accepted, 60);
    await assert.rejects(
      store.push('loki-json', many('greedy', 1, 700), { sender: 'token 7 of Kim' }),
      { code: 'rate_limited', message: /its share of 500/ },
    );
    assert.equal(
      (await push(store, { app: 'svc' }, [[1, 'x']])).accepted,
      1,
      'no sender, no share',
    );
    await store.flush();
    assert.equal(store.status().largestSender, undefined);
    const again = await store.push('loki-json', many('greedy', 1, 700), {
      sender: 'token 7 of Kim',
    });
    assert.equal(again.accepted, 1);
  });

  test('of streams of one account: its tokens share what other accounts leave', async (t) => {
    const { store } = await openStore(t, { limits: { activeStreams: 1_000, senderShare: 80 } });
    const many = async (sender: string, count: number): Promise<number> => {
      const streams = Array.from({ length: count }, (_, i) =>
        stream({ app: sender, n: String(i) }, [[1, 'x']]),
      );
      const body = Buffer.from(JSON.stringify({ streams }));
      return (await store.push('loki-json', body, { sender })).accepted;
    };
    assert.equal(await many('token 1 of kim@x', 900), 800);
    assert.equal(await many('token 2 of kim@x', 900), 100);
    await assert.rejects(many('token 3 of kim@x', 9), {
      code: 'rate_limited',
      message: /the senders of kim@x have 900 active streams together, the share of one account/,
    });
    assert.equal(await many('token 4 of ada@x', 70), 70);
    assert.equal(await many('agent 3', 20), 20);
  });

  test('an empty label set is a stream of its own, and lines of any age are taken', async (t) => {
    const { store } = await openStore(t);
    await push(store, {}, [
      ['1', 'one nanosecond old'],
      [0, 'now'],
    ]);
    assert.deepEqual(linesOf(await read(store, { matchers: anything, start: -present })), [
      'one nanosecond old',
      'now',
    ]);
  });
});

test('what the server knows of a sender goes over what the sender says', async (t) => {
  const { store } = await openStore(t);
  await store.push('loki-json', body({ app: 'web', device_id: '999' }, [[1, 'x']]), {
    stamp: { device_id: '7', edge_id: '3' },
  });
  const [line] = await read(store);
  assert.deepEqual(
    { ...line!.labels },
    { app: 'web', device_id: '7', edge_id: '3', service_name: 'web' },
  );
});

describe('forms of a push', () => {
  test('protobuf, packed with snappy', async (t) => {
    const { store } = await openStore(t);
    const message = new ProtoWriter();
    message.message(1, (pushed) => {
      pushed.string(1, '{app="web", path="C:\\\\x", quoted="a\\"b\\u00fc"}');
      pushed.message(2, (entry) => {
        entry.message(1, (at) => {
          at.uint(1, present / 1_000);
          at.uint(2, 5_000_007);
        });
        entry.string(2, 'hello');
        entry.message(3, (pair) => {
          pair.string(1, 'trace_id');
          pair.string(2, 'abc');
        });
      });
    });
    await store.push('loki-proto', snappyEncode(message.finish()), { encoding: 'snappy' });
    const [line] = await read(store);
    assert.deepEqual(
      { ...line!.labels },
      { app: 'web', path: 'C:\\x', quoted: 'a"bü', service_name: 'web' },
    );
    assert.deepEqual(
      [line!.line, Math.round(line!.at * 1e6), { ...line!.metadata }],
      ['hello', 5_000_007, { detected_level: 'unknown', trace_id: 'abc' }],
    );
  });

  test('gzip, within the size that it may unpack to', async (t) => {
    const { store } = await openStore(t, { limits: { inflatedBytes: 10_000 } });
    await store.push('loki-json', gzipSync(body({ app: 'web' }, [[1, 'packed']])), {
      encoding: 'gzip',
    });
    assert.deepEqual(linesOf(await read(store)), ['packed']);
    await assert.rejects(
      store.push('loki-json', gzipSync(Buffer.alloc(20_000)), { encoding: 'gzip' }),
      { status: 413 },
    );
  });

  test('OTLP in JSON: attributes that name a service make the stream, all others stay with the line', async (t) => {
    const { store } = await openStore(t);
    const text = (key: string, stringValue: string): object => ({ key, value: { stringValue } });
    const request = {
      resourceLogs: [
        {
          resource: {
            attributes: [
              text('service.name', 'shop'),
              text('k8s.pod.name', 'p1'),
              text('os.type', 'linux'),
            ],
          },
          scopeLogs: [
            {
              scope: { name: 'lib', version: '1.2' },
              logRecords: [
                {
                  timeUnixNano: `${present}000001`,
                  severityNumber: 17,
                  severityText: 'ERROR',
                  body: { stringValue: 'boom' },
                  attributes: [{ key: 'http.status', value: { intValue: '500' } }],
                  traceId: '0af7651916cd43dd8448eb211c80319c',
                  spanId: 'b7ad6b7169203331',
                },
                {
                  observedTimeUnixNano: `${present}000002`,
                  body: { kvlistValue: { values: [text('a', 'b')] } },
                },
              ],
            },
          ],
        },
      ],
    };
    await store.push('otlp-json', Buffer.from(JSON.stringify(request)), {
      stamp: { device_id: '7' },
    });
    const [first, second] = await read(store, { matchers: anything });
    assert.deepEqual(
      { ...first!.labels },
      { device_id: '7', k8s_pod_name: 'p1', service_name: 'shop' },
    );
    assert.deepEqual(
      { ...first!.metadata },
      {
        detected_level: 'error',
        http_status: '500',
        os_type: 'linux',
        scope_name: 'lib',
        scope_version: '1.2',
        severity_number: '17',
        severity_text: 'ERROR',
        span_id: 'b7ad6b7169203331',
        trace_id: '0af7651916cd43dd8448eb211c80319c',
      },
    );
    assert.deepEqual([first!.line, second!.line], ['boom', '{"a":"b"}']);
  });

  test('OTLP in protobuf says the same', async (t) => {
    const { store } = await openStore(t);
    const attribute = (into: ProtoWriter, field: number, key: string, value: string): ProtoWriter =>
      into.message(field, (pair) => {
        pair.string(1, key);
        pair.message(2, (any) => any.string(1, value));
      });
    const request = new ProtoWriter();
    request.message(1, (resourceLogs) => {
      resourceLogs.message(2, (scopeLogs) => {
        scopeLogs.message(2, (record) => {
          record.fixed64(1, BigInt(present) * 1_000_000n);
          record.uint(2, 9);
          record.message(5, (any) => any.string(1, 'hello'));
          attribute(record, 6, 'user', 'u1');
        });
      });
      resourceLogs.message(1, (resource) => attribute(resource, 1, 'service.name', 'shop'));
    });
    await store.push('otlp-proto', request.finish(), {});
    const [line] = await read(store, { matchers: anything });
    assert.deepEqual(
      [line!.line, { ...line!.labels }, { ...line!.metadata }],
      [
        'hello',
        { service_name: 'shop' },
        { detected_level: 'info', severity_number: '9', user: 'u1' },
      ],
    );
  });

  test('metadata without a value stays with its line, a label of a stream without one does not', async (t) => {
    const opened = await openStore(t);
    const { store } = opened;
    const text = (key: string): object => ({ key, value: { stringValue: '' } });
    const resourceLogs = [
      {
        resource: { attributes: [text('service.name')] },
        scopeLogs: [
          { logRecords: [{ timeUnixNano: `${present}000000`, attributes: [text('k')] }] },
        ],
      },
    ];
    const proto = new ProtoWriter();
    proto.message(1, (pushed) => {
      pushed.string(1, '{app="web", none=""}');
      pushed.message(2, (entry) => {
        entry.message(1, (at) => at.uint(1, present / 1_000));
        entry.message(3, (pair) => pair.string(1, 'k'));
      });
    });
    await push(store, { app: 'web', none: '' }, [[1, 'usual', { k: '' }]]);
    // A half of a pair is read by the runtime.
    await push(store, { app: 'web', none: '' }, [[2, '\ud800', { k: '', trace: 'abc' }]]);
    await store.push('loki-proto', snappyEncode(proto.finish()), { encoding: 'snappy' });
    await store.push('otlp-json', Buffer.from(JSON.stringify({ resourceLogs })), {});
    for (const again of [false, true]) {
      const found = await read(again ? await opened.again() : store, { matchers: anything });
      assert.deepEqual(
        found.map(({ labels, metadata }) => [
          labels['app'],
          labels['none'],
          metadata['k'],
          metadata['trace'],
          Object.keys(metadata).length,
        ]),
        [
          ['web', undefined, '', undefined, 2],
          ['web', undefined, '', undefined, 2],
          ['web', undefined, '', 'abc', 3],
          [undefined, undefined, '', undefined, 2],
        ],
      );
    }
  });

  test('lines that other parts of the house write', async (t) => {
    const { store } = await openStore(t);
    assert.deepEqual(
      await store.write([
        {
          labels: { app: 'self' },
          at: { ms: present, ns: 7 },
          line: 'level=warn x',
          metadata: { request: '1' },
        },
      ]),
      {
        accepted: 1,
        rejected: 0,
        reasons: [],
      },
    );
    const [line] = await read(store);
    assert.deepEqual({ ...line!.metadata }, { detected_level: 'warn', request: '1' });
  });

  test('bytes that are no text become readable', async (t) => {
    const { store } = await openStore(t);
    const bytes = body({ app: 'web' }, [[1, 'caf?']]);
    bytes[bytes.indexOf('?')] = 0xe9;
    await store.push('loki-json', bytes, {});
    assert.deepEqual(linesOf(await read(store)), ['caf\ufffd']);
  });
});

test('a line that ends amid a character takes nothing from the next one', async (t) => {
  const { store } = await openStore(t);
  const message = new ProtoWriter();
  message.message(1, (pushed) => {
    pushed.string(1, '{app="web"}');
    for (const [i, line] of ['caf\xc3', '\xa9 is shut'].entries()) {
      pushed.message(2, (entry) => {
        entry.message(1, (at) => at.uint(1, present / 1_000 + i));
        entry.bytes(2, Buffer.from(line, 'latin1'));
      });
    }
  });
  await store.push('loki-proto', snappyEncode(message.finish()), {});
  assert.deepEqual(linesOf(await read(store)).sort(), ['caf\ufffd', '\ufffd is shut']);
});

test('a label set reads as it was written, and says where it is broken', () => {
  assert.deepEqual(
    labelsRecord(parseLabelsText('{ a = "x" , b=`y"z`,}')),
    Object.assign(Object.create(null), { a: 'x', b: 'y"z' }),
  );
  for (const [text, message] of [
    ['{a="b"', /1:7: parse error: unexpected end of input/],
    ['{a-b="c"}', /1:3: parse error: unexpected character inside braces: '-'/],
    ['{a="\\q"}', /an escape sequence that is not valid in Go/],
    ['a="b"', /1:1/],
    ['{a="b"} x', /1:9/],
  ] as const) {
    assert.throws(() => parseLabelsText(text), { code: 'invalid_argument', message });
  }
});

test('nanoseconds come back as they were written', () => {
  for (const text of [
    '0',
    '1',
    '999999',
    '1000000',
    '1795200392000000001',
    '9223372036854775807',
    '-1',
    '-1000000',
    '-1500000',
  ]) {
    assert.equal(nanosText(parseNanos(text)!), text);
  }
  for (const text of ['', '-', 'abc', '1.5', ' 1', '12345678901234567890', '9999999999999999999']) {
    assert.equal(parseNanos(text), undefined, text);
  }
});
