import {
  byteRoute,
  type Call,
  type ErrorWording,
  type RouteDeclaration,
  type ShownError,
} from 'svc/sdk';
import { type AskingOf, protocolQuery } from 'svc/query';
import type { TObject, TSchema } from 'typebox';

import type { TraceDriver } from './drivers/driver.ts';
import { errors } from './errors.ts';
import { answered, spoken } from './tempo-shapes.ts';
import { type ParameterList, parametersOf } from './tempo/parameter-list.ts';
import type { Reader, TempoQuestion } from './tempo/question.ts';
import { answerMs, jsonType, Tag, TraceId } from './trace-routes.ts';

const textType = 'text/plain; charset=utf-8';
const protobufType = 'application/protobuf';

/** Tempo says what is wrong in plain text, and nothing at all of a trace that is not there. */
export function tempoWording({ status, message, kind }: ShownError): ErrorWording {
  const statuses: Readonly<Record<string, number>> = {
    too_large: 422,
    timeout: 504,
    canceled: 499,
  };
  return {
    status:
      (kind !== undefined && Object.hasOwn(statuses, kind) ? statuses[kind] : undefined) ?? status,
    type: textType,
    body: status === 404 ? '' : message,
  };
}

const common = {
  method: 'GET',
  access: 'any',
  devices: 'narrowed',
  query: protocolQuery({}),
  produces: jsonType,
  timeoutMs: answerMs,
  wording: tempoWording,
  errors: ['upstream_error'],
} as const;

/** The part of Tempo's API that asks; spans come in by the data plane. */
export const tempoRoutes = (
  driver: () => TraceDriver,
  reader: Reader,
  asking: AskingOf,
): readonly RouteDeclaration[] => [
  ...questions.map((question) => questionRoute(question, driver, reader, asking)),
  valuesRoute('search/tag', 1, driver, reader, asking),
  valuesRoute('v2/search/tag', 2, driver, reader, asking),
  traceRoute('traces', 1, driver, asking),
  traceRoute('v2/traces', 2, driver, asking),
  echoRoute,
  buildInfoRoute,
  readyRoute(driver),
];

interface Question {
  readonly path: string;
  readonly summary: string;
  readonly shapes: { readonly query: TObject; readonly response: TSchema };
  readonly read: (reader: Reader, list: ParameterList) => TempoQuestion;
}

const questions: readonly Question[] = [
  {
    path: 'search',
    summary: 'newest matching traces',
    shapes: spoken.search,
    read: (reader, list) => reader.search(list),
  },
  {
    path: 'search/tags',
    summary: 'tag names',
    shapes: spoken.tags,
    read: (reader, list) => reader.tags(list, 1),
  },
  {
    path: 'v2/search/tags',
    summary: 'tag names by scope',
    shapes: spoken.scopedTags,
    read: (reader, list) => reader.tags(list, 2),
  },
  {
    path: 'metrics/query_range',
    summary: 'metrics query over a window',
    shapes: spoken.range,
    read: (reader, list) => reader.range(list),
  },
  {
    path: 'metrics/query',
    summary: 'instant metrics query',
    shapes: spoken.instant,
    read: (reader, list) => reader.instant(list),
  },
];

const questionRoute = (
  { path, summary, shapes, read }: Question,
  driver: () => TraceDriver,
  reader: Reader,
  asking: AskingOf,
): RouteDeclaration =>
  byteRoute({
    ...common,
    ...shapes,
    path: `/tempo/api/${path}`,
    summary: `Tempo API: ${summary}`,
    handle: async ({ query, principal, signal }) =>
      driver().answer(read(reader, parametersOf(query)), { signal, ...(await asking(principal)) }),
  });

const valuesRoute = (
  path: string,
  version: 1 | 2,
  driver: () => TraceDriver,
  reader: Reader,
  asking: AskingOf,
): RouteDeclaration =>
  byteRoute({
    ...common,
    ...(version === 1 ? spoken.values : spoken.typedValues),
    path: `/tempo/api/${path}/{tag}/values`,
    summary: `Tempo API: values of a tag (version ${version})`,
    params: Tag,
    handle: async ({ params, query, principal, signal }) =>
      driver().answer(reader.values(parametersOf(query), params.tag, version), {
        signal,
        ...(await asking(principal)),
      }),
  });

const traceRoute = (
  path: string,
  version: 1 | 2,
  driver: () => TraceDriver,
  asking: AskingOf,
): RouteDeclaration =>
  byteRoute({
    ...common,
    response: version === 1 ? answered.trace : answered.wrappedTrace,
    path: `/tempo/api/${path}/{trace_id}`,
    summary: `Tempo API: all spans of a trace (version ${version}), as JSON or protobuf`,
    params: TraceId,
    async handle(call) {
      const proto = wantsProtobuf(call);
      const form = version === 1 ? (proto ? 'proto' : 'v1') : proto ? 'proto2' : 'v2';
      const found = await driver().trace(call.params.trace_id, form, {
        signal: call.signal,
        ...(await asking(call.principal)),
      });
      if (found === undefined) {
        throw errors.no_trace({ id: call.params.trace_id });
      }
      if (proto) {
        call.setHeader('content-type', protobufType);
      }
      return found;
    },
  });

const echoRoute = byteRoute({
  ...common,
  devices: 'none',
  path: '/tempo/api/echo',
  summary: 'Tempo API: echo',
  produces: textType,
  handle: () => 'echo',
});

const buildInfoRoute = byteRoute({
  ...common,
  path: '/tempo/api/status/buildinfo',
  devices: 'none',
  summary: 'Tempo API: version',
  response: answered.buildInfo,
  handle: () =>
    JSON.stringify({
      version: '2.10.8',
      revision: '',
      branch: '',
      buildUser: '',
      buildDate: '',
      goVersion: '',
    }),
});

const readyRoute = (driver: () => TraceDriver): RouteDeclaration =>
  byteRoute({
    ...common,
    path: '/tempo/ready',
    devices: 'none',
    summary: 'Tempo API: readiness of the trace store',
    produces: textType,
    async handle() {
      const { ok, detail } = await driver().status();
      if (!ok) {
        throw errors.not_ready({ detail: detail ?? 'the trace store does not answer' });
      }
      return 'ready';
    },
  });

const wantsProtobuf = ({ headers }: Pick<Call, 'headers'>): boolean =>
  (headers['accept'] ?? '')
    .split(',')
    .some((type) => type.split(';')[0]!.trim().toLowerCase() === protobufType);
