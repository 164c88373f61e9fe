import type { ShippedConvention } from './shipped-convention.ts';

/** Conventions of processes and their runtimes. */
export const runtimes: Readonly<Record<string, ShippedConvention>> = {
  process_cpu: {
    title: 'cores in use',
    metrics:
      /^(?:process_cpu_seconds_total|process_cpu_time_seconds_total|dotnet_process_cpu_time_seconds_total)$/,
    of: 'service',
    kind: 'cpu',
    unit: 'count',
    query: 'max by ($by) (rate($metric{$on}[5m]))',
  },
  process_memory: {
    title: 'memory in use',
    metrics:
      /^(?:process_resident_memory_bytes|process_memory_usage_bytes|process_runtime_\w+_mem(?:ory)?_\w*bytes|nodejs_heap_size_used_bytes|go_memstats_heap_inuse_bytes|dotnet_gc_last_collection_heap_size_bytes)$/,
    of: 'service',
    kind: 'memory',
    unit: 'bytes',
    query: 'max by ($by) ($metric{$on})',
  },
  descriptors: {
    title: 'file descriptors in use',
    metrics: /^(?:process_open_fds)$/,
    needs: ['process_max_fds'],
    of: 'service',
    kind: 'saturation',
    unit: 'ratio',
    query: 'max by ($by) ($metric{$on} / (process_max_fds{$on} > 0))',
  },
  jvm_heap: {
    title: 'heap in use',
    metrics: /^(?:jvm_memory_used_bytes|jvm_memory_bytes_used)$/,
    of: 'service',
    kind: 'memory',
    unit: 'bytes',
    query: 'max by ($by) (sum without (id, jvm_memory_pool_name) ($metric{$on,area=~"heap|"}))',
  },
  jvm_heap_full: {
    title: 'heap in use',
    metrics: /^(?:jvm_memory_(used|bytes_used)(?:_bytes)?)$/,
    needs: ['jvm_memory_max_bytes'],
    of: 'service',
    kind: 'saturation',
    unit: 'ratio',
    query: 'max by ($by) ($metric{$on,area="heap"} / (jvm_memory_max_bytes{$on,area="heap"} > 0))',
    name: 'jvm_heap_used_ratio',
  },
  gc_pause: {
    title: 'time spent in garbage collection',
    metrics:
      /^(?:(?:jvm_gc_(?:pause|collection|duration)_seconds|go_gc_duration_seconds|nodejs_gc_duration_seconds|jvm_gc_pause_seconds|dotnet_gc_pause_time_seconds_total)_sum|dotnet_gc_pause_time_seconds_total)$/,
    of: 'service',
    kind: 'cpu',
    unit: 'ratio',
    query: 'max by ($by) (rate($metric{$on}[5m]))',
    name: 'gc_pause_ratio',
  },
  threads: {
    title: 'threads',
    metrics:
      /^(?:jvm_threads_(?:live|current)(?:_threads)?|process_num_threads|process_threads|go_goroutines|jvm_thread_count)$/,
    of: 'service',
    kind: 'queue',
    unit: 'count',
    query: 'max by ($by) ($metric{$on})',
    // They pile up where something else is slow.
    weight: 0.5,
  },
  eventloop: {
    title: 'event loop lag',
    metrics:
      /^(?:nodejs_eventloop_lag(?:_p99|_mean|_p90)?_seconds|nodejs_eventloop_delay_(?:p99|mean)_seconds)$/,
    of: 'service',
    kind: 'latency',
    unit: 'seconds',
    query: 'max by ($by) ($metric{$on})',
    weight: 0.6,
  },
  pool: {
    title: 'pool connections in use',
    metrics: /^(?:(\w*(?:pool|connections)\w*)_(?:active|in_use|used|usage)(?:_connections)?)$/,
    needs: ['$1_max'],
    of: 'service',
    kind: 'saturation',
    unit: 'ratio',
    query: 'max by ($by) ($metric{$on} / ($1_max{$on} > 0))',
    client: true,
  },
  pool_waiting: {
    title: 'requests waiting for a connection',
    metrics:
      /^(?:\w*(?:pool|connections)\w*_(?:pending|waiting|pending_requests|wait_count)(?:_requests|_connections)?)$/,
    of: 'service',
    kind: 'queue',
    unit: 'count',
    query: 'sum by ($by) ($metric{$on})',
    client: true,
  },
  pool_timeouts: {
    title: 'timeouts waiting for a connection',
    metrics: /^(?:\w*(?:pool|connections)\w*_timeouts?(?:_total)?)$/,
    of: 'service',
    kind: 'errors',
    unit: 'per_second',
    query: 'sum by ($by) (rate($metric{$on}[5m]))',
    client: true,
  },
  limit_pairs: {
    title: 'usage relative to the limit',
    metrics: /^(?:(\w+)_(?:used|in_use|active|current|size|usage)(_bytes)?)$/,
    needs: ['$1_(?:max|limit|capacity)$2'],
    of: 'any',
    kind: 'saturation',
    unit: 'ratio',
    query: 'max by ($by) ($metric{$on} / ($need{$on} > 0))',
  },
  queue_gauge: {
    title: 'items waiting in the queue',
    metrics:
      /^(?:\w*(?:queue_(?:length|size|depth|messages)|backlog|pending_(?:jobs|tasks|messages)|in_flight|inflight|queued)(?:_\w+)?)$/,
    of: 'service',
    kind: 'queue',
    unit: 'count',
    query: 'sum by ($by) ($metric{$on})',
    except: /^(?:rabbitmq|kafka)/,
  },
  queue_age: {
    title: 'age of the oldest waiting item',
    metrics: /^(?:\w*(?:oldest|queue)_\w*age_seconds|\w*lag_seconds)$/,
    of: 'any',
    kind: 'queue',
    unit: 'seconds',
    query: 'max by ($by) ($metric{$on})',
  },
  restarted: {
    title: 'restart',
    metrics:
      /^(?:process_start_time_seconds|process_start_time|container_start_time_seconds|jvm_start_time_seconds)$/,
    of: 'service',
    kind: 'start',
    unit: 'seconds',
    query: 'max by ($by) ($metric{$on})',
  },
  version: {
    title: 'version',
    metrics: /^(?:\w*build_info|\w*version_info|app_info|kube_deployment_metadata_generation)$/,
    of: 'service',
    kind: 'version',
    unit: 'other',
    query: 'group by ($by, version, revision, commit) ($metric{$on})',
  },
};
