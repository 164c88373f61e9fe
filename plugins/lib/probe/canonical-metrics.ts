/** Metrics collected on every host, under names that rules, snapshots and dashboards share. */
export const canonicalMetrics = [
  'node_cpu_usage_percent',
  'node_memory_used_percent',
  'node_filesystem_used_percent',
  'node_filesystem_avail_bytes',
  'node_load1',
  'node_load5',
  'node_load15',
  'node_network_receive_bytes_per_second',
  'node_network_transmit_bytes_per_second',
  'node_disk_io_utilization_percent',
  'node_swap_used_percent',
  'node_open_fds_percent',
  'node_uptime_seconds',
] as const;
