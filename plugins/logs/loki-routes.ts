import {
  byteRoute,
  type ErrorWording,
  type RequestHeaders,
  type RouteDeclaration,
  type ShownError,
} from 'svc/sdk';
import { type AskingOf, protocolQuery } from 'svc/query';

import type { LogDriver } from './drivers/driver.ts';
import { errors } from './errors.ts';
import { answerMs, jsonType, LabelName } from './log-routes.ts';
import { buildInfo, spoken } from './loki-shapes.ts';
import type { EndpointName } from './loki/endpoints.ts';
import { formOf, parametersOf } from './parameter-list.ts';

const form = 'application/x-www-form-urlencoded';
const formBytes = 256 * 1024;

/** Loki says what is wrong in plain text, and counts too much as a mistake of the asker. */
export function lokiWording({ status, message, kind }: ShownError): ErrorWording {
  const statuses: Readonly<Record<string, number>> = {
    too_large: 400,
    timeout: 504,
    canceled: 499,
  };
  return {
    status:
      (kind !== undefined && Object.hasOwn(statuses, kind) ? statuses[kind] : undefined) ?? status,
    type: 'text/plain; charset=utf-8',
    body: message,
  };
}

interface Path {
  readonly path: string;
  readonly name: EndpointName;
  readonly summary: string;
  readonly post?: true;
}

const paths: readonly Path[] = [
  {
    path: 'query',
    name: 'query',
    summary: 'Loki API: instant metric query',
    post: true,
  },
  {
    path: 'query_range',
    name: 'query_range',
    summary: 'Loki API: query over a window',
    post: true,
  },
  { path: 'labels', name: 'labels', summary: 'Loki API: label names', post: true },
  { path: 'label', name: 'labels', summary: 'Loki API: label names, under the older path' },
  {
    path: 'series',
    name: 'series',
    summary: 'Loki API: label sets of streams',
    post: true,
  },
  {
    path: 'index/stats',
    name: 'index_stats',
    summary: 'Loki API: volume of data that a selector would read',
    post: true,
  },
  {
    path: 'index/volume',
    name: 'index_volume',
    summary: 'Loki API: stream volume in bytes by label',
    post: true,
  },
  {
    path: 'index/volume_range',
    name: 'index_volume_range',
    summary: 'Loki API: stream volume in bytes by label over time',
    post: true,
  },
  {
    path: 'patterns',
    name: 'patterns',
    summary: 'Loki API: line patterns and their counts',
    post: true,
  },
  {
    path: 'detected_fields',
    name: 'detected_fields',
    summary: 'Loki API: line fields and their types',
    post: true,
  },
  {
    path: 'detected_labels',
    name: 'detected_labels',
    summary: 'Loki API: labels and their number of values',
    post: true,
  },
  {
    path: 'format_query',
    name: 'format_query',
    summary: 'Loki API: format a query',
    post: true,
  },
];

const common = {
  access: 'any',
  devices: 'narrowed',
  query: protocolQuery({}),
  produces: jsonType,
  timeoutMs: answerMs,
  wording: lokiWording,
  errors: ['upstream_error'],
} as const;

/** Grafana asks for labels of the stream, of metadata and of parsers apart. */
const isCategorized = (headers: RequestHeaders): boolean =>
  (headers['x-loki-response-encoding-flags'] ?? '')
    .split(',')
    .some((flag) => flag.trim() === 'categorize-labels');

/** The part of Loki's API that asks; pushes come in by the data plane. */
export const lokiRoutes = (
  driver: () => LogDriver,
  asking: AskingOf,
): readonly RouteDeclaration[] => [
  ...paths.flatMap((path) => pathRoutes(path, driver, asking)),
  valuesRoute(driver, asking, 'values', 'label', 'Values of one label, as Loki answers it'),
  valuesRoute(
    driver,
    asking,
    'detected_fields',
    'detected_field',
    'Values of one field of lines, as Loki answers it',
  ),
  readyRoute(driver),
  buildInfoRoute,
];

/** One question by GET and, where Loki takes a form, by POST. */
function pathRoutes(
  { path, name, summary, post }: Path,
  driver: () => LogDriver,
  asking: AskingOf,
): readonly RouteDeclaration[] {
  const shared = {
    ...common,
    ...(name === 'format_query' && { devices: 'none' as const }),
    ...spoken[name],
    path: `/loki/api/v1/${path}`,
  };
  const asked = byteRoute({
    ...shared,
    method: 'GET',
    summary,
    handle: async ({ query, principal, headers, signal }) =>
      driver().endpoint(
        {
          name,
          parameters: parametersOf(query),
          ...(await asking(principal)),
          categorized: isCategorized(headers),
        },
        signal,
      ),
  });
  if (!post) {
    return [asked];
  }
  const askedByForm = byteRoute({
    ...shared,
    method: 'POST',
    summary: `${summary}; parameters sent as a form`,
    consumes: [form],
    maxBodyBytes: formBytes,
    audited: false,
    status: 200,
    handle: async ({ query, body, principal, headers, signal }) =>
      driver().endpoint(
        {
          name,
          parameters: [...formOf(body), ...parametersOf(query)],
          ...(await asking(principal)),
          categorized: isCategorized(headers),
        },
        signal,
      ),
  });
  return [asked, askedByForm];
}

/** Values of what the path names: of a label, or of a field that lines have. */
const valuesRoute = (
  driver: () => LogDriver,
  asking: AskingOf,
  name: 'values' | 'detected_fields',
  folder: string,
  summary: string,
): RouteDeclaration =>
  byteRoute({
    ...common,
    ...spoken[name],
    method: 'GET',
    path: `/loki/api/v1/${folder}/{name}/values`,
    summary,
    params: LabelName,
    handle: async ({ params, query, principal, signal }) =>
      driver().endpoint(
        {
          name,
          label: params.name,
          parameters: parametersOf(query),
          ...(await asking(principal)),
        },
        signal,
      ),
  });

const readyRoute = (driver: () => LogDriver): RouteDeclaration =>
  byteRoute({
    ...common,
    method: 'GET',
    path: '/loki/ready',
    devices: 'none',
    summary: 'Loki API: readiness of the log store',
    produces: 'text/plain; charset=utf-8',
    async handle() {
      const { ok, detail } = await driver().status();
      if (!ok) {
        throw errors.not_ready({ detail: detail ?? 'the log store does not answer' });
      }
      return 'ready\n';
    },
  });

const buildInfoRoute = byteRoute({
  ...common,
  method: 'GET',
  path: '/loki/api/v1/status/buildinfo',
  devices: 'none',
  summary: 'Loki API: version',
  response: buildInfo,
  handle: () =>
    JSON.stringify({
      version: '3.4.0',
      revision: '',
      branch: '',
      buildUser: '',
      buildDate: '',
      goVersion: '',
    }),
});
