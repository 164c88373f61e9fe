import { type Labels, labelsWithEmpty } from 'svc/query';
import {
  anyValueFromJson,
  anyValueText,
  decodeAnyValue,
  decodeKeyValue,
  decodeResource,
  decodeScope,
  jsonEntries,
  jsonHex,
  jsonNanos,
  jsonNumber,
  jsonObject,
  jsonText,
  type KeyValue,
  keyValuesFromJson,
  type OtlpResource,
  type OtlpScope,
  ProtoReader,
  resourceFromJson,
  scopeFromJson,
  parsePushJson,
} from 'svc/store';

import { Batch } from '../lines/batch.ts';
import type { Nanos } from '../lines/nanos.ts';
import { errors } from './errors.ts';
import { LabelSets, RecordSets } from './label-sets.ts';
import { remembered } from './remembered.ts';

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

type Pair = readonly [string, string];

/** Fields of a record besides its time and body. */
interface Said {
  severity: number;
  severityText: string;
  attributes: readonly KeyValue[];
  traceId: string;
  spanId: string;
}

const streamSets = new LabelSets('streams');
const metadataSets = new LabelSets('metadata');
const recordSets = new RecordSets();

/** Lists of the JSON form that are read in pieces. */
const lists = ['resourceLogs', 'scopeLogs', 'logRecords'];

/** Six levels, of four severity numbers each. */
const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** An ExportLogsServiceRequest: `resource_logs = 1 {resource = 1, scope_logs = 2 {scope = 1, log_records = 2}}`. */
export function readOtlpProto(body: Buffer): Batch {
  const batch = new Batch(body.length, Math.max(16, body.length >> 8));
  eachMessage(new ProtoReader(body), 1, (resourceLogs) => {
    const { head, rest } = headed(resourceLogs, 1, 2);
    const from = batch.count;
    const resource = splitResource(head ? decodeResource(head) : { attributes: [] });
    for (const scopeLogs of rest) {
      const inner = headed(scopeLogs, 1, 2);
      const around = [...resource.metadata, ...scopePairs(inner.head && decodeScope(inner.head))];
      const prefix = recordSets.prefixOf(around);
      for (const record of inner.rest) {
        addFromProto(batch, body, record, around, prefix);
      }
    }
    batch.part(resource.labels, from);
  });
  return batch;
}

/** The same in its JSON form. */
export function readOtlpJson(body: Buffer): Batch {
  try {
    return readLogsJson(body);
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw errors.push_json({ cause: error.message.slice(0, 200) });
    }
    throw error;
  }
}

function readLogsJson(body: Buffer): Batch {
  const request = jsonObject(parsePushJson(body, lists), 'the body');
  const batch = new Batch(body.length, Math.max(16, body.length >> 8));
  for (const entry of jsonEntries(request['resourceLogs'], 'resourceLogs')) {
    const resourceLogs = jsonObject(entry, 'an entry of resourceLogs');
    const from = batch.count;
    const resource = splitResource(resourceFromJson(resourceLogs['resource']));
    for (const inner of jsonEntries(resourceLogs['scopeLogs'], 'scopeLogs')) {
      const scopeLogs = jsonObject(inner, 'an entry of scopeLogs');
      const around = [...resource.metadata, ...scopePairs(scopeFromJson(scopeLogs['scope']))];
      for (const record of jsonEntries(scopeLogs['logRecords'], 'logRecords')) {
        addFromJson(batch, jsonObject(record, 'a log record'), around);
      }
    }
    batch.part(resource.labels, from);
  }
  return batch;
}

/**
 * Adds a record. As a rule only the bytes of its time and body differ from those of other records:
 * the rest is looked up.
 */
function addFromProto(
  batch: Batch,
  body: Buffer,
  record: ProtoReader,
  around: readonly Pair[],
  prefix: string,
): void {
  const start = record.position;
  let at: Nanos = never;
  let observed: Nanos = never;
  let line: Uint8Array = nothing;
  let said = prefix;
  let isTraced = false;
  let unread = start;
  for (
    let before = start, field = record.next();
    ;
    before = record.position, field = record.next()
  ) {
    if (field !== 0 && field !== 1 && field !== 5 && field !== 11) {
      record.skip();
      isTraced ||= field === 9 || field === 10;
      continue;
    }
    said += before > unread ? body.toString('latin1', unread, before) : '';
    if (field === 0) {
      break;
    }
    if (field === 5) {
      line = lineInProto(body, record);
    } else {
      record.nanos();
      const stamp = { ms: record.ms, ns: record.ns };
      at = field === 1 ? stamp : at;
      observed = field === 11 ? stamp : observed;
    }
    unread = record.position;
  }
  // Records with a trace have unique labels, which are not worth caching.
  let labels = isTraced ? undefined : recordSets.get(said);
  if (labels === undefined) {
    labels = metadataOf(
      saidInProto(new ProtoReader(body, start, record.position, recordDepth)),
      around,
    );
    if (!isTraced) {
      recordSets.set(said, labels);
    }
  }
  const { ms, ns } = at.ms === 0 && at.ns === 0 ? observed : at;
  batch.line(ms, ns, line, batch.metaOf(labels));
}

const nothing = new Uint8Array(0);
const never: Nanos = { ms: 0, ns: 0 };
/** Number of messages in which a record is nested. */
const recordDepth = 3;

/** Returns the bytes of a text, which most bodies are, unchanged; anything else becomes text. */
function lineInProto(body: Buffer, record: ProtoReader): Uint8Array {
  const value = record.message();
  const start = value.position;
  if (value.next() === 1) {
    const text = value.bytes();
    if (value.next() === 0) {
      return text;
    }
  }
  return Buffer.from(
    anyValueText(decodeAnyValue(new ProtoReader(body, start, record.position, recordDepth + 1))),
  );
}

function saidInProto(reader: ProtoReader): Said {
  const attributes: KeyValue[] = [];
  const said: Said = { severity: 0, severityText: '', attributes, traceId: '', spanId: '' };
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    switch (field) {
      case 2:
        said.severity = reader.int32();
        break;
      case 3:
        said.severityText = reader.string();
        break;
      case 6:
        attributes.push(decodeKeyValue(reader.message()));
        break;
      case 9:
        said.traceId = reader.bytes().toString('hex');
        break;
      case 10:
        said.spanId = reader.bytes().toString('hex');
        break;
      default:
        reader.skip();
    }
  }
  return said;
}

function addFromJson(
  batch: Batch,
  record: Readonly<Record<string, unknown>>,
  around: readonly Pair[],
): void {
  const at = jsonNanos(record['timeUnixNano'], 'timeUnixNano');
  const observed = jsonNanos(record['observedTimeUnixNano'], 'observedTimeUnixNano');
  const { ms, ns } = at.ms === 0 && at.ns === 0 ? observed : at;
  const said: Said = {
    severity: jsonNumber(record['severityNumber'], 'severityNumber'),
    severityText: jsonText(record['severityText'], 'severityText'),
    attributes: keyValuesFromJson(record['attributes']),
    traceId: Buffer.from(jsonHex(record['traceId'], 16, 'traceId')).toString('hex'),
    spanId: Buffer.from(jsonHex(record['spanId'], 8, 'spanId')).toString('hex'),
  };
  batch.text(
    ms,
    ns,
    anyValueText(anyValueFromJson(record['body'])),
    batch.metaOf(metadataOf(said, around)),
  );
}

function metadataOf(
  { severity, severityText, attributes, traceId, spanId }: Said,
  around: readonly Pair[],
): Labels {
  const pairs: Pair[] = [
    ...around,
    ...attributes.map(pairOf),
    ...given([
      ['severity_number', severity === 0 ? '' : String(severity)],
      ['severity_text', severityText],
      ['trace_id', traceId],
      ['span_id', spanId],
      ['detected_level', levels[Math.floor((severity - 1) / 4)] ?? ''],
    ]),
  ];
  return traceId === '' && spanId === '' ? metadataSets.of(pairs) : labelsWithEmpty(pairs);
}

function splitResource({ attributes }: OtlpResource): {
  readonly labels: Labels;
  readonly metadata: readonly Pair[];
} {
  const ofStream = attributes.filter(({ key }) => streamAttributes.has(key));
  return {
    labels: streamSets.of(ofStream.map(pairOf)),
    metadata: attributes.filter((pair) => !ofStream.includes(pair)).map(pairOf),
  };
}

const scopePairs = (scope: OtlpScope | undefined): readonly Pair[] =>
  scope === undefined
    ? []
    : [
        ...given([
          ['scope_name', scope.name],
          ['scope_version', scope.version],
        ]),
        ...scope.attributes.map(pairOf),
      ];

/** Fields of a message are empty where they are not set. */
const given = (fields: readonly Pair[]): readonly Pair[] =>
  fields.filter(([, value]) => value !== '');

const pairOf = ({ key, value }: KeyValue): Pair => [labelName(key), anyValueText(value)];

const labelNames = new Map<string, string>();

/** Converts a key to a label name that a selector can use. */
function labelName(key: string): string {
  return (
    labelNames.get(key) ??
    remembered(labelNames, key, key.replaceAll(/[^a-zA-Z0-9_]/g, '_').replace(/^[0-9]/, 'key_$&'))
  );
}

function eachMessage(
  reader: ProtoReader,
  wanted: number,
  each: (message: ProtoReader) => void,
): void {
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === wanted) {
      each(reader.message());
    } else {
      reader.skip();
    }
  }
}

/**
 * Finds the header, since fields may come in any order, and what applies to all is needed first.
 */
function headed(
  reader: ProtoReader,
  headField: number,
  restField: number,
): { head: ProtoReader | undefined; rest: ProtoReader[] } {
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
