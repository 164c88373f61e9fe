import { byteRoute, route, type RouteDeclaration, SvcError } from 'svc/sdk';
import { askerOf } from 'svc/query';
import { Type } from 'typebox';

import type { TraceDriver } from './driver.ts';
import { parametersOf } from './tempo/parameter-list.ts';
import type { Reader } from './tempo/question.ts';

export const jsonType = 'application/json';
/** The thread's own deadline ends a query before this does. */
export const answerMs = 5 * 60_000 + 15_000;

const Text = (description: string, maxLength = 64) => Type.Optional(Type.String({ maxLength, description }));
const window = {
  start: Text('begin of the window: seconds, nanoseconds or RFC 3339'),
  end: Text('end of the window, by default now'),
};
const limit = Text('most answers', 20);

const Search = Type.Object({
  ...window,
  q: Text('TraceQL', 65_536),
  tags: Text('instead of TraceQL: keys and values as logfmt, such as service.name=shop http.status_code=500', 65_536),
  minDuration: Text('with tags: shortest span, such as 50ms'),
  maxDuration: Text('with tags: longest span'),
  limit,
  spss: Text('most spans shown of each set that matched, 3 by default', 20),
});

const Values = Type.Object({ ...window, q: Text('TraceQL filter: values of other spans do not count', 65_536), limit });

export const TraceId = Type.Object({ trace_id: Type.String({ minLength: 1, maxLength: 64, description: 'hexadecimal; zeros at its front may be left out' }) });
export const Tag = Type.Object({ tag: Type.String({ minLength: 1, maxLength: 1024, description: 'such as resource.service.name, .http.method or status' }) });

/** What the API itself offers; answers are Tempo's, errors are svc's. */
export const traceRoutes = (driver: () => TraceDriver, reader: Reader): readonly RouteDeclaration[] => [
  byteRoute({
    method: 'GET',
    path: '/api/v1/traces/search',
    access: 'any',
    summary: 'Newest traces that a TraceQL query matches in a window',
    query: Search,
    produces: jsonType,
    timeoutMs: answerMs,
    errors: ['budget_exceeded', 'rate_limited', 'unavailable', 'upstream_error'],
    handle: ({ query, principal, signal }) => driver().answer(reader.search(parametersOf(query)), { signal, asker: askerOf(principal) }),
  }),
  byteRoute({
    method: 'GET',
    path: '/api/v1/traces/tags/{tag}/values',
    access: 'any',
    summary: 'Values of one tag in a window, with their types',
    params: Tag,
    query: Values,
    produces: jsonType,
    timeoutMs: answerMs,
    errors: ['budget_exceeded', 'rate_limited', 'unavailable', 'upstream_error'],
    handle: ({ params, query, principal, signal }) => driver().answer(reader.values(parametersOf(query), params.tag, 2), { signal, asker: askerOf(principal) }),
  }),
  byteRoute({
    method: 'GET',
    path: '/api/v1/traces/{trace_id}',
    access: 'any',
    summary: 'All spans of one trace',
    params: TraceId,
    produces: jsonType,
    timeoutMs: answerMs,
    errors: ['not_found', 'rate_limited', 'unavailable', 'upstream_error'],
    async handle({ params, principal, signal }) {
      const found = await driver().trace(params.trace_id, 'v1', { signal, asker: askerOf(principal) });
      if (found === undefined) {
        throw new SvcError('not_found', `there is no trace ${params.trace_id}`);
      }
      return found;
    },
  }),
];

const Found = Type.Object({
  ok: Type.Boolean(),
  latency_ms: Type.Number(),
  version: Type.Optional(Type.String({ description: 'of the remote store, where it says it' })),
  detail: Type.String({ description: 'which store answered, or why it did not' }),
  code: Type.Optional(Type.String({ description: 'of the error' })),
});

/** Whether the store that is set answers; one that does not is an answer, too. */
export const testRoutes = (driver: () => TraceDriver): readonly RouteDeclaration[] => [
  route({
    method: 'POST',
    path: '/api/v1/integrations/tracestore/test',
    access: 'admin',
    summary: 'Test the connection to the trace store that is set',
    response: Found,
    status: 200,
    action: 'tracestore:test',
    async handle() {
      const { driver: name, ok, detail, delayMs, version, code } = await driver().status();
      return {
        ok,
        latency_ms: Math.round(delayMs),
        detail: detail ?? `the ${name} store answers`,
        ...(version !== undefined && { version }),
        ...(code !== undefined && { code }),
      };
    },
  }),
];
