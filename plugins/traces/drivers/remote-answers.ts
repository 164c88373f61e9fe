import type { FoundSpan, FoundTrace } from 'svc/contracts/traces';
import { foreignJson } from 'svc/query';
import { type SvcError } from 'svc/sdk';
import { ProtoReader } from 'svc/store';

import type { RemoteAnswer, TracesMetrics } from '../thread/contract.ts';
import { errors } from './errors.ts';

const strange = (what: string): SvcError => errors.odd_answer({ what });

const { parsed, record, list, text, number } = foreignJson(strange);

/** Max size of an answer that is read; what people ask for is passed on as it is. */
const maxBytes = 16 * 1024 * 1024;

/** Readers of answers, by what was asked. */
const readers = {
  search: (body: Uint8Array) => ({ traces: tracesIn(body), warnings: missingIn(body) }),
  names: (body: Uint8Array) => namesIn(body),
  values: (body: Uint8Array) => valuesIn(body),
  range: (body: Uint8Array) => matrixIn(body),
} as const;

export type AnswerOf<K extends RemoteAnswer['kind']> = ReturnType<(typeof readers)[K]>;

export function readAnswer<K extends RemoteAnswer['kind']>(kind: K, body: Uint8Array): AnswerOf<K> {
  if (body.length > maxBytes) {
    throw strange(`the answer is larger than ${maxBytes} bytes`);
  }
  return readers[kind](body) as AnswerOf<K>;
}

/**
 * Parses an answer of another server, checking each part: it may be another program, or another
 * version. Protobuf JSON omits zeros.
 */
function tracesIn(body: Uint8Array): FoundTrace[] {
  const { traces = [] } = parsed(body);
  return list(traces, 'traces').map((entry) => {
    const trace = record(entry, 'a trace');
    const sets = list(trace['spanSets'] ?? [], 'spanSets').map((set) => record(set, 'a span set'));
    return {
      traceId: text(trace['traceID'], 'a trace id').padStart(32, '0'),
      rootService: text(trace['rootServiceName'] ?? '', 'rootServiceName'),
      rootName: text(trace['rootTraceName'] ?? '', 'rootTraceName'),
      startNanos: text(trace['startTimeUnixNano'] ?? '0', 'startTimeUnixNano'),
      durationMs: number(trace['durationMs'] ?? 0, 'durationMs'),
      matched: sets.reduce((sum, { matched = 0 }) => sum + number(matched, 'matched'), 0),
      spans: sets.flatMap(({ spans = [] }) => list(spans, 'spans').map(spanIn)),
      services: mapped(trace['serviceStats'] ?? {}, 'serviceStats', (stats) => {
        const { spanCount = 0, errorCount = 0 } = record(stats, 'a service');
        return {
          spanCount: number(spanCount, 'spanCount'),
          errorCount: number(errorCount, 'errorCount'),
        };
      }),
    };
  });
}

/**
 * Returns that server's warnings about its answer: another svc lists them, Tempo says at most that
 * the answer is partial.
 */
function missingIn(body: Uint8Array): readonly string[] {
  const { warnings = [], status, message } = parsed(body);
  const named = list(warnings, 'warnings').map((warning) =>
    text(warning, 'a warning').slice(0, 1_000),
  );
  return named.length > 0 || status !== 'PARTIAL'
    ? named
    : [
        typeof message === 'string'
          ? message.slice(0, 1_000)
          : 'the remote trace store answered in part',
      ];
}

/** Tempo lists what every span has, such as its duration, as a scope of its own: `intrinsic`. */
const namesIn = (body: Uint8Array): Record<string, readonly string[]> =>
  Object.fromEntries(
    list(parsed(body)['scopes'] ?? [], 'scopes')
      .map((entry) => {
        const { name, tags = [] } = record(entry, 'a scope');
        const names = list(tags, 'tags').map((tag) => text(tag, 'a tag'));
        return [text(name, 'the name of a scope'), names] as const;
      })
      .filter(([name]) => name !== 'intrinsic'),
  );

const valuesIn = (body: Uint8Array): { readonly type: string; readonly value: string }[] =>
  list(parsed(body)['tagValues'] ?? [], 'tagValues').map((entry) => {
    const { type, value } = record(entry, 'a value');
    return { type: text(type, 'a type'), value: text(value, 'a value') };
  });

function matrixIn(body: Uint8Array): TracesMetrics {
  const series = list(parsed(body)['series'] ?? [], 'series').map((entry) => {
    const { labels = [], samples = [] } = record(entry, 'a series');
    return {
      labels: Object.freeze(attributesIn(labels, (value) => String(value))),
      samples: list(samples, 'samples').map((sample) => {
        const { timestampMs, value = 0 } = record(sample, 'a sample');
        return { time: Number(timestampMs), value: number(value, 'the value of a sample') };
      }),
    };
  });
  return {
    type: 'matrix',
    labels: series.map(({ labels }) => labels),
    times: series.map(({ samples }) => Float64Array.from(samples, ({ time }) => time)),
    values: series.map(({ samples }) => Float64Array.from(samples, ({ value }) => value)),
    warnings: missingIn(body),
  };
}

/** Undefined when it is no page that tells a version. */
export function versionIn(body: Uint8Array): string | undefined {
  const { version } = parsed(body);
  return typeof version === 'string' && version !== '' ? version.slice(0, 100) : undefined;
}

/** Returns the outcome of an export request: how many spans were refused, and why. */
export function refusedIn(body: Uint8Array): {
  readonly rejected: number;
  readonly reason: string;
} {
  let rejected = 0;
  let reason = '';
  const reader = new ProtoReader(body);
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field !== 1) {
      reader.skip();
      continue;
    }
    const partial = new ProtoReader(reader.bytes());
    for (let part = partial.next(); part !== 0; part = partial.next()) {
      if (part === 1) {
        rejected = Number(partial.uint64());
      } else if (part === 2) {
        reason = partial.string().slice(0, 300);
      } else {
        partial.skip();
      }
    }
  }
  return { rejected, reason };
}

/** Throws unless the body is a JSON object, which is passed on unchanged. */
export function assertJson(body: Uint8Array): void {
  if (!/^\s*\{/.test(Buffer.from(body.subarray(0, 64)).toString('latin1'))) {
    throw strange('the answer is not JSON');
  }
}

function spanIn(entry: unknown): FoundSpan {
  const span = record(entry, 'a span');
  return {
    spanId: text(span['spanID'], 'a span id'),
    name: text(span['name'] ?? '', 'a name'),
    startNanos: text(span['startTimeUnixNano'] ?? '0', 'startTimeUnixNano'),
    durationNanos: Number(text(span['durationNanos'] ?? '0', 'durationNanos')),
    attributes: attributesIn(span['attributes'] ?? [], (value) => value),
  };
}

/** Keys are foreign: without a prototype. Values are those of OTLP in JSON. */
function attributesIn<T>(
  value: unknown,
  made: (value: string | number | boolean) => T,
): Record<string, T> {
  const found = Object.create(null) as Record<string, T>;
  for (const entry of list(value, 'attributes')) {
    const { key, value: one } = record(entry, 'an attribute');
    const { stringValue, intValue, doubleValue, boolValue, ...more } = record(one ?? {}, 'a value');
    const plain =
      stringValue ??
      (intValue === undefined ? undefined : Number(intValue)) ??
      doubleValue ??
      boolValue ??
      JSON.stringify(more);
    if (typeof plain !== 'string' && typeof plain !== 'number' && typeof plain !== 'boolean') {
      throw strange('an attribute has a value of no known type');
    }
    found[text(key, 'a key')] = made(plain);
  }
  return found;
}

function mapped<T>(value: unknown, what: string, made: (value: unknown) => T): Record<string, T> {
  const found = Object.create(null) as Record<string, T>;
  for (const [key, one] of Object.entries(record(value, what))) {
    found[key] = made(one);
  }
  return found;
}
