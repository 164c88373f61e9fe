import { ProtoWriter, snappyEncode } from 'svc/store';

import { edge, type WholeHouse } from '../whole-house.ts';
import { type Door, posted, repeated, shapes } from './doors-bodies.ts';

/** Doors that take the bodies of requests. */
export const inboundDoors = (house: WholeHouse): readonly Door[] => [
  ...jsonDoors(house),
  ...fileDoors(house),
  ...alertDoors(house),
  ...pushDoors(house),
];

/** One route for all that take JSON of the usual size, and those that take more. */
function jsonDoors(house: WholeHouse): Door[] {
  const door = (
    name: string,
    path: string,
    body: (bytes: number) => string,
    { mostMb = 1, method = 'POST' } = {},
  ): Door => ({
    name,
    mostMb,
    send: async (bytes) => posted(house, path, body(bytes), { method }),
  });
  const login = '/api/v1/auth/login';
  const panel = '{"type":"timeseries","title":"Load","targets":[{"expr":"up"}]}';
  return [
    door('login, empty lists', login, (bytes) => `{"email":${shapes['empty lists'](bytes - 12)}}`),
    door('login, names', login, (bytes) => shapes.names(bytes)),
    door(
      'setting',
      '/api/v1/system-settings/mcp/tokens',
      (bytes) => `{"value":${shapes.names(bytes - 12)}}`,
      { method: 'PUT' },
    ),
    door(
      'mcp call',
      '/mcp',
      (bytes) =>
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${shapes.names(bytes - 80)}}`,
    ),
    door(
      'grafana, panels',
      '/api/v1/monitor/dashboards/import?dry_run=true',
      (bytes) => `{"title":"t","panels":[${repeated(panel, bytes - 30, ',')}]}`,
      { mostMb: 4 },
    ),
    door(
      'grafana, names',
      '/api/v1/monitor/dashboards/import?dry_run=true',
      (bytes) => `{"title":"t","panels":[${panel}],"x":${shapes.names(bytes - 200)}}`,
      { mostMb: 4 },
    ),
    door(
      'dashboard',
      '/api/v1/monitor/dashboards/doors',
      (bytes) => `{"panels":[${shapes['empty lists'](bytes - 20)}]}`,
      { mostMb: 4, method: 'PUT' },
    ),
    door(
      'document',
      '/api/v1/knowledge/docs',
      (bytes) =>
        `{"path":"doors/${bytes}.md","content":${shapes.text(Math.min(bytes, 1_000_000))},"tags":${shapes['empty lists'](Math.max(4, bytes - 1_100_000))}}`,
      { mostMb: 6 },
    ),
  ];
}

function fileDoors(house: WholeHouse): Door[] {
  const form = (name: string, content: Uint8Array): { body: Uint8Array; type: string } => {
    const boundary = 'a-boundary-of-the-drill';
    return {
      type: `multipart/form-data; boundary=${boundary}`,
      body: Buffer.concat([
        Buffer.from(
          `--${boundary}\r\ncontent-disposition: form-data; name="replace"\r\n\r\ntrue\r\n--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: application/octet-stream\r\n\r\n`,
        ),
        content,
        Buffer.from(`\r\n--${boundary}--\r\n`),
      ]),
    };
  };
  const upload = (name: string, file: string, content: (bytes: number) => Uint8Array): Door => ({
    name,
    mostMb: 15,
    async send(bytes) {
      const { body, type } = form(file, content(bytes));
      return posted(house, '/api/v1/knowledge/upload', body, { headers: { 'content-type': type } });
    },
  });
  return [
    upload('upload, markdown', 'a.md', (bytes) =>
      Buffer.from(repeated('# A heading\nlines of words.\n', bytes)),
    ),
    upload('upload, dashes', 'b.md', (bytes) => Buffer.from(repeated('\r\n--a-boundary', bytes))),
    upload('upload, pdf', 'c.pdf', (bytes) =>
      Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(bytes, '1 0 obj << >> endobj\n')]),
    ),
    {
      name: 'pack archive',
      mostMb: 8,
      send: async (bytes) =>
        posted(
          house,
          '/api/v1/marketplace/upload',
          Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(bytes)]),
          {
            headers: { 'content-type': 'application/zip' },
          },
        ),
    },
  ];
}

function alertDoors(house: WholeHouse): Door[] {
  const rule =
    '  - alert: HostDown\n    expr: up == 0\n    for: 5m\n    labels: {severity: page, a: b}\n    annotations:\n      summary: "the host is down"\n';
  const rules = (bytes: number): string => `groups:\n- name: g\n  rules:\n${repeated(rule, bytes)}`;
  const list = (bytes: number): string => `groups: [${repeated('a,', bytes)}]`;
  const door = (name: string, path: string, body: (bytes: number) => object): Door => ({
    name,
    mostMb: 3.5,
    send: async (bytes) => posted(house, path, JSON.stringify(body(bytes))),
  });
  let url = '';
  const push = (name: string, body: (bytes: number) => string): Door => ({
    name,
    mostMb: 4,
    async open() {
      if (url === '') {
        const made = await house.fetch('/api/v1/alert-sources', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ key: 'doors' }),
        });
        ({ url } = (await made.json()) as { url: string });
      }
    },
    send: async (bytes) => posted(house, new URL(url).pathname, body(bytes)),
  });
  const alert = JSON.stringify({
    status: 'firing',
    labels: { alertname: 'A', severity: 'page', instance: 'a' },
    annotations: { summary: 'words '.repeat(300) },
  });
  return [
    door('rule file', '/api/v1/alert-rules/import', (bytes) => ({
      content: rules(bytes),
      dry_run: true,
    })),
    door('rule file, list', '/api/v1/alert-rules/import', (bytes) => ({
      content: list(bytes),
      dry_run: true,
    })),
    door('rule test', '/api/v1/alert-rules/test', (bytes) => ({
      content: 'rule_files: [a]',
      files: [{ name: 'a', content: rules(Math.min(bytes, 1_990_000)) }],
    })),
    door('rule test, list', '/api/v1/alert-rules/test', (bytes) => ({
      content: list(Math.min(bytes, 1_990_000)),
      files: [],
    })),
    push('alerts', (bytes) => `{"alerts":[${repeated(alert, bytes - 20, ',')}]}`),
    push('alerts, empty lists', (bytes) => `{"alerts":${shapes['empty lists'](bytes - 14)}}`),
    push(
      'alerts, names',
      (bytes) => `{"alerts":[{"status":"firing","labels":${shapes.names(bytes - 60)}}]}`,
    ),
  ];
}

function pushDoors(house: WholeHouse): Door[] {
  const push = (
    name: string,
    path: string,
    type: string,
    body: (bytes: number) => string | Uint8Array,
    more: Readonly<Record<string, string>> = {},
  ): Door => ({
    name,
    mostMb: 15,
    send: async (bytes) =>
      posted(house, path, body(bytes), {
        headers: { 'content-type': type, authorization: edge(1), ...more },
      }),
  });
  const json = 'application/json';
  const proto = 'application/x-protobuf';
  const nanos = `${Date.now()}000000`;
  const point = JSON.stringify({ attributes: [], timeUnixNano: nanos, asDouble: 1 });
  const record = JSON.stringify({ timeUnixNano: nanos, body: { stringValue: 'lines of words' } });
  const span = JSON.stringify({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    name: 'a',
    startTimeUnixNano: nanos,
    endTimeUnixNano: nanos,
  });
  return [
    push('remote write', '/api/v1/write', proto, (bytes) => snappyEncode(samples(bytes)), {
      'content-encoding': 'snappy',
    }),
    push(
      'otlp metrics',
      '/v1/metrics',
      json,
      (bytes) => `{"resourceMetrics":${shapes['empty lists'](bytes - 20)}}`,
    ),
    push(
      'otlp logs',
      '/v1/logs',
      json,
      (bytes) => `{"resourceLogs":${shapes['empty lists'](bytes - 20)}}`,
    ),
    push(
      'otlp traces',
      '/v1/traces',
      json,
      (bytes) => `{"resourceSpans":${shapes['empty lists'](bytes - 20)}}`,
    ),
    push(
      'otlp metrics, points',
      '/v1/metrics',
      json,
      (bytes) =>
        `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"doors","gauge":{"dataPoints":[${repeated(point, bytes - 120, ',')}]}}]}]}]}`,
    ),
    push(
      'otlp logs, records',
      '/v1/logs',
      json,
      (bytes) =>
        `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${repeated(record, bytes - 80, ',')}]}]}]}`,
    ),
    push(
      'otlp traces, spans',
      '/v1/traces',
      json,
      (bytes) =>
        `{"resourceSpans":[{"scopeSpans":[{"spans":[${repeated(span, bytes - 80, ',')}]}]}]}`,
    ),
    push(
      'loki push',
      '/loki/api/v1/push',
      json,
      (bytes) => `{"streams":[{"stream":{"a":"b"},"values":${shapes['empty lists'](bytes - 60)}}]}`,
    ),
    {
      name: 'promql in a form',
      send: async (bytes) =>
        posted(house, '/prometheus/api/v1/query', `query=${repeated('1%2B', bytes)}1`, {
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        }),
    },
  ];
}

/** A request of remote write with one series. */
function samples(bytes: number): Uint8Array {
  const series = new ProtoWriter();
  series.message(1, (label) => label.string(1, '__name__').string(2, 'doors'));
  const sample = new ProtoWriter()
    .message(2, (message) => message.double(1, 1).uint(2, Date.now()))
    .finish();
  series.fields(Buffer.alloc(Math.ceil(bytes / sample.length) * sample.length, sample));
  return new ProtoWriter().bytes(1, series.finish()).finish();
}
