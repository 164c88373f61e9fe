import { byteRoute, type ErrorWording, type RouteDeclaration, type ShownError } from 'svc/sdk';
import { type AskingOf, protocolQuery } from 'svc/query';
import { type Static, Type } from 'typebox';

import { type Driver, type StatusPage, statusPages } from './drivers/driver.ts';
import { errors } from './errors.ts';
import { spoken, statusShapes, tsdbQuery } from './prometheus-shapes.ts';
import type { Asked, Endpoint, Pairs } from './thread/contract.ts';

/** The thread's own deadline ends a query before this does. */
export const answerMs = 5 * 60_000 + 15_000;
const json = 'application/json';
const text = 'text/plain; charset=utf-8';
const form = 'application/x-www-form-urlencoded';
const formBytes = 256 * 1024;
const LabelName = Type.Object({ name: Type.String({ minLength: 1, maxLength: 1024 }) });

const kinds: Readonly<Record<string, readonly [status: number, errorType: string]>> = {
  bad_data: [400, 'bad_data'],
  execution: [422, 'execution'],
  too_large: [422, 'execution'],
  timeout: [503, 'timeout'],
  canceled: [503, 'canceled'],
};
const codes: Readonly<Record<string, string>> = {
  invalid_argument: 'bad_data',
  not_found: 'not_found',
  internal: 'internal',
  unauthorized: 'unauthorized',
  forbidden: 'forbidden',
};

/** Errors as the Prometheus API has them. */
export function prometheusWording({ code, status, message, kind }: ShownError): ErrorWording {
  const [shown, errorType] =
    kind !== undefined && Object.hasOwn(kinds, kind)
      ? kinds[kind]!
      : [status, Object.hasOwn(codes, code) ? codes[code]! : 'unavailable'];
  return {
    status: shown,
    type: json,
    body: JSON.stringify({ status: 'error', errorType, error: message }),
  };
}

export const common = {
  access: 'any',
  // Series that svc makes: ALERTS of incidents, and durations of spans.
  quotes: ['alert', 'traces'],
  query: protocolQuery({}),
  produces: json,
  timeoutMs: answerMs,
  wording: prometheusWording,
  errors: ['upstream_error'],
} as const;

/** What a route that reads a form besides its query adds. */
export const formRead = { consumes: [form], maxBodyBytes: formBytes } as const;

interface Question {
  readonly path: string;
  readonly endpoint: Endpoint;
  readonly summary: string;
  readonly post?: true;
}

const questions: readonly Question[] = [
  { path: 'query', endpoint: 'query', summary: 'instant PromQL query', post: true },
  {
    path: 'query_range',
    endpoint: 'query_range',
    summary: 'PromQL query over a window',
    post: true,
  },
  { path: 'series', endpoint: 'series', summary: 'label sets of series', post: true },
  { path: 'labels', endpoint: 'labels', summary: 'label names', post: true },
  {
    path: 'query_exemplars',
    endpoint: 'query_exemplars',
    summary: 'exemplars of the series that a query reads',
    post: true,
  },
  {
    path: 'format_query',
    endpoint: 'format_query',
    summary: 'format a query',
    post: true,
  },
  { path: 'metadata', endpoint: 'metadata', summary: 'type, help and unit of metrics' },
];

const pages: Readonly<Record<StatusPage, string>> = {
  buildinfo: 'Prometheus API: version',
  runtimeinfo: 'Prometheus API: start time and retention',
  flags: 'Prometheus API: limits in force, under the names of flags',
  tsdb: 'Prometheus API: sources of high cardinality, and who sends the series',
};

/**
 * Returns the endpoint restricted to visible devices. Metric names and their help belong to no
 * series, hence to no device.
 */
const narrowed = (endpoint: Endpoint) =>
  endpoint === 'metadata'
    ? {}
    : ({ devices: endpoint === 'format_query' ? 'none' : 'narrowed' } as const);

/** The part of the Prometheus API that asks; pushes come in by the data plane. */
export const prometheusRoutes = (
  driver: () => Driver,
  asking: AskingOf,
): readonly RouteDeclaration[] => [
  ...questions.flatMap((question) => questionRoutes(question, driver, asking)),
  labelValuesRoute(driver, asking),
  ...statusPages.map((page) => statusRoute(page, driver)),
  healthyRoute,
  readyRoute(driver),
];

/** One question by GET and, where Prometheus takes a form, by POST. */
function questionRoutes(
  { path, endpoint, summary, post }: Question,
  driver: () => Driver,
  asking: AskingOf,
): readonly RouteDeclaration[] {
  const shared = {
    ...common,
    ...spoken[endpoint],
    ...narrowed(endpoint),
    path: `/prometheus/api/v1/${path}`,
  } as const;
  const asked = byteRoute({
    ...shared,
    method: 'GET',
    summary: `Prometheus API: ${summary}`,
    handle: async ({ query, principal, signal }) =>
      driver().ask({ endpoint, pairs: pairsOf(query), ...(await asking(principal)) }, signal),
  });
  if (!post) {
    return [asked];
  }
  const askedByForm = byteRoute({
    ...shared,
    method: 'POST',
    summary: `Prometheus API: ${summary}; parameters as a form`,
    ...formRead,
    audited: false,
    status: 200,
    handle: async ({ query, body, principal, signal }) =>
      driver().ask(
        withForm({ endpoint, pairs: pairsOf(query), ...(await asking(principal)) }, body),
        signal,
      ),
  });
  return [asked, askedByForm];
}

const labelValuesRoute = (driver: () => Driver, asking: AskingOf): RouteDeclaration =>
  byteRoute({
    ...common,
    method: 'GET',
    path: '/prometheus/api/v1/label/{name}/values',
    summary: 'Prometheus API: values of a label',
    params: LabelName,
    ...spoken.values,
    devices: 'narrowed',
    handle: async ({ params, query, principal, signal }) =>
      driver().ask(
        {
          endpoint: 'values',
          label: params.name,
          pairs: pairsOf(query),
          ...(await asking(principal)),
        },
        signal,
      ),
  });

const statusRoute = (page: StatusPage, driver: () => Driver): RouteDeclaration =>
  byteRoute({
    ...common,
    method: 'GET',
    path: `/prometheus/api/v1/status/${page}`,
    ...(page === 'buildinfo' && { devices: 'none' as const }),
    summary: pages[page],
    ...(page === 'tsdb' && { query: tsdbQuery }),
    response: statusShapes[page],
    handle: ({ query, principal, signal }) =>
      driver().page(page, {
        signal,
        limit: entriesAsked(query),
        senders: principal.grants.includes('*'),
      }),
  });

const maxEntries = 10_000;

/** Max entries of each list of `status/tsdb`. */
function entriesAsked(query: object): number {
  const { limit = '10' } = query as Static<typeof tsdbQuery>;
  const entries = Number(Array.isArray(limit) ? limit[0] : limit);
  if (!Number.isInteger(entries) || entries < 1 || entries > maxEntries) {
    throw errors.tsdb_limit({ max: maxEntries });
  }
  return entries;
}

const healthyRoute = byteRoute({
  ...common,
  method: 'GET',
  devices: 'none',
  path: '/prometheus/-/healthy',
  summary: 'Prometheus API: liveness',
  produces: text,
  handle: () => 'Prometheus Server is Healthy.\n',
});

const readyRoute = (driver: () => Driver): RouteDeclaration =>
  byteRoute({
    ...common,
    method: 'GET',
    devices: 'none',
    path: '/prometheus/-/ready',
    summary: 'Prometheus API: readiness of the store',
    produces: text,
    wording: ({ message }) => ({ type: text, body: `${message}\n` }),
    async handle(call) {
      const { ok } = await driver().probe(call.signal);
      call.setStatus(ok ? 200 : 503);
      return ok ? 'Prometheus Server is Ready.\n' : 'Service Unavailable\n';
    },
  });

/** A decoded query as pairs; a name that came several times gives several. */
export const pairsOf = (query: object): Pairs =>
  Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one: unknown) => [name, String(one)] as const),
  );

/** The form is read in the thread: it may be long. A copy of its own, because it is sent there. */
const withForm = (asked: Asked, body: Uint8Array): Asked => ({
  ...asked,
  form: new Uint8Array(body),
});
