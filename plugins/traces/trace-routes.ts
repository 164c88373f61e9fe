import { byteRoute, type RouteDeclaration } from 'svc/sdk';
import type { AskingOf } from 'svc/query';
import { Type } from 'typebox';

import type { TraceDriver } from './drivers/driver.ts';
import { errors } from './errors.ts';
import { answered } from './tempo-shapes.ts';
import { parametersOf } from './tempo/parameter-list.ts';
import type { Reader } from './tempo/question.ts';

export const jsonType = 'application/json';
/** The thread's own deadline ends a query before this does. */
export const answerMs = 5 * 60_000 + 15_000;

const Text = (description: string, maxLength = 64) =>
  Type.Optional(Type.String({ maxLength, description }));
const window = {
  start: Text('start of the window: seconds, nanoseconds or RFC 3339'),
  end: Text('end of the window, by default now'),
};
const limit = Text('maximum number of traces, 1 to 1000; 20 by default', 20);
const valueLimit = Text('maximum number of values, 1 to 5000; 5000 by default', 20);

const Search = Type.Object({
  ...window,
  q: Text('TraceQL', 65_536),
  tags: Text(
    'instead of TraceQL: keys and values as logfmt, such as service.name=shop http.status_code=500',
    65_536,
  ),
  minDuration: Text('with tags: shortest span, such as 50ms'),
  maxDuration: Text('with tags: longest span'),
  limit,
  spss: Text('maximum number of spans shown of each set that matched. Default: 3', 20),
});

const Values = Type.Object({
  ...window,
  q: Text('TraceQL filter: values of other spans do not count', 65_536),
  limit: valueLimit,
});

export const TraceId = Type.Object({
  trace_id: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'Hexadecimal; leading zeros may be omitted',
    examples: ['4bf92f3577b34da6a3ce929d0e0e4736'],
  }),
});
export const Tag = Type.Object({
  tag: Type.String({
    minLength: 1,
    maxLength: 1024,
    description: 'Tag name, such as resource.service.name, .http.method or status',
  }),
});

/** Routes of the API; answers have Tempo's format, errors that of svc. */
export const traceRoutes = (
  driver: () => TraceDriver,
  reader: Reader,
  asking: AskingOf,
): readonly RouteDeclaration[] => [
  byteRoute({
    method: 'GET',
    path: '/api/v1/traces/search',
    access: 'any',
    devices: 'narrowed',
    summary: 'Search traces within a time window with TraceQL, newest first',
    query: Search,
    response: answered.search,
    produces: jsonType,
    timeoutMs: answerMs,
    errors: ['budget_exceeded', 'rate_limited', 'unavailable', 'upstream_error'],
    handle: async ({ query, principal, signal }) =>
      driver().answer(reader.search(parametersOf(query)), { signal, ...(await asking(principal)) }),
  }),
  byteRoute({
    method: 'GET',
    path: '/api/v1/traces/tags/{tag}/values',
    access: 'any',
    devices: 'narrowed',
    summary: 'List values of a tag in a window, with their types',
    params: Tag,
    query: Values,
    response: answered.typedValues,
    produces: jsonType,
    timeoutMs: answerMs,
    errors: ['budget_exceeded', 'rate_limited', 'unavailable', 'upstream_error'],
    handle: async ({ params, query, principal, signal }) =>
      driver().answer(reader.values(parametersOf(query), params.tag, 2), {
        signal,
        ...(await asking(principal)),
      }),
  }),
  byteRoute({
    method: 'GET',
    path: '/api/v1/traces/{trace_id}',
    access: 'any',
    devices: 'narrowed',
    summary: 'Get all spans of a trace',
    params: TraceId,
    response: answered.trace,
    produces: jsonType,
    timeoutMs: answerMs,
    errors: ['not_found', 'rate_limited', 'unavailable', 'upstream_error'],
    async handle({ params, principal, signal }) {
      const found = await driver().trace(params.trace_id, 'v1', {
        signal,
        ...(await asking(principal)),
      });
      if (found === undefined) {
        throw errors.no_trace({ id: params.trace_id });
      }
      return found;
    },
  }),
];
