import { byteRoute, type RouteDeclaration } from 'svc/sdk';
import type { AskingOf } from 'svc/query';
import { Type } from 'typebox';

import type { LogDriver } from './drivers/driver.ts';
import { spoken } from './loki-shapes.ts';
import { parametersOf } from './parameter-list.ts';

export const jsonType = 'application/json; charset=UTF-8';
/** The thread's own deadline ends a query before this does. */
export const answerMs = 5 * 60_000 + 15_000;

const Instant = (what: string) =>
  Type.Optional(
    Type.String({ maxLength: 64, description: `${what}: seconds, nanoseconds or RFC 3339` }),
  );
const Query = Type.Optional(
  Type.String({
    maxLength: 65_536,
    description: 'Stream selector; only labels of matching streams are listed',
  }),
);

const QueryRange = Type.Object({
  query: Type.String({ maxLength: 65_536, description: 'LogQL', examples: ['{job=~".+"}'] }),
  start: Instant('first instant of the window, by default an hour before its end'),
  end: Instant('end of the window, not included; by default now'),
  since: Type.Optional(
    Type.String({ maxLength: 40, description: 'Length of the window, as an alternative to start' }),
  ),
  limit: Type.Optional(
    Type.String({
      maxLength: 20,
      description: 'Maximum number of lines, at most 5000. Default: 100',
    }),
  ),
  direction: Type.Optional(
    Type.String({ maxLength: 20, description: 'backward (newest first, the default) or forward' }),
  ),
  step: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'Step of a metric query, in seconds or as a duration',
    }),
  ),
});

const Window = Type.Object({
  query: Query,
  start: Instant('by default six hours before the end'),
  end: Instant('by default now'),
  since: Type.Optional(Type.String({ maxLength: 40 })),
});

export const LabelName = Type.Object({ name: Type.String({ minLength: 1, maxLength: 1024 }) });

/** Routes of the API; answers have Loki's format, errors that of svc. */
export const logRoutes = (
  driver: () => LogDriver,
  asking: AskingOf,
): readonly RouteDeclaration[] => [
  byteRoute({
    method: 'GET',
    path: '/api/v1/logs/query_range',
    access: 'any',
    devices: 'narrowed',
    summary: 'Query log lines or series over a window with LogQL',
    query: QueryRange,
    response: spoken.query_range.response,
    produces: jsonType,
    timeoutMs: answerMs,
    errors: ['budget_exceeded', 'rate_limited', 'unavailable', 'upstream_error'],
    handle: async ({ query, principal, signal }) =>
      driver().endpoint(
        { name: 'query_range', parameters: parametersOf(query), ...(await asking(principal)) },
        signal,
      ),
  }),
  byteRoute({
    method: 'GET',
    path: '/api/v1/logs/labels',
    access: 'any',
    devices: 'narrowed',
    summary: 'List label names of streams in a window',
    query: Window,
    response: spoken.labels.response,
    produces: jsonType,
    timeoutMs: answerMs,
    errors: ['budget_exceeded', 'rate_limited', 'unavailable', 'upstream_error'],
    handle: async ({ query, principal, signal }) =>
      driver().endpoint(
        { name: 'labels', parameters: parametersOf(query), ...(await asking(principal)) },
        signal,
      ),
  }),
  byteRoute({
    method: 'GET',
    path: '/api/v1/logs/labels/{name}/values',
    access: 'any',
    devices: 'narrowed',
    summary: 'List values of a label in a window',
    params: LabelName,
    query: Window,
    response: spoken.labels.response,
    produces: jsonType,
    timeoutMs: answerMs,
    errors: ['budget_exceeded', 'rate_limited', 'unavailable', 'upstream_error'],
    handle: async ({ params, query, principal, signal }) =>
      driver().endpoint(
        {
          name: 'values',
          label: params.name,
          parameters: parametersOf(query),
          ...(await asking(principal)),
        },
        signal,
      ),
  }),
];
