import { SvcError } from 'svc/sdk';
import {
  type AnyValue,
  anyValueFromJson,
  anyValueText,
  decodeAnyValue,
  decodeKeyValue,
  decodeResource,
  decodeScope,
  jsonArray,
  jsonHex,
  jsonNanos,
  jsonNumber,
  jsonObject,
  jsonText,
  type KeyValue,
  keyValuesFromJson,
  type Labels,
  labelsOf,
  type OtlpResource,
  type OtlpScope,
  ProtoReader,
  resourceFromJson,
  scopeFromJson,
} from 'svc/telemetry';

import { Batch } from './batch.ts';
import type { Nanos } from './nanos.ts';

/** Attributes of a resource that make a stream; everything else stays with the line as metadata, as Loki has it. */
const streamAttributes: ReadonlySet<string> = new Set([
  'cloud.availability_zone',
  'cloud.region',
  'container.name',
  'deployment.environment',
  'deployment.environment.name',
  'k8s.cluster.name',
  'k8s.container.name',
  'k8s.cronjob.name',
  'k8s.daemonset.name',
  'k8s.deployment.name',
  'k8s.job.name',
  'k8s.namespace.name',
  'k8s.pod.name',
  'k8s.replicaset.name',
  'k8s.statefulset.name',
  'service.instance.id',
  'service.name',
  'service.namespace',
]);

interface LogRow {
  at: Nanos;
  observed: Nanos;
  severity: number;
  severityText: string;
  body: AnyValue;
  attributes: KeyValue[];
  traceId: string;
  spanId: string;
}

const emptyRecord = (): LogRow => ({
  at: { ms: 0, ns: 0 },
  observed: { ms: 0, ns: 0 },
  severity: 0,
  severityText: '',
  body: undefined,
  attributes: [],
  traceId: '',
  spanId: '',
});

/** Of six levels, four numbers each. */
const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** An ExportLogsServiceRequest: `resource_logs = 1 {resource = 1, scope_logs = 2 {scope = 1, log_records = 2}}`. */
export function readOtlpProto(body: Uint8Array): Batch {
  const batch = new Batch(body.length, Math.max(16, body.length >> 8));
  eachMessage(new ProtoReader(body), 1, (resourceLogs) => {
    const { head, rest } = headed(resourceLogs, 1, 2);
    const from = batch.count;
    const resource = splitResource(head ? decodeResource(head) : { attributes: [] });
    for (const scopeLogs of rest) {
      const inner = headed(scopeLogs, 1, 2);
      const scope = scopePairs(inner.head && decodeScope(inner.head));
      for (const record of inner.rest) {
        add(batch, recordFromProto(record), [...resource.metadata, ...scope]);
      }
    }
    batch.part(resource.labels, from);
  });
  return batch;
}

/** The same in its JSON form. */
export function readOtlpJson(body: Buffer): Batch {
  const request = jsonObject(parse(body), 'the body');
  const batch = new Batch(body.length, Math.max(16, body.length >> 8));
  for (const entry of jsonArray(request['resourceLogs'], 'resourceLogs')) {
    const resourceLogs = jsonObject(entry, 'an entry of resourceLogs');
    const from = batch.count;
    const resource = splitResource(resourceFromJson(resourceLogs['resource']));
    for (const inner of jsonArray(resourceLogs['scopeLogs'], 'scopeLogs')) {
      const scopeLogs = jsonObject(inner, 'an entry of scopeLogs');
      const scope = scopePairs(scopeFromJson(scopeLogs['scope']));
      for (const record of jsonArray(scopeLogs['logRecords'], 'logRecords')) {
        add(batch, recordFromJson(jsonObject(record, 'a log record')), [...resource.metadata, ...scope]);
      }
    }
    batch.part(resource.labels, from);
  }
  return batch;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8')) as unknown;
  } catch (error) {
    throw new SvcError('invalid_argument', `the body is not JSON: ${(error as Error).message.slice(0, 200)}`);
  }
}

function recordFromProto(reader: ProtoReader): LogRow {
  const record = emptyRecord();
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    switch (field) {
      case 1:
        reader.nanos();
        record.at = { ms: reader.ms, ns: reader.ns };
        break;
      case 2:
        record.severity = reader.int32();
        break;
      case 3:
        record.severityText = reader.string();
        break;
      case 5:
        record.body = decodeAnyValue(reader.message());
        break;
      case 6:
        record.attributes.push(decodeKeyValue(reader.message()));
        break;
      case 9:
        record.traceId = reader.bytes().toString('hex');
        break;
      case 10:
        record.spanId = reader.bytes().toString('hex');
        break;
      case 11:
        reader.nanos();
        record.observed = { ms: reader.ms, ns: reader.ns };
        break;
      default:
        reader.skip();
    }
  }
  return record;
}

const recordFromJson = (json: Readonly<Record<string, unknown>>): LogRow => ({
  at: jsonNanos(json['timeUnixNano'], 'timeUnixNano'),
  observed: jsonNanos(json['observedTimeUnixNano'], 'observedTimeUnixNano'),
  severity: jsonNumber(json['severityNumber'], 'severityNumber'),
  severityText: jsonText(json['severityText'], 'severityText'),
  body: anyValueFromJson(json['body']),
  attributes: keyValuesFromJson(json['attributes']),
  traceId: Buffer.from(jsonHex(json['traceId'], 16, 'traceId')).toString('hex'),
  spanId: Buffer.from(jsonHex(json['spanId'], 8, 'spanId')).toString('hex'),
});

function add(batch: Batch, record: LogRow, around: readonly (readonly [string, string])[]): void {
  const { ms, ns } = record.at.ms === 0 && record.at.ns === 0 ? record.observed : record.at;
  const level = levels[Math.floor((record.severity - 1) / 4)];
  const pairs: (readonly [string, string])[] = [
    ...around,
    ...record.attributes.map(pairOf),
    ['severity_number', record.severity === 0 ? '' : String(record.severity)],
    ['severity_text', record.severityText],
    ['trace_id', record.traceId],
    ['span_id', record.spanId],
    ['detected_level', level ?? ''],
  ];
  batch.text(ms, ns, anyValueText(record.body), batch.metaOf(labelsOf(pairs)));
}

function splitResource({ attributes }: OtlpResource): { readonly labels: Labels; readonly metadata: (readonly [string, string])[] } {
  const ofStream = attributes.filter(({ key }) => streamAttributes.has(key));
  return { labels: labelsOf(ofStream.map(pairOf)), metadata: attributes.filter((pair) => !ofStream.includes(pair)).map(pairOf) };
}

const scopePairs = (scope: OtlpScope | undefined): (readonly [string, string])[] =>
  scope === undefined ? [] : [['scope_name', scope.name], ['scope_version', scope.version], ...scope.attributes.map(pairOf)];

const pairOf = ({ key, value }: KeyValue): readonly [string, string] => [labelName(key), anyValueText(value)];

/** As a selector can ask for it. */
const labelName = (key: string): string => {
  const name = key.replaceAll(/[^a-zA-Z0-9_]/g, '_');
  return /^[0-9]/.test(name) ? `key_${name}` : name;
};

function eachMessage(reader: ProtoReader, wanted: number, each: (message: ProtoReader) => void): void {
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === wanted) {
      each(reader.message());
    } else {
      reader.skip();
    }
  }
}

/** Fields may come in any order, and what is said of all comes first when it is used. */
function headed(reader: ProtoReader, headField: number, restField: number): { head: ProtoReader | undefined; rest: ProtoReader[] } {
  let head: ProtoReader | undefined;
  const rest: ProtoReader[] = [];
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === headField) {
      head = reader.message();
    } else if (field === restField) {
      rest.push(reader.message());
    } else {
      reader.skip();
    }
  }
  return { head, rest };
}
