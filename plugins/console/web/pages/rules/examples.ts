/** Example conditions of each kind, to start from. */
export const examples: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> = {
  metric_raw: [{ expr: 'avg_over_time(node_cpu_usage_percent[5m]) > 90', for: '5m' }],
  metric_anomaly: [{ metric: 'node_load1', window: '1h', z_threshold: 3, for: '5m' }],
  metric_forecast: [
    { metric: 'node_filesystem_used_percent', window: '6h', forecast_for: '24h', above: 95 },
  ],
  metric_burn_rate: [
    {
      good: 'http_requests_total{code!~"5.."}',
      total: 'http_requests_total',
      slo: 0.99,
      long: '1h',
      short: '5m',
    },
  ],
  log_match: [{ expr: '{device_id=~".+"} |= "Out of memory"' }],
  log_volume: [
    { expr: 'sum by (device_id) (count_over_time({device_id=~".+"} |= "error" [5m])) > 100' },
  ],
  trace_latency: [{ service: 'shop', percentile: 99, above_ms: 500, window: '5m', for: '5m' }],
  trace_error_rate: [{ service: 'shop', above_percent: 5, window: '5m' }],
};
