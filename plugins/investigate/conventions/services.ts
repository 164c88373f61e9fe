import type { ShippedConvention } from './shipped-convention.ts';

/** Matcher of spans that answer somebody; those of calls are what others answer. */
const served = 'span_kind!~"SPAN_KIND_(?:CLIENT|PRODUCER|INTERNAL)|client|producer|internal"';

/** Conventions of services, and of what they call. */
export const services: Readonly<Record<string, ShippedConvention>> = {
  requests: {
    title: 'requests per second',
    metrics:
      /^(?:(?:\w+_)?(?:http_server_|http_|server_|api_|grpc_|rpc_)?requests?(?:_received|_handled|_processed)?_total)$/,
    of: 'service',
    kind: 'rate',
    unit: 'per_second',
    query: 'sum by ($by) (rate($metric{$on}[5m]))',
    worse: 'either',
  },
  requests_failing: {
    title: 'share of requests that fail',
    metrics:
      /^(?:(?:\w+_)?(?:http_server_|http_|server_|api_|grpc_|rpc_)?requests?(?:_received|_handled|_processed)?_total)$/,
    of: 'service',
    kind: 'error_ratio',
    unit: 'ratio',
    query:
      '(sum by ($by) ($failing) or 0 * sum by ($by) (rate($metric{$on}[5m]))) / (sum by ($by) (rate($metric{$on}[5m])) > 0)',
  },
  grpc: {
    title: 'calls per second',
    metrics: /^(?:grpc_server_handled_total)$/,
    of: 'service',
    kind: 'rate',
    unit: 'per_second',
    query: 'sum by ($by) (rate($metric{$on}[5m]))',
    worse: 'either',
  },
  grpc_failing: {
    title: 'share of calls that fail',
    metrics: /^(?:grpc_server_handled_total)$/,
    of: 'service',
    kind: 'error_ratio',
    unit: 'ratio',
    query:
      '(sum by ($by) ($failing) or 0 * sum by ($by) (rate($metric{$on}[5m]))) / (sum by ($by) (rate($metric{$on}[5m])) > 0)',
  },
  durations_counted: {
    title: 'requests per second',
    metrics:
      /^(?:\w*(?:request|requests|call|calls|rpc|handler|handling|server)\w*_(?:seconds|duration|latency|milliseconds|ms|handling_seconds)_count)$/,
    of: 'service',
    kind: 'rate',
    unit: 'per_second',
    query: 'sum by ($by) (rate($metric{$on}[5m]))',
    worse: 'either',
    except: /(?:client|gc_|pool|outbound|upstream|db_)/,
  },
  durations_failing: {
    title: 'share of requests that fail',
    metrics:
      /^(?:\w*(?:request|requests|call|calls|rpc|handler|handling|server)\w*_(?:seconds|duration|latency|milliseconds|ms)_count)$/,
    of: 'service',
    kind: 'error_ratio',
    unit: 'ratio',
    query:
      '(sum by ($by) ($failing) or 0 * sum by ($by) (rate($metric{$on}[5m]))) / (sum by ($by) (rate($metric{$on}[5m])) > 0)',
    except: /(?:client|gc_|pool|outbound|upstream|db_)/,
  },
  duration_p95: {
    title: '95th percentile duration',
    metrics:
      /^(?:\w*(?:request|requests|call|calls|rpc|handler|handling|server|response|latency)\w*_bucket)$/,
    of: 'service',
    kind: 'latency',
    unit: 'seconds',
    query: 'histogram_quantile(0.95, sum by ($by, le) (rate($metric{$on}[5m])))',
    except: /(?:client|gc_|pool|outbound|upstream|db_|milliseconds|_ms_|_millis)/,
  },
  duration_ms_p95: {
    title: '95th percentile duration',
    metrics:
      /^(?:\w*(?:request|requests|call|calls|rpc|handler|handling|server|response|latency|duration)\w*(?:milliseconds|_ms|_millis)_bucket)$/,
    of: 'service',
    kind: 'latency',
    unit: 'seconds',
    query: 'histogram_quantile(0.95, sum by ($by, le) (rate($metric{$on}[5m]))) / 1000',
    except: /(?:client|gc_|pool|outbound|upstream|db_|^(?:traces_span_?metrics_)?duration_)/,
  },
  duration_mean: {
    title: 'mean duration',
    metrics:
      /^(?:(\w*(?:request|requests|call|calls|rpc|handler|handling|server|response)\w*(?:seconds|duration|latency))_sum)$/,
    of: 'service',
    kind: 'latency',
    unit: 'seconds',
    query: 'sum by ($by) (rate($1_sum{$on}[5m])) / (sum by ($by) (rate($1_count{$on}[5m])) > 0)',
    except: /(?:client|gc_|pool|outbound|upstream|db_|milliseconds|_ms_)/,
  },
  duration_ms_mean: {
    title: 'mean duration',
    metrics:
      /^(?:(\w*(?:request|requests|call|calls|rpc|handler|handling|server|response|duration|latency)\w*(?:milliseconds|_ms|_millis))_sum)$/,
    of: 'service',
    kind: 'latency',
    unit: 'seconds',
    query:
      'sum by ($by) (rate($1_sum{$on}[5m])) / (sum by ($by) (rate($1_count{$on}[5m])) > 0) / 1000',
    except: /(?:client|gc_|pool|outbound|upstream|db_|^(?:traces_span_?metrics_)?duration_)/,
  },
  duration_summary: {
    title: 'duration quantile',
    metrics: /^(?:\w*(?:request|call|rpc|response)\w*(?:seconds|duration|latency))$/,
    of: 'service',
    kind: 'latency',
    unit: 'seconds',
    query: 'max by ($by) ($metric{$on,quantile=~"0.9.*"})',
  },
  duration_gauge: {
    title: 'duration',
    metrics:
      /^(?:\w*(?:request|call|rpc|response)\w*(?:latency|duration|time)(?:_(?:p95|p99|p90|avg|average|mean))(?:_seconds)?)$/,
    of: 'service',
    kind: 'latency',
    unit: 'seconds',
    query: 'max by ($by) ($metric{$on})',
  },
  span_calls: {
    title: 'calls per second',
    metrics: /^(?:(?:traces_span_?metrics_)?calls(?:_total)?)$/,
    of: 'service',
    kind: 'rate',
    unit: 'per_second',
    query: `sum by ($by) (rate($metric{$on,${served}}[5m]))`,
    worse: 'either',
  },
  span_failing: {
    title: 'share of calls that fail',
    metrics: /^(?:(?:traces_span_?metrics_)?calls(?:_total)?)$/,
    of: 'service',
    kind: 'error_ratio',
    unit: 'ratio',
    query: `(sum by ($by) (rate($metric{$on,${served},status_code=~"STATUS_CODE_ERROR|[Ee]rror|ERROR"}[5m])) or 0 * sum by ($by) (rate($metric{$on,${served}}[5m]))) / (sum by ($by) (rate($metric{$on,${served}}[5m])) > 0)`,
    // Made of its own labels, not of those by which requests fail.
    name: 'span calls failing',
  },
  span_duration: {
    title: '95th percentile duration',
    metrics: /^(?:(?:traces_span_?metrics_)?duration_(?:seconds_)?bucket)$/,
    of: 'service',
    kind: 'latency',
    unit: 'seconds',
    query: `histogram_quantile(0.95, sum by ($by, le) (rate($metric{$on,${served}}[5m])))`,
  },
  span_duration_ms: {
    title: '95th percentile duration',
    metrics: /^(?:(?:traces_span_?metrics_)?duration_milliseconds_bucket)$/,
    of: 'service',
    kind: 'latency',
    unit: 'seconds',
    query: `histogram_quantile(0.95, sum by ($by, le) (rate($metric{$on,${served}}[5m]))) / 1000`,
  },
  istio: {
    title: 'requests per second',
    metrics: /^(?:istio_requests_total)$/,
    of: 'service',
    kind: 'rate',
    unit: 'per_second',
    query: 'sum by ($by) (rate($metric{$on}[5m]))',
    worse: 'either',
  },
  istio_failing: {
    title: 'share of requests that fail',
    metrics: /^(?:istio_requests_total)$/,
    of: 'service',
    kind: 'error_ratio',
    unit: 'ratio',
    query:
      '(sum by ($by) ($failing) or 0 * sum by ($by) (rate($metric{$on}[5m]))) / (sum by ($by) (rate($metric{$on}[5m])) > 0)',
  },
  istio_duration: {
    title: '95th percentile duration',
    metrics: /^(?:istio_request_duration_milliseconds_bucket)$/,
    of: 'service',
    kind: 'latency',
    unit: 'seconds',
    query: 'histogram_quantile(0.95, sum by ($by, le) (rate($metric{$on}[5m]))) / 1000',
  },
  nginx_ingress: {
    title: 'requests per second',
    metrics: /^(?:nginx_ingress_controller_requests)$/,
    of: 'service',
    kind: 'rate',
    unit: 'per_second',
    query: 'sum by ($by) (rate($metric{$on}[5m]))',
    worse: 'either',
  },
  nginx_ingress_failing: {
    title: 'share of requests that fail',
    metrics: /^(?:nginx_ingress_controller_requests)$/,
    of: 'service',
    kind: 'error_ratio',
    unit: 'ratio',
    query:
      '(sum by ($by) ($failing) or 0 * sum by ($by) (rate($metric{$on}[5m]))) / (sum by ($by) (rate($metric{$on}[5m])) > 0)',
  },
  envoy: {
    title: 'requests per second',
    metrics: /^(?:envoy_cluster_upstream_rq(?:_total|_completed)?)$/,
    of: 'service',
    kind: 'rate',
    unit: 'per_second',
    query: 'sum by ($by) (rate($metric{$on}[5m]))',
    worse: 'either',
  },
  envoy_failing: {
    title: 'share of requests that fail',
    metrics: /^(?:envoy_cluster_upstream_rq_xx)$/,
    of: 'service',
    kind: 'error_ratio',
    unit: 'ratio',
    query:
      '(sum by ($by) ($failing) or 0 * sum by ($by) (rate($metric{$on}[5m]))) / (sum by ($by) (rate($metric{$on}[5m])) > 0)',
  },
  traefik: {
    title: 'requests per second',
    metrics: /^(?:traefik_service_requests_total)$/,
    of: 'service',
    kind: 'rate',
    unit: 'per_second',
    query: 'sum by ($by) (rate($metric{$on}[5m]))',
    worse: 'either',
  },
  haproxy: {
    title: 'responses per second',
    metrics: /^(?:haproxy_(?:backend|server)_http_responses_total)$/,
    of: 'service',
    kind: 'rate',
    unit: 'per_second',
    query: 'sum by ($by) (rate($metric{$on}[5m]))',
    worse: 'either',
  },
  haproxy_failing: {
    title: 'share of responses that fail',
    metrics: /^(?:haproxy_(?:backend|server)_http_responses_total)$/,
    of: 'service',
    kind: 'error_ratio',
    unit: 'ratio',
    query:
      '(sum by ($by) ($failing) or 0 * sum by ($by) (rate($metric{$on}[5m]))) / (sum by ($by) (rate($metric{$on}[5m])) > 0)',
  },
  error_counter: {
    title: 'failures per second',
    metrics: /^(?:\w*(?:errors?|exceptions?|failures?|failed)(?:_count)?_total)$/,
    of: 'service',
    kind: 'errors',
    unit: 'per_second',
    query: 'sum by ($by) (rate($metric{$on}[5m]))',
    except: /^(?:node_|go_|container_)/,
  },
  messages: {
    title: 'messages per second',
    metrics:
      /^(?:\w*(?:messages?|events?|jobs?|tasks?|orders?|payments?|transactions?)_(?:processed|consumed|published|handled|received|sent|completed)_total|messaging_(?:client_|process_|receive_|publish_)\w+_(?:messages|count)(?:_total)?)$/,
    of: 'service',
    kind: 'rate',
    unit: 'per_second',
    query: 'sum by ($by) (rate($metric{$on}[5m]))',
    worse: 'either',
  },
  message_duration: {
    title: '95th percentile duration',
    metrics:
      /^(?:messaging_\w*duration(?:_seconds)?_bucket|\w*(?:job|task|message|batch)\w*_(?:duration|processing)\w*seconds_bucket)$/,
    of: 'service',
    kind: 'latency',
    unit: 'seconds',
    query: 'histogram_quantile(0.95, sum by ($by, le) (rate($metric{$on}[5m])))',
  },
  client_duration: {
    title: '95th percentile duration of outgoing calls',
    metrics:
      /^(?:(?:http_client|rpc_client|db_client|grpc_client|\w*outbound|\w*upstream|\w*client_request)\w*(?:duration|seconds|latency|time)(?:_seconds)?_bucket)$/,
    of: 'service',
    kind: 'latency',
    unit: 'seconds',
    query: 'histogram_quantile(0.95, sum by ($by, le) (rate($metric{$on}[5m])))',
    client: true,
  },
  client_duration_ms: {
    title: '95th percentile duration of outgoing calls',
    metrics:
      /^(?:(?:http_client|rpc_client|db_client|\w*outbound|\w*upstream|\w*client_request)\w*(?:milliseconds|_ms)_bucket)$/,
    of: 'service',
    kind: 'latency',
    unit: 'seconds',
    query: 'histogram_quantile(0.95, sum by ($by, le) (rate($metric{$on}[5m]))) / 1000',
    client: true,
  },
  client_requests: {
    title: 'outgoing calls per second',
    metrics:
      /^(?:(?:http_client|rpc_client|grpc_client|\w*outbound|\w*upstream|\w*client)_(?:requests|calls|handled|request_duration_seconds_count|duration_seconds_count|operation_duration_seconds_count)(?:_total)?)$/,
    of: 'service',
    kind: 'rate',
    unit: 'per_second',
    query: 'sum by ($by) (rate($metric{$on}[5m]))',
    worse: 'either',
    client: true,
  },
  client_failing: {
    title: 'share of outgoing calls that fail',
    metrics:
      /^(?:(?:http_client|rpc_client|grpc_client|\w*outbound|\w*upstream|\w*client)_(?:requests|calls|handled|request_duration_seconds_count|duration_seconds_count|operation_duration_seconds_count)(?:_total)?)$/,
    of: 'service',
    kind: 'error_ratio',
    unit: 'ratio',
    query:
      '(sum by ($by) ($failing) or 0 * sum by ($by) (rate($metric{$on}[5m]))) / (sum by ($by) (rate($metric{$on}[5m])) > 0)',
    client: true,
  },
  service_graph: {
    title: 'calls per second',
    metrics: /^(?:traces_service_graph_request_total)$/,
    of: 'service',
    kind: 'rate',
    unit: 'per_second',
    query: 'sum by ($by) (rate($metric{$on}[5m]))',
    worse: 'either',
    client: true,
  },
  up: {
    title: 'share of targets that are down',
    metrics: /^(?:up)$/,
    of: 'any',
    kind: 'error_ratio',
    unit: 'ratio',
    query: '1 - avg by ($by) ($metric{$on})',
    outside: true,
  },
};
