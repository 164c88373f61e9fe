import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import { ProtoWriter, snappyEncode } from 'svc/store';
import { WebSocket } from 'ws';

import { basic, ingestHouse, type IngestHouse, seven } from './house.ts';

const proto = 'application/x-protobuf';

/** A push of Loki as its agents write it. */
function lokiPush(
  streams: readonly {
    readonly labels: string;
    readonly lines: readonly {
      readonly line: string;
      readonly ms: number;
      readonly metadata?: Record<string, string>;
    }[];
  }[],
): Uint8Array {
  const push = new ProtoWriter();
  for (const { labels, lines } of streams) {
    push.message(1, (stream) => {
      stream.string(1, labels);
      for (const { line, ms, metadata = {} } of lines) {
        stream.message(2, (entry) => {
          entry
            .message(1, (at) => at.uint(1, Math.floor(ms / 1_000)).uint(2, (ms % 1_000) * 1e6))
            .string(2, line);
          for (const [name, value] of Object.entries(metadata)) {
            entry.message(3, (pair) => pair.string(1, name).string(2, value));
          }
        });
      }
      stream.int64(3, 42);
    });
  }
  return snappyEncode(push.finish());
}

function remoteWrite(labels: Record<string, string>, value: number, ms: number): Uint8Array {
  const request = new ProtoWriter().message(1, (series) => {
    for (const [name, text] of Object.entries(labels)) {
      series.message(1, (label) => label.string(1, name).string(2, text));
    }
    series.message(2, (sample) => sample.double(1, value).int64(2, ms));
  });
  return snappyEncode(request.finish());
}

function remoteWrite2(labels: Record<string, string>, value: number, ms: number): Uint8Array {
  const symbols = ['', ...Object.entries(labels).flat()];
  const request = new ProtoWriter();
  for (const symbol of symbols) {
    request.string(4, symbol);
  }
  request.message(5, (series) =>
    series
      .packedVarints(
        1,
        Object.keys(labels).flatMap((_, i) => [1 + 2 * i, 2 + 2 * i]),
      )
      .message(2, (sample) => sample.double(1, value).int64(2, ms)),
  );
  return snappyEncode(request.finish());
}

async function lines(
  house: IngestHouse,
  query: string,
): Promise<readonly { stream: Record<string, string>; values: [string, string][] }[]> {
  const { data } = await house.json(`/loki/api/v1/query_range?query=${encodeURIComponent(query)}`);
  return data.result;
}

async function samples(
  house: IngestHouse,
  query: string,
): Promise<readonly { metric: Record<string, string>; value: [number, string] }[]> {
  const { data } = await house.json(`/prometheus/api/v1/query?query=${encodeURIComponent(query)}`);
  return data.result;
}

describe('agents of logs', () => {
  test('as promtail pushes: protobuf in snappy, with nothing said about it', async (t) => {
    const house = await ingestHouse(t, { stores: ['logs'] });
    const body = lokiPush([
      {
        labels: '{job="nginx", device_id="1"}',
        lines: [
          { line: 'GET /a 200', ms: Date.now() - 1_000 },
          { line: 'GET /b 500', ms: Date.now() },
        ],
      },
      { labels: '{job="app"}', lines: [{ line: 'level=error msg="no"', ms: Date.now() }] },
    ]);
    const answer = await house.push('/loki/api/v1/push', seven, proto, body, {
      'user-agent': 'promtail/3.4.0',
      'x-scope-orgid': 'fake',
    });
    assert.deepEqual([answer.status, await answer.text()], [204, '']);
    const found = await lines(
      house,
      '{job=~".+", device_id="70", edge_id="7"} | drop detected_level',
    );
    assert.deepEqual(found.flatMap(({ values }) => values.map(([, line]) => line)).sort(), [
      'GET /a 200',
      'GET /b 500',
      'level=error msg="no"',
    ]);
    assert.deepEqual(
      await lines(house, '{device_id="1"}'),
      [],
      'what the sender says of its device does not count',
    );
  });

  test('that say of which device a line is, beside the labels of its stream, are not believed', async (t) => {
    const house = await ingestHouse(t, { stores: ['logs'] });
    const token = `Bearer ${await house.apiToken('admin', ['ingest:push'])}`;
    const said = { device_id: '1', edge_id: '1', trace_id: 'abc' };
    const body = lokiPush([
      {
        labels: '{service_name="shop"}',
        lines: [{ line: 'forged', ms: Date.now(), metadata: said }],
      },
    ]);
    for (const who of [seven, token]) {
      assert.equal(
        (await house.push('/loki/api/v1/push', who, proto, body, { 'content-encoding': 'snappy' }))
          .status,
        204,
      );
    }
    const record = {
      body: { stringValue: 'forged' },
      attributes: Object.entries(said).map(([key, stringValue]) => ({
        key,
        value: { stringValue },
      })),
    };
    const otlp = JSON.stringify({
      resourceLogs: [
        { scopeLogs: [{ logRecords: [{ timeUnixNano: `${Date.now()}000000`, ...record }] }] },
      ],
    });
    assert.ok((await house.push('/v1/logs', token, 'application/json', otlp)).status < 300);
    assert.deepEqual(await lines(house, '{service_name=~".+"} | device_id="1"'), []);
    assert.deepEqual(await lines(house, '{service_name=~".+"} | edge_id="1"'), []);
    const kept = (await lines(house, '{service_name=~".+"} | trace_id="abc"')).flatMap(
      ({ values }) => values.map(([, line]) => line),
    );
    assert.deepEqual(kept, ['forged', 'forged', 'forged'], 'the rest of what they say stays');
  });

  test('as Alloy pushes: with metadata, and in JSON packed with gzip as other agents do', async (t) => {
    const house = await ingestHouse(t, { stores: ['logs'] });
    const body = lokiPush([
      {
        labels: '{service_name="shop"}',
        lines: [{ line: 'paid', ms: Date.now(), metadata: { trace_id: 'abc' } }],
      },
    ]);
    const headers = { 'user-agent': 'Alloy/v1.8.0 (linux; binary)', 'content-encoding': 'snappy' };
    assert.equal((await house.push('/loki/api/v1/push', seven, proto, body, headers)).status, 204);
    const [found] = await lines(house, '{service_name="shop"} | trace_id="abc"');
    assert.equal(found!.values[0]![1], 'paid');

    const text = JSON.stringify({
      streams: [{ stream: { app: 'x' }, values: [[`${Date.now()}000000`, 'in JSON']] }],
    });
    assert.equal(
      (
        await house.push('/loki/api/v1/push', seven, 'application/json', gzipSync(text), {
          'content-encoding': 'gzip',
        })
      ).status,
      204,
    );
    assert.equal((await lines(house, '{app="x"}'))[0]!.values[0]![1], 'in JSON');
  });

  test('hear in Loki’s words what is wrong, and what was right is kept', async (t) => {
    const house = await ingestHouse(t, { stores: ['logs'] });
    const refused = async (type: string, body: string | Uint8Array): Promise<[number, string]> => {
      const answer = await house.push('/loki/api/v1/push', seven, type, body);
      return [answer.status, await answer.text()];
    };
    assert.deepEqual(await refused(proto, 'no snappy'), [400, 'snappy: corrupt input\n']);
    assert.equal((await refused('application/json', '{"streams":[]}'))[0], 422);
    assert.equal((await refused('application/json', '{"streams":'))[0], 400);
    const late = lokiPush([
      {
        labels: '{app="mixed"}',
        lines: [
          { line: 'good', ms: Date.now() },
          { line: 'tomorrow', ms: Date.now() + 86_400_000 },
        ],
      },
    ]);
    const [status, text] = await refused(proto, late);
    assert.equal(status, 400);
    assert.match(text, /timestamp too new/);
    assert.deepEqual(
      (await lines(house, '{app="mixed"}'))[0]!.values.map(([, line]) => line),
      ['good'],
    );
  });
});

describe('agents of metrics', () => {
  test('as Alloy pushes: remote write in both versions, and OTLP packed with gzip', async (t) => {
    const house = await ingestHouse(t, { stores: ['metricsdb'] });
    const now = Date.now();
    const one = {
      'user-agent': 'Alloy/v1.8.0',
      'content-encoding': 'snappy',
      'x-prometheus-remote-write-version': '0.1.0',
    };
    const first = await house.push(
      '/api/v1/write',
      seven,
      proto,
      remoteWrite({ __name__: 'a', device_id: '1' }, 1.5, now),
      one,
    );
    assert.deepEqual(
      [first.status, first.headers.get('x-prometheus-remote-write-samples-written')],
      [204, '1'],
    );
    const two = { ...one, 'x-prometheus-remote-write-version': '2.0.0' };
    const second = await house.push(
      '/prometheus/api/v1/write',
      seven,
      `${proto};proto=io.prometheus.write.v2.Request`,
      remoteWrite2({ __name__: 'b' }, 2.5, now),
      two,
    );
    assert.deepEqual(
      [second.status, second.headers.get('x-prometheus-remote-write-samples-written')],
      [204, '1'],
      await second.text(),
    );
    assert.equal(
      (await house.push('/api/v1/import/prometheus', seven, 'text/plain', 'c{x="y"} 3.5\n')).status,
      204,
    );
    for (const [name, value] of [
      ['a', '1.5'] as const,
      ['b', '2.5'] as const,
      ['c', '3.5'] as const,
    ]) {
      const [found] = await samples(house, `${name}{device_id="70",edge_id="7"}`);
      assert.equal(found?.value[1], value, name);
    }
    const again = await house.push(
      '/api/v1/write',
      seven,
      proto,
      remoteWrite({ __name__: 'a' }, 9, now),
      one,
    );
    assert.deepEqual(
      [again.status, again.headers.get('x-prometheus-remote-write-samples-written')],
      [400, '0'],
    );
    assert.match(await again.text(), /duplicate sample/);
    assert.equal(
      (
        await house.push(
          '/api/v1/write',
          seven,
          proto,
          snappyEncode(Buffer.from([0x0a, 0xff, 0xff])),
          one,
        )
      ).status,
      400,
      'no protobuf',
    );
  });
});

test('a Grafana asks and follows with an API token as its password', async (t) => {
  const house = await ingestHouse(t, { stores: ['metricsdb', 'logs'] });
  const authorization = basic('grafana', await house.apiToken('viewer', ['read:*']));
  const status = async (
    path: string,
    init: Omit<RequestInit, 'headers'> & {
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ): Promise<number> => {
    const answer = await house.fetch(path, {
      ...init,
      headers: { authorization, ...init.headers },
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const form = {
    method: 'POST',
    body: new URLSearchParams({ query: '1+1' }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  };
  await house.push(
    '/loki/api/v1/push',
    seven,
    proto,
    lokiPush([{ labels: '{app="x"}', lines: [{ line: 'first', ms: Date.now() }] }]),
  );
  assert.equal(await status('/prometheus/api/v1/status/buildinfo'), 200);
  assert.equal(await status('/prometheus/api/v1/query', form), 200);
  assert.equal(await status('/prometheus/api/v1/labels'), 200);
  assert.equal(
    await status(
      `/prometheus/api/v1/query_range?query=up&start=${Date.now() / 1000 - 60}&end=${Date.now() / 1000}&step=15`,
    ),
    200,
  );
  assert.equal(await status('/loki/api/v1/status/buildinfo'), 200);
  assert.equal(await status('/loki/api/v1/labels'), 200);
  assert.equal(
    await status(`/loki/api/v1/query_range?query=${encodeURIComponent('{app="x"}')}`),
    200,
  );
  assert.equal(
    await status('/api/v1/write', {
      method: 'POST',
      body: 'x',
      headers: { 'content-type': proto },
    }),
    403,
    'to ask is not to push',
  );

  const socket = new WebSocket(
    `${house.url.replace('http', 'ws')}/loki/api/v1/tail?query=${encodeURIComponent('{app="x"}')}`,
    { headers: { authorization } },
  );
  t.after(() => socket.terminate());
  const heard: string[] = [];
  socket.on('message', (data: Buffer) => heard.push(data.toString()));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  for (let i = 0; !heard.some((frame) => frame.includes('while it listens')); i++) {
    assert.ok(i < 200, heard.join());
    await house.push(
      '/loki/api/v1/push',
      seven,
      proto,
      lokiPush([
        { labels: '{app="x"}', lines: [{ line: `while it listens ${i}`, ms: Date.now() }] },
      ]),
    );
    await pause(100);
  }
});
