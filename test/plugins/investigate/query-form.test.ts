import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { IncidentMeasure } from 'svc/contracts/alert';
import type { SliKind, Unit } from 'svc/rca';

import { formOf } from '../../../plugins/investigate/fetch/query-form.ts';
import { kindOf, unitOf } from '../../../plugins/investigate/fetch/symptom.ts';

const failed = 'http_requests_total{code=~"5.."}';

/** Queries of rules as people write them, with the metric they name first. */
const asked: readonly (readonly [query: string, metric: string, kind: SliKind, unit: Unit])[] = [
  [
    `sum(rate(${failed}[5m])) / sum(rate(http_requests_total[5m]))`,
    'http_requests_total',
    'error_ratio',
    'ratio',
  ],
  [
    `100 * (sum by (job) (rate(${failed}[5m])) / sum by (job) (rate(http_requests_total[5m])))`,
    'http_requests_total',
    'error_ratio',
    'percent',
  ],
  [`sum by (service) (rate(${failed}[5m]))`, 'http_requests_total', 'errors', 'per_second'],
  [
    'sum(rate(grpc_server_handled_total{grpc_code!="OK"}[5m])) / sum(rate(grpc_server_handled_total[5m]))',
    'grpc_server_handled_total',
    'error_ratio',
    'ratio',
  ],
  [
    'sum(rate(rpc_server_duration_milliseconds_count{rpc_grpc_status_code="14"}[3m])) / sum(rate(rpc_server_duration_milliseconds_count[3m]))',
    'rpc_server_duration_milliseconds_count',
    'error_ratio',
    'ratio',
  ],
  [
    'histogram_quantile(0.99, sum by (le) (rate(http_server_request_duration_seconds_bucket[5m])))',
    'http_server_request_duration_seconds_bucket',
    'latency',
    'seconds',
  ],
  [
    'rate(http_request_duration_seconds_sum[5m]) / rate(http_request_duration_seconds_count[5m])',
    'http_request_duration_seconds_sum',
    'latency',
    'seconds',
  ],
  ['rpc_duration_seconds{quantile="0.99"}', 'rpc_duration_seconds', 'latency', 'seconds'],
  [
    'sum(rate(http_request_duration_seconds_count{status=~"5.."}[5m])) / sum(rate(http_request_duration_seconds_count[5m]))',
    'http_request_duration_seconds_count',
    'error_ratio',
    'ratio',
  ],
  ['sum(rate(http_requests_total[5m]))', 'http_requests_total', 'rate', 'per_second'],
  ['http_request_duration_seconds', 'http_request_duration_seconds', 'latency', 'seconds'],
  ['node_filesystem_avail_bytes', 'node_filesystem_avail_bytes', 'disk', 'bytes'],
  ['probe_success', 'probe_success', 'error_ratio', 'other'],
];

test('a symptom is what its query computes, whatever words its metric is named by', () => {
  for (const [query, metric, kind, unit] of asked) {
    const measure = { store: 'metrics', query, labels: {}, kind: 'metric_raw' } as IncidentMeasure;
    assert.deepEqual([kindOf(measure, metric), unitOf(query, metric)], [kind, unit], query);
  }
  assert.equal(
    formOf('histogram_quantile(0.9, rate(x_duration_milliseconds_bucket[5m]))').factor,
    0.001,
  );
});
