import { type Budget, JsonBytes } from 'svc/query';

import {
  assertSent,
  type MatchedSpanset,
  type MetricsResult,
  type SearchResult,
} from '../../traceql/index.ts';
import type { Attribute } from '../../traceql/spans/span.ts';
import { attributesJson, valueJson, valueText } from '../head/otlp-values.ts';
import { intrinsicTags, type TagNames, type TagValue } from './tags.ts';

/**
 * Adds warnings about what is missing to a finished object, as Tempo does for partial answers, and
 * as a list.
 */
export function withWarnings(
  json: Uint8Array<ArrayBuffer>,
  warnings: readonly string[],
): Uint8Array<ArrayBuffer> {
  if (warnings.length === 0) {
    return json;
  }
  const said = Buffer.from(
    `,"status":"PARTIAL","message":${JSON.stringify(warnings.join('; '))},"warnings":${JSON.stringify(warnings)}}`,
  );
  const told = new Uint8Array(json.length - 1 + said.length);
  told.set(json.subarray(0, -1));
  told.set(said, json.length - 1);
  return told;
}

const withoutZeros = (traceId: string): string => traceId.replace(/^0+(?=.)/, '');

/** A search as the interface answers it. `plain` leaves the spans out, as a search by tags does. */
export function searchJson(
  { traces, inspectedTraces, partial }: SearchResult,
  { plain = false }: { readonly plain?: boolean } = {},
): Uint8Array<ArrayBuffer> {
  const json = new JsonBytes(traces.length * 512 + 256);
  json.raw('{"traces":[');
  traces.forEach((trace, index) => {
    json
      .raw(
        `${index === 0 ? '' : ','}{"traceID":"${withoutZeros(trace.traceId)}","rootServiceName":`,
      )
      .string(trace.rootService);
    json.raw(',"rootTraceName":').string(trace.rootName);
    json.raw(
      `,"startTimeUnixNano":"${trace.startNs}","durationMs":${Math.floor(trace.durationNs / 1e6)}`,
    );
    if (!plain) {
      const [first] = trace.spansets;
      if (first !== undefined) {
        json.raw(',"spanSet":');
        spansetJson(json, first);
      }
      json.raw(',"spanSets":[');
      trace.spansets.forEach((spanset, at) => {
        json.raw(at === 0 ? '' : ',');
        spansetJson(json, spanset);
      });
      json.raw('],"serviceStats":{');
      [...trace.services].forEach(([service, { spanCount, errorCount }], at) => {
        json.raw(at === 0 ? '' : ',').string(service);
        json.raw(
          `:{"spanCount":${spanCount}${errorCount === 0 ? '' : `,"errorCount":${errorCount}`}}`,
        );
      });
      json.raw('}');
    }
    json.raw('}');
  });
  return json
    .raw(
      `],"metrics":{"inspectedTraces":${inspectedTraces},"completedJobs":${partial ? 0 : 1},"totalJobs":1}}`,
    )
    .finish();
}

function spansetJson(json: JsonBytes, { spans, matched, attributes }: MatchedSpanset): void {
  json.raw('{"spans":[');
  spans.forEach(({ span, attributes: shown }, index) => {
    json.raw(`${index === 0 ? '' : ','}{"spanID":"${span.id}"`);
    const listed = shown.filter(({ key }) => key !== 'name');
    if (listed.length < shown.length) {
      json.raw(',"name":').string(span.name);
    }
    json.raw(`,"startTimeUnixNano":"${span.startNs}","durationNanos":"${span.durationNs}"`);
    if (listed.length > 0) {
      json.raw(',"attributes":');
      attributesJson(json, listed);
    }
    json.raw('}');
  });
  json.raw(`],"matched":${matched}`);
  if (attributes.length > 0) {
    json.raw(',"attributes":');
    attributesJson(json, attributes);
  }
  json.raw('}');
}

/** A metrics query over a range as the interface answers it, or with the one value of each series. */
export async function metricsJson(
  { times, series }: MetricsResult,
  budget: Budget,
  { instant = false }: { readonly instant?: boolean } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const json = new JsonBytes().raw('{"series":[');
  const stamps = Array.from(times, (time) => `{"timestampMs":"${Math.round(time)}","value":`);
  for (const [index, { labels, values, exemplars = [] }] of series.entries()) {
    labelsJson(json.raw(index === 0 ? '{' : ',{'), labels);
    json.raw(',');
    if (instant) {
      json.raw('"value":').number(values[0]!).raw(',');
    } else {
      samplesJson(json, stamps, values);
    }
    json.raw('"promLabels":').string(promLabels(labels));
    if (!instant && exemplars.length > 0) {
      exemplarsJson(json, exemplars);
    }
    json.raw('}');
    assertSent(json.length);
    await budget.breathe();
  }
  return json.raw('],"metrics":{"completedJobs":1,"totalJobs":1}}').finish();
}

function labelsJson(json: JsonBytes, labels: readonly Attribute[]): void {
  json.raw('"labels":[');
  labels.forEach(({ key, value }, at) => {
    json
      .raw(at === 0 ? '{"key":' : ',{"key":')
      .string(key)
      .raw(',"value":');
    valueJson(json, value);
    json.raw('}');
  });
  json.raw(']');
}

function exemplarsJson(
  json: JsonBytes,
  exemplars: NonNullable<MetricsResult['series'][number]['exemplars']>,
): void {
  json.raw(',"exemplars":[');
  exemplars.forEach(({ labels, timeMs, value }, at) => {
    labelsJson(json.raw(at === 0 ? '{' : ',{'), labels);
    json
      .raw(',"value":')
      .number(value!)
      .raw(`,"timestampMs":"${Math.floor(timeMs)}"}`);
  });
  json.raw(']');
}

/** `stamps` is what each sample begins with. */
function samplesJson(json: JsonBytes, stamps: readonly string[], values: Float64Array): void {
  json.raw('"samples":[');
  let first = true;
  values.forEach((value, at) => {
    if (!Number.isNaN(value)) {
      json
        .raw(first ? '' : ',')
        .raw(stamps[at]!)
        .number(value)
        .raw('}');
      first = false;
    }
  });
  json.raw('],');
}

const promLabels = (labels: readonly Attribute[]): string =>
  `{${labels.map(({ key, value }) => `${JSON.stringify(key)}=${JSON.stringify(valueText(value))}`).join(', ')}}`;

const encode = (value: unknown): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(Buffer.from(JSON.stringify(value)));

const scopesShown = ['resource', 'span', 'event', 'link', 'instrumentation'] as const;

/** Keys of all scopes together. */
export function tagsJson(names: TagNames, scope?: string): Uint8Array<ArrayBuffer> {
  const wanted = scopesShown.filter(
    (name) => scope === undefined || scope === '' || scope === name,
  );
  const tags =
    scope === 'intrinsic'
      ? [...intrinsicTags]
      : [...new Set(wanted.flatMap((name) => names[name]))].sort();
  return encode({ tagNames: tags, metrics: {} });
}

/** Keys by scope. */
export function tagsJsonByScope(names: TagNames, scope?: string): Uint8Array<ArrayBuffer> {
  const all = [
    ...scopesShown.map((name) => ({ name, tags: names[name] })),
    { name: 'intrinsic', tags: intrinsicTags },
  ];
  return encode({
    scopes: all.filter(
      ({ name, tags }) =>
        (scope === undefined || scope === '' || scope === name) && tags.length > 0,
    ),
    metrics: {},
  });
}

export const tagValuesJson = (values: readonly TagValue[]): Uint8Array<ArrayBuffer> =>
  encode({ tagValues: [...new Set(values.map(({ value }) => value))].sort(), metrics: {} });

export const typedTagValuesJson = (values: readonly TagValue[]): Uint8Array<ArrayBuffer> =>
  encode({ tagValues: values, metrics: {} });
