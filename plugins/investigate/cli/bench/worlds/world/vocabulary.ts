import { pick, type Random } from 'svc/seeded';

import type { Language, WorldKind } from './world-kind.ts';

/** Names under which a library tells of the requests that a service answers, and of those that it makes. */
export interface RequestStyle {
  readonly name: string;
  readonly counter?: {
    readonly name: string;
    readonly status: string;
    readonly ok: string;
    readonly bad: string;
  };
  readonly duration?: {
    readonly name: string;
    readonly unit: 's' | 'ms';
    readonly type: 'histogram' | 'summary' | 'sum';
    /** Label of the status, where the histogram has one. */
    readonly status?: { readonly name: string; readonly ok: string; readonly bad: string };
  };
  readonly route?: { readonly name: string; readonly values: readonly string[] };
  readonly method?: { readonly name: string; readonly value: string };
  readonly extra?: Readonly<Record<string, string>>;
  readonly client?: {
    readonly name: string;
    readonly unit: 's' | 'ms';
    /** Label that names who is called. */
    readonly peer: string;
    readonly status: { readonly name: string; readonly ok: string; readonly bad: string };
  };
}

const routes = [
  '/api/v1/items',
  '/api/v1/items/{id}',
  '/submit',
  '/list',
  '/internal/sync',
  '/health',
];
const http = (
  name: string,
): { readonly name: string; readonly ok: string; readonly bad: string } => ({
  name,
  ok: '200',
  bad: '500',
});

export const styles: Readonly<Record<string, RequestStyle>> = {
  otelStable: {
    name: 'OpenTelemetry HTTP, stable',
    duration: {
      name: 'http_server_request_duration_seconds',
      unit: 's',
      type: 'histogram',
      status: http('http_response_status_code'),
    },
    route: { name: 'http_route', values: routes },
    method: { name: 'http_request_method', value: 'GET' },
    extra: { url_scheme: 'http' },
    client: {
      name: 'http_client_request_duration_seconds',
      unit: 's',
      peer: 'server_address',
      status: http('http_response_status_code'),
    },
  },
  otelOld: {
    name: 'OpenTelemetry HTTP, old',
    duration: {
      name: 'http_server_duration_milliseconds',
      unit: 'ms',
      type: 'histogram',
      status: http('http_status_code'),
    },
    route: { name: 'http_route', values: routes },
    method: { name: 'http_method', value: 'GET' },
    client: {
      name: 'http_client_duration_milliseconds',
      unit: 'ms',
      peer: 'net_peer_name',
      status: http('http_status_code'),
    },
  },
  otelRpc: {
    name: 'OpenTelemetry RPC',
    duration: {
      name: 'rpc_server_duration_milliseconds',
      unit: 'ms',
      type: 'histogram',
      status: { name: 'rpc_grpc_status_code', ok: '0', bad: '14' },
    },
    route: { name: 'rpc_method', values: ['Get', 'List', 'Submit', 'Watch'] },
    extra: { rpc_system: 'grpc' },
    client: {
      name: 'rpc_client_duration_milliseconds',
      unit: 'ms',
      peer: 'server_address',
      status: { name: 'rpc_grpc_status_code', ok: '0', bad: '14' },
    },
  },
  go: {
    name: 'client_golang',
    counter: { name: 'http_requests_total', status: 'code', ok: '200', bad: '500' },
    duration: { name: 'http_request_duration_seconds', unit: 's', type: 'histogram' },
    route: { name: 'handler', values: routes },
    method: { name: 'method', value: 'get' },
  },
  node: {
    name: 'prom-client',
    duration: {
      name: 'http_request_duration_seconds',
      unit: 's',
      type: 'histogram',
      status: http('status_code'),
    },
    route: { name: 'route', values: routes },
    method: { name: 'method', value: 'GET' },
  },
  micrometer: {
    name: 'Micrometer',
    duration: {
      name: 'http_server_requests_seconds',
      unit: 's',
      type: 'histogram',
      status: http('status'),
    },
    route: { name: 'uri', values: routes },
    method: { name: 'method', value: 'GET' },
    client: {
      name: 'http_client_requests_seconds',
      unit: 's',
      peer: 'client_name',
      status: http('status'),
    },
  },
  micrometerSum: {
    name: 'Micrometer without buckets',
    duration: {
      name: 'http_server_requests_seconds',
      unit: 's',
      type: 'sum',
      status: http('status'),
    },
    route: { name: 'uri', values: routes },
    method: { name: 'method', value: 'GET' },
    client: {
      name: 'http_client_requests_seconds',
      unit: 's',
      peer: 'client_name',
      status: http('status'),
    },
  },
  flask: {
    name: 'Flask exporter',
    counter: { name: 'flask_http_request_total', status: 'status', ok: '200', bad: '500' },
    duration: {
      name: 'flask_http_request_duration_seconds',
      unit: 's',
      type: 'histogram',
      status: http('status'),
    },
    route: { name: 'path', values: routes },
    method: { name: 'method', value: 'GET' },
  },
  django: {
    name: 'django-prometheus',
    counter: {
      name: 'django_http_responses_total_by_status_total',
      status: 'status',
      ok: '200',
      bad: '500',
    },
    duration: {
      name: 'django_http_requests_latency_seconds_by_view_method',
      unit: 's',
      type: 'histogram',
    },
    route: { name: 'view', values: ['items-list', 'items-detail', 'submit'] },
    method: { name: 'method', value: 'GET' },
  },
  summary: {
    name: 'summaries',
    counter: { name: 'http_server_requests_total', status: 'status', ok: '200', bad: '503' },
    duration: { name: 'http_server_request_latency_seconds', unit: 's', type: 'summary' },
    route: { name: 'path', values: routes },
  },
  grpc: {
    name: 'go-grpc-prometheus',
    counter: {
      name: 'grpc_server_handled_total',
      status: 'grpc_code',
      ok: 'OK',
      bad: 'Unavailable',
    },
    duration: { name: 'grpc_server_handling_seconds', unit: 's', type: 'histogram' },
    route: { name: 'grpc_method', values: ['Get', 'List', 'Submit'] },
    extra: { grpc_type: 'unary' },
  },
  istio: {
    name: 'Istio',
    counter: { name: 'istio_requests_total', status: 'response_code', ok: '200', bad: '503' },
    duration: { name: 'istio_request_duration_milliseconds', unit: 'ms', type: 'histogram' },
  },
  nginx: {
    name: 'ingress-nginx',
    counter: { name: 'nginx_ingress_controller_requests', status: 'status', ok: '200', bad: '502' },
    duration: {
      name: 'nginx_ingress_controller_request_duration_seconds',
      unit: 's',
      type: 'histogram',
      status: http('status'),
    },
    route: { name: 'path', values: ['/'] },
  },
};

/** Habits of an organisation's telemetry, drawn once for a world. */
export interface Vocabulary {
  readonly platform: 'kubernetes' | 'machines' | 'docker';
  /** One style for all services, or one by language. */
  readonly http: string | undefined;
  readonly byLanguage: Readonly<Record<Language, string>>;
  readonly ingress: boolean;
  /** Label of targets that has the name of the service beside `job`. */
  readonly serviceLabel: 'service' | 'app' | 'service_name' | 'deployment' | undefined;
  /** True if `job` has the name of the service; otherwise all services share one. */
  readonly jobNames: boolean;
  readonly namespace: string;
  /** Form of the label `instance` of a node exporter. */
  readonly hostInstance: 'ip' | 'name' | 'name_with_port';
  readonly hostMetrics: boolean;
  readonly containerMetrics: boolean;
  readonly storeMetrics: boolean;
  readonly runtimeMetrics: boolean;
  readonly clientMetrics: boolean;
  readonly blackbox: boolean;
  readonly spanMetrics: 'tempo' | 'connector' | 'connector_old' | undefined;
  readonly logFormat: 'json' | 'logfmt' | 'syslog' | 'plain' | 'stacktrace' | undefined;
  readonly logLabel: 'app' | 'job' | 'container' | 'service_name' | 'service';
  /** Share of traces that are kept; 0: none are taken. */
  readonly sampling: number;
  readonly stepMs: number;
  readonly steps: number;
  readonly noise: number;
  /** True if people have drawn services, stores and hosts. */
  readonly topology: boolean;
  /** True if a pipeline posts its deploys. */
  readonly changes: boolean;
}

/** Draws the vocabulary of a world that sends data of a kind. */
export function vocabularyOf(random: Random, kind: WorldKind): Vocabulary {
  const is = (share: number): boolean => random() < share;
  const prometheus = kind === 'metrics' || kind === 'mixed';
  // One metrics world in four has nothing but the metrics of its services.
  const exporters = prometheus && (kind === 'mixed' || is(0.75));
  const platform = pick(random, ['kubernetes', 'kubernetes', 'machines', 'docker'] as const);
  const stepMs = pick(random, [15_000, 15_000, 30_000, 30_000, 60_000]);
  const hours = pick(random, kind === 'traces' ? [0.5, 1, 1.5] : [0.5, 1, 1, 2, 3, 6]);
  return {
    platform,
    http: pick(random, [
      'otelStable',
      'otelOld',
      'otelRpc',
      'go',
      'micrometer',
      'grpc',
      'istio',
      'summary',
      undefined,
      undefined,
      undefined,
    ]),
    byLanguage: {
      java: pick(random, ['micrometer', 'micrometerSum', 'otelStable']),
      go: pick(random, ['go', 'grpc', 'otelOld']),
      node: pick(random, ['node', 'otelStable']),
      python: pick(random, ['flask', 'django', 'otelOld']),
    },
    ingress: is(0.35),
    serviceLabel: pick(random, [
      'service',
      'app',
      'service_name',
      'deployment',
      undefined,
      undefined,
    ]),
    jobNames: is(0.75),
    namespace: pick(random, ['default', 'prod', 'shop', 'apps', 'team-a']),
    hostInstance: pick(random, ['ip', 'name', 'name_with_port']),
    hostMetrics: exporters && is(0.92),
    containerMetrics: exporters && platform !== 'machines' && is(0.85),
    storeMetrics: exporters && is(0.9),
    runtimeMetrics: prometheus && is(0.85),
    clientMetrics: prometheus && is(0.6),
    blackbox: exporters && is(0.5),
    spanMetrics:
      kind === 'spans'
        ? pick(random, ['tempo', 'connector', 'connector_old'])
        : kind === 'mixed' && is(0.2)
          ? 'connector'
          : undefined,
    logFormat:
      kind === 'logs' || (kind === 'mixed' && is(0.85))
        ? pick(random, ['json', 'logfmt', 'syslog', 'plain', 'stacktrace'])
        : undefined,
    logLabel: pick(random, ['app', 'job', 'container', 'service_name', 'service']),
    sampling:
      kind === 'traces'
        ? pick(random, [1, 0.5, 0.2])
        : kind === 'mixed' && is(0.7)
          ? pick(random, [1, 0.3, 0.1])
          : 0,
    stepMs,
    // Long histories have long intervals, as retention and cost make people choose.
    steps: Math.max(
      60,
      Math.min(stepMs === 60_000 ? 360 : 240, Math.round((hours * 3_600_000) / stepMs)),
    ),
    noise: pick(random, [0.03, 0.06, 0.12, 0.2]),
    topology: kind !== 'traces' && is(0.4),
    changes: is(0.6),
  };
}
