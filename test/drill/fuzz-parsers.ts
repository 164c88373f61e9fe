import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';

import { compileTemplate } from 'svc/template';
import { readFrontMatter } from 'svc/markdown-file';
import { readGoDuration } from 'svc/query';
import { ByteReader, ByteWriter, gunzip, ProtoWriter, snappyDecode, snappyEncode } from 'svc/store';
import { decodeFrame, encodeFrame } from '../../plugins/lib/tunnel/message/frames.ts';
import { parseBody } from '../../plugins/lib/tunnel/message/body.ts';
import { readPush } from '../../plugins/alert-sources/payload.ts';
import { readRuleFile } from '../../plugins/alert/rule-file/prometheus-file.ts';
import { readSeries } from '../../plugins/alert/unit-test/series-notation.ts';
import { readTestFile } from '../../plugins/alert/unit-test/test-file.ts';
import { packed, unpacked } from '../../plugins/im-feishu/frame.ts';
import { chunksOf } from '../../plugins/knowledge/search/chunk.ts';
import { docxText } from '../../plugins/knowledge/uploads/docx.ts';
import { formOf } from '../../plugins/knowledge/uploads/multipart.ts';
import { printExpr, parse as parseLogql } from '../../plugins/logs/logql/index.ts';
import { chunkLines, decodeChunk, encodeChunk } from '../../plugins/logs/store/blocks/chunk.ts';
import { readJsonPush } from '../../plugins/logs/store/intake/json-push.ts';
import {
  readOtlpJson as logsOfJson,
  readOtlpProto as logsOfProto,
} from '../../plugins/logs/store/intake/otlp-push.ts';
import { readProtoPush } from '../../plugins/logs/store/intake/proto-push.ts';
import { decodeRecord, encodeRecord } from '../../plugins/logs/store/lines/record.ts';
import { rendered } from '../../plugins/manual/rendered.ts';
import { untar } from '../../plugins/marketplace/archive/tar.ts';
import { unzip } from '../../plugins/marketplace/archive/unzip.ts';
import { objectsOf } from '../../plugins/marketplace/git/pack-objects.ts';
import { readIndex } from '../../plugins/marketplace/registry/registry-index.ts';
import { Packer } from '../../plugins/metricsdb/forward/pack.ts';
import { parse as parsePromql, print } from '../../plugins/metricsdb/promql/index.ts';
import { Samples } from '../../plugins/metricsdb/store/columns/samples.ts';
import { Cursor } from '../../plugins/metricsdb/store/columns/scratch.ts';
import type { PushFormat } from '../../plugins/metricsdb/store/intake/push-reader.ts';
import { Checkpoint, readCheckpoint } from '../../plugins/metricsdb/store/upkeep/wal-checkpoint.ts';
import { parse as parseTraceql, printQuery } from '../../plugins/traces/traceql/index.ts';
import { defaultLimits } from '../../plugins/traces/store/head/limits.ts';
import { Head as TraceHead } from '../../plugins/traces/store/head/head.ts';
import { decodeTraces } from '../../plugins/traces/store/intake/decode.ts';
import { requestOf } from '../../plugins/traces/store/intake/push.ts';
import { decodeValue, encodeValue } from '../../plugins/traces/store/columns/value-codec.ts';
import { pageText } from '../../plugins/websearch/page-text.ts';
import { readFrame } from '../../plugins/webshell/protocol/frames.ts';
import { docxOf, paragraph, zipOf } from '../plugins/knowledge/files.ts';

/** A parser with inputs that it takes, from which those that are tried are made. */
export type Parser =
  | {
      readonly name: string;
      readonly kind: 'text';
      readonly seeds: readonly string[];
      readonly parse: (text: string) => unknown;
    }
  | {
      readonly name: string;
      readonly kind: 'bytes';
      readonly seeds: readonly Uint8Array[];
      readonly parse: (bytes: Buffer) => unknown;
    };

const text = (
  name: string,
  seeds: readonly string[],
  parse: (text: string) => unknown,
): Parser => ({ name, kind: 'text', seeds, parse });
const bytes = (
  name: string,
  seeds: readonly Uint8Array[],
  parse: (bytes: Buffer) => unknown,
): Parser => ({ name, kind: 'bytes', seeds, parse });

export const parsers = (): readonly Parser[] => [
  ...queryParsers(),
  ...documentParsers(),
  ...pushParsers(),
  ...archiveParsers(),
  ...wireParsers(),
  ...storeParsers(),
];

const golden = new URL('../golden/', import.meta.url);

function goldenJson(file: string): { readonly [name: string]: unknown } {
  return JSON.parse(gunzipSync(readFileSync(new URL(file, golden))).toString('utf8')) as {
    readonly [name: string]: unknown;
  };
}

const queriesIn = (file: string): string[] =>
  (goldenJson(file)['queries'] as { readonly q: string }[]).map(({ q }) => q);

/** What parses prints as something that parses and prints the same. */
const settled =
  <T>(parse: (query: string) => T, printed: (tree: T) => string) =>
  (query: string): void => {
    const once = printed(parse(query));
    let twice: string;
    try {
      twice = printed(parse(once));
    } catch (error) {
      throw new assert.AssertionError({ message: `printed as ${once}: ${String(error)}` });
    }
    assert.equal(twice, once);
  };

const queryParsers = (): readonly Parser[] => [
  text('promql', queriesIn('promql/promql-expected-prom2.42.json.gz'), settled(parsePromql, print)),
  text(
    'logql',
    queriesIn('logql/logql-expected-loki3.4.6.json.gz'),
    settled(parseLogql, printExpr),
  ),
  text(
    'traceql',
    queriesIn('traceql/traceql-expected-tempo2.10.8.json.gz'),
    settled(parseTraceql, printQuery),
  ),
];

const ruleFile = `groups:
- name: hosts
  interval: 30s
  labels: {team: "sre"}
  rules:
  - alert: HostDown
    expr: up{job="node"} == 0
    for: 5m
    keep_firing_for: 1m
    labels: &labels {severity: page}
    annotations:
      summary: '{{ $labels.instance }} is down'
      description: |
        Value {{ $value | humanize }}
  - record: job:up:sum
    expr: sum by (job) (up)
    labels: {<<: *labels}
`;
const testFile = `rule_files: [rules.yml]
evaluation_interval: 1m
tests:
- interval: 1m
  input_series:
  - {series: 'up{job="a"}', values: '1+0x5 _x2 stale {{schema:0 count:3 buckets:[1 2]}}x3'}
  alert_rule_test:
  - {eval_time: 5m, alertname: A, exp_alerts: [{exp_labels: {a: b}}]}
  promql_expr_test:
  - {expr: up, eval_time: 1m, exp_samples: [{labels: 'up{job="a"}', value: 1}]}
`;
const template =
  '{{ if gt $value 1.5 }}{{ printf "%.2f %s" $value "a" }}{{ else }}{{ range $i, $x := query "up" }}{{ $x.Value | humanize }}{{ end }}{{ end }}';
const html =
  '<!doctype html><html><head><title>A &amp; B</title><script>x < y</script></head><body><p class="a>b">Text<br>of&nbsp;it &#8364;</p><table><tr><td>1</table><!-- c --></body></html>';

function documentParsers(): readonly Parser[] {
  const docs = new URL('../../docs/', import.meta.url);
  const pages = readdirSync(docs)
    .filter((file) => file.endsWith('.md'))
    .map((file) => readFileSync(new URL(file, docs), 'utf8').slice(0, 4_000));
  const alerts = JSON.stringify({
    alerts: [
      {
        status: 'firing',
        labels: { alertname: 'A', severity: 'page' },
        annotations: { summary: 's', runbook_url: 'https://a.b/c' },
        startsAt: '2026-01-01T00:00:00Z',
        generatorURL: 'https://a.b/',
      },
    ],
  });
  const index = JSON.stringify({
    version: 1,
    name: 'r',
    packs: [
      {
        id: 'acme.pack',
        name: 'Pack',
        versions: [{ version: '1.0.0', url: 'a.zip', sha256: 'a'.repeat(64) }],
      },
    ],
    plugins: [{ name: 'p', source: { source: 'github', repo: 'a/b' } }],
  });
  return [
    text('rule file', [ruleFile, testFile], (file) => void readRuleFile(file)),
    text('rule test', [testFile, ruleFile], (file) => void readTestFile(file)),
    text(
      'series',
      [
        '1+0x5 _x2 stale -3-2x4 {{schema:0 sum:5 count:3 buckets:[1 2]}}+{{count:1}}x3',
        'NaN 1e3 0x1 _',
      ],
      (values) => readSeries('up{job="a",b=\'c\'}', values.slice(0, 2_000), 'series'),
    ),
    text('series name', ['up{job="a",b=\'c\'}', '{"a.b", c=`d`}'], (name) =>
      readSeries(name, '1', 'series'),
    ),
    text(
      'front matter',
      ['---\ntitle: A\ntags: [a, "b c"]\nmore:\n  - x: |\n      text\n---\n# Body\n'],
      (file) => readFrontMatter(file),
    ),
    text('markdown', pages, (page) => rendered(page.slice(0, 4_000))),
    text('chunks of a document', pages, (page) => chunksOf(page)),
    text(
      'template',
      [template, '{{ $labels.a }} {{- with $x := 1 -}} {{ . }}{{ end }}'],
      (source) => compileTemplate(source, { variables: ['$value', '$labels'] }),
    ),
    text('duration', ['1h30m', '-1.5s', '1d2h', '250ms', '1µs'], (value) => readGoDuration(value)),
    text('web page', [html], (page) => pageText(page)),
    text('alerts', [alerts], (body) => readPush(Buffer.from(body), 'warning')),
    text('registry', [index], (body) => readIndex(body, 'https://a.b/index.json')),
    text(
      'console frame',
      ['{"type":"data","data":"ls\\r"}', '{"type":"resize","cols":80,"rows":24}'],
      (frame) => readFrame(frame),
    ),
    text(
      'form',
      [
        '--b\r\ncontent-disposition: form-data; name="file"; filename="a.md"\r\n\r\ntext\r\n--b\r\ncontent-disposition: form-data; name="path"\r\n\r\nx\r\n--b--\r\n',
      ],
      (body) => formOf(Buffer.from(body), 'multipart/form-data; boundary=b', ['path']),
    ),
  ];
}

const exposition = `# HELP http_requests_total Requests.
# TYPE http_requests_total counter
http_requests_total{method="post",code="200"} 1027 1395066363000
http_requests_total{method="a\\"b\\\\c\\n"} NaN
# TYPE rpc_seconds histogram
rpc_seconds_bucket{le="0.5"} 3 # {trace_id="a"} 0.3 1.5
rpc_seconds_bucket{le="+Inf"} 5
rpc_seconds_sum 1.7e+3
# EOF
`;

function pushParsers(): readonly Parser[] {
  const nowMs = 1_795_200_000_000;
  const packer = new Packer({ maxPushBytes: 16 * 1024 * 1024, aheadMs: 600_000 }, () => nowMs);
  const pack = (format: PushFormat, encoding?: string) => (body: Buffer) =>
    packer.pack({ format, body, encoding, stamp: undefined });
  const writes = [1, 3].map((count) => {
    const request = new ProtoWriter();
    for (let at = 0; at < count; at++) {
      request.message(1, (series) =>
        series
          .message(1, (label) => label.string(1, '__name__').string(2, 'up'))
          .message(1, (label) => label.string(1, 'job').string(2, `j${at}`))
          .message(2, (sample) => sample.double(1, 1.5).uint(2, nowMs)),
      );
    }
    return request.finish();
  });
  const { traces } = goldenJson('traceql/traceql-input.json.gz') as { traces: object[] };
  const spans = traces.slice(0, 10).map((trace) => Buffer.from(JSON.stringify(trace)));
  const { push } = goldenJson('logql/logql-input.json.gz') as {
    push: { streams: { stream: object; values: unknown[] }[] };
  };
  const lines = push.streams
    .slice(0, 6)
    .map(({ stream, values }) =>
      JSON.stringify({ streams: [{ stream, values: values.slice(0, 4) }] }),
    );
  const metrics = JSON.stringify({
    resourceMetrics: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'a' } }] },
        scopeMetrics: [
          {
            scope: { name: 's' },
            metrics: [
              {
                name: 'm',
                unit: 's',
                gauge: { dataPoints: [{ timeUnixNano: '1795200000000000000', asDouble: 1.5 }] },
              },
              {
                name: 'h',
                histogram: {
                  aggregationTemporality: 2,
                  dataPoints: [
                    {
                      timeUnixNano: '1795200000000000000',
                      count: '3',
                      sum: 2,
                      bucketCounts: ['1', '2'],
                      explicitBounds: [0.5],
                    },
                  ],
                },
              },
            ],
          },
        ],
      },
    ],
  });
  const logs = JSON.stringify({
    resourceLogs: [
      {
        scopeLogs: [
          {
            logRecords: [
              {
                timeUnixNano: '1795200000000000000',
                severityText: 'WARN',
                body: { stringValue: 'line' },
                attributes: [{ key: 'a', value: { arrayValue: { values: [{ intValue: '1' }] } } }],
              },
            ],
          },
        ],
      },
    ],
  });
  const protos = spans.map((body) => requestOf('otlp-json', body, undefined, 1e8));
  const fromText = (read: (body: Buffer) => unknown) => (body: string) => read(Buffer.from(body));
  return [
    bytes('remote write', writes, pack('remote-write')),
    bytes('remote write 2', writes, pack('remote-write-2')),
    bytes(
      'remote write, packed',
      writes.map((body) => snappyEncode(body)),
      pack('remote-write', 'snappy'),
    ),
    bytes('otlp metrics', [...protos, ...writes], pack('otlp-proto')),
    text('otlp metrics, json', [metrics, logs], fromText(pack('otlp-json'))),
    text('exposition', [exposition], fromText(pack('exposition'))),
    text('openmetrics', [exposition], fromText(pack('openmetrics'))),
    text(
      'loki push, json',
      lines,
      fromText((body) => readJsonPush(body)),
    ),
    bytes('loki push', writes, (body) => readProtoPush(body)),
    text(
      'otlp logs, json',
      [logs, metrics],
      fromText((body) => logsOfJson(body)),
    ),
    bytes('otlp logs', [...protos, ...writes], (body) => logsOfProto(body)),
    text(
      'otlp traces, json',
      spans.map(String),
      fromText((body) => requestOf('otlp-json', body, undefined, 1e8)),
    ),
    bytes('otlp traces', protos, (body) =>
      decodeTraces(body, new TraceHead(defaultLimits, 1, nowMs), {}, defaultLimits, nowMs),
    ),
  ];
}

function archiveParsers(): readonly Parser[] {
  const zips = [
    zipOf([
      { name: 'plugin.json', content: '{"id":"a.b"}' },
      { name: 'agents/a.md', content: '# A\n'.repeat(50) },
    ]),
    zipOf([{ name: 'a', content: '' }]),
  ];
  const tarred = Buffer.alloc(2_048);
  tarred.write('agents/a.md', 0);
  tarred.write('0000644\0', 100);
  tarred.write('00000000004\0', 124);
  tarred.write('ustar\x0000', 257);
  tarred.write('0', 156);
  tarred.write('        ', 148);
  tarred.write(
    `${tarred
      .subarray(0, 512)
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  );
  tarred.write('text', 512);
  const pack = Buffer.concat([
    Buffer.from('PACK\0\0\0\x02\0\0\0\x01', 'latin1'),
    Buffer.from([0x33]),
    Buffer.alloc(40),
  ]);
  return [
    bytes('zip', zips, (archive) => unzip(archive)),
    bytes('tar', [tarred, gzipSync(tarred)], (archive) => untar(archive)),
    bytes('git pack', [pack], (archive) => objectsOf(archive)),
    bytes(
      'docx',
      [
        docxOf(paragraph('text')),
        docxOf(`<w:tbl><w:tr><w:tc>${paragraph('a')}</w:tc></w:tr></w:tbl>`),
      ],
      (file) => docxText(file),
    ),
    text(
      'docx, body',
      [
        `${paragraph('A text')}<w:tbl><w:tr><w:tc>${paragraph('a')}</w:tc></w:tr></w:tbl><w:hyperlink r:id="a">${paragraph('b')}</w:hyperlink>`,
      ],
      (body) => docxText(docxOf(body)),
    ),
  ];
}

function wireParsers(): readonly Parser[] {
  const plain = Buffer.from('lines of words, lines of words. '.repeat(40));
  const frame = packed({
    seq: 1n,
    log: 2n,
    service: 3,
    method: 1,
    headers: { type: 'event' },
    payload: Buffer.from('{}'),
  });
  return [
    bytes('snappy', [snappyEncode(plain), snappyEncode(Buffer.alloc(70_000, 'ab'))], (body) =>
      snappyDecode(body, { maxBytes: 1 << 24 }),
    ),
    bytes('snappy, written', [plain], (body) =>
      assert.deepEqual(Buffer.from(snappyDecode(snappyEncode(body), { maxBytes: 1 << 24 })), body),
    ),
    bytes('gzip', [gzipSync(plain), gzipSync('')], (body) => gunzip(body, { maxBytes: 1 << 24 })),
    bytes(
      'tunnel frame',
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((type) =>
        encodeFrame(type as never, 7, '{"method":"tell","params":{}}'),
      ),
      (message) => {
        const found = decodeFrame(message);
        return found && parseBody(found.payload, 64);
      },
    ),
    bytes('feishu frame', [frame], (message) => {
      const found = unpacked(message);
      assert.ok(found === undefined || unpacked(packed(found)) !== undefined);
    }),
  ];
}

function storeParsers(): readonly Parser[] {
  const batch = readJsonPush(
    Buffer.from(
      '{"streams":[{"stream":{"a":"b"},"values":[["1795200000000000001","one"],["1795200000000000002","two",{"m":"n"}],["1795200001000000002","three"]]}]}',
    ),
  );
  const record = Buffer.concat(encodeRecord({ number: 7, batch }));
  const { ms, ns, ends, meta, metas, used } = batch;
  const columns = {
    count: batch.count,
    ms,
    ns,
    ends,
    meta,
    metas,
    lines: batch.bytes.subarray(0, used),
  };
  const chunk = encodeChunk(columns, 0, batch.count, new ByteWriter(256), new ByteWriter(256));
  const value = new ByteWriter(64);
  encodeValue(value, { kind: 'text', value: Buffer.from('a') } as never);
  const checkpoint = new Checkpoint(3);
  const samples = new Samples();
  [1.5, 2, NaN].forEach((number, at) => samples.push(at * 15_000, number, at === 2));
  checkpoint.add(7, samples, 0, samples.length);
  return [
    bytes('log record', [record], (bytesOf) => decodeRecord(bytesOf)),
    bytes('log chunk', [Buffer.from(chunk)], (bytesOf) => {
      chunkLines(bytesOf);
      decodeChunk(bytesOf);
    }),
    bytes('span value', [Buffer.from(value.take())], (bytesOf) =>
      decodeValue(new ByteReader(bytesOf)),
    ),
    bytes('metrics checkpoint', [Buffer.from(checkpoint.take())], (bytesOf) =>
      readCheckpoint(new Cursor(bytesOf, 1, bytesOf.length), 100, samples, () => undefined),
    ),
  ];
}
