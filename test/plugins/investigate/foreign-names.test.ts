import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { LogTemplate } from 'svc/rca';

import { shippedConventions } from '../../../plugins/investigate/conventions/known-conventions.ts';
import { bindingsOf } from '../../../plugins/investigate/discovery/bindings.ts';
import {
  askingsOf,
  inTurn,
  queryOf,
} from '../../../plugins/investigate/discovery/discovered-signals.ts';
import { withoutExporters } from '../../../plugins/investigate/discovery/exporters.ts';
import { processGroups } from '../../../plugins/investigate/discovery/process-groups.ts';
import { addMeasured, neededByAll } from '../../../plugins/investigate/discovery/measured-graph.ts';
import { callsIn, withPeers } from '../../../plugins/investigate/discovery/named-peers.ts';
import { startsOf, versionsOf } from '../../../plugins/investigate/discovery/measured-changes.ts';
import type { Gatherer } from '../../../plugins/investigate/fetch/gatherer.ts';
import { Graph } from '../../../plugins/investigate/fetch/scope.ts';

const row = (__name__: string, labels: Record<string, string>): Record<string, string> => ({
  __name__,
  ...labels,
});

const pod = { namespace: 'shop', pod: 'mail-7d9f8b6c5d-x2x9z', container: 'mail' };
const postgres = { instance: 'orders-db:9187', job: 'postgres-exporter' };
const node = { instance: 'h1:9100', job: 'node' };
const orders = { service: 'orders', instance: 'h1:8080' };
const cart = { job: 'shop/cart', instance: '0b1c' };

/** What a store holds that Prometheus, OpenTelemetry and the usual exporters write to. */
const rows = [
  row('http_requests_total', orders),
  row('http_request_duration_seconds_bucket', orders),
  row('hikaricp_connections_active', { ...orders, pool: 'orders-db' }),
  row('hikaricp_connections_max', { ...orders, pool: 'orders-db' }),
  row('build_info', orders),
  row('basket_size', orders),
  row('http_server_duration_milliseconds_bucket', cart),
  row('http_client_request_duration_seconds_bucket', { ...cart, server_address: 'orders' }),
  row('rpc_client_duration_milliseconds_bucket', { ...cart, server_address: 'tax.example.com' }),
  row('target_info', { ...cart, host_name: 'h2' }),
  row('node_uname_info', { instance: '10.0.0.3:9100', nodename: 'h3' }),
  row('node_load1', { instance: '10.0.0.3:9100' }),
  row('node_cpu_seconds_total', node),
  row('node_memory_MemAvailable_bytes', node),
  row('node_memory_MemTotal_bytes', node),
  row('pg_stat_activity_count', postgres),
  row('pg_settings_max_connections', postgres),
  row('redis_memory_used_bytes', { instance: 'cache-1:9121', job: 'redis' }),
  row('jvm_gc_pause_seconds_sum', { app: 'billing', instance: '10.0.0.7:8081' }),
  row('kafka_consumergroup_lag', { consumergroup: 'billing', instance: 'kafka:9308' }),
  row('container_memory_working_set_bytes', { ...pod, instance: 'h2:10250' }),
  row('container_spec_memory_limit_bytes', { ...pod, instance: 'h2:10250' }),
  row('kube_pod_container_status_restarts_total', { ...pod, instance: 'ksm:8080' }),
  row('up', node),
];

function discovered() {
  const graph = new Graph();
  graph.addNode({ id: 'service:orders-db', kind: 'database', name: 'orders-db' });
  const { bindings, unknown } = bindingsOf({ rows, evidence: 'E1' }, shippedConventions());
  const entities = addMeasured(graph, { rows, evidence: 'E1' }, bindings);
  return { graph, bindings, unknown, entities };
}

test('things are known by whatever names them, and found once', () => {
  const { graph } = discovered();
  assert.deepEqual(graph.nodes.map(({ id }) => id).toSorted(), [
    'host:h1',
    'host:h2',
    'host:h3',
    'remote:tax.example.com',
    'service:billing',
    'service:cache-1',
    'service:cart',
    'service:mail',
    'service:orders',
    'service:orders-db',
  ]);
  const { edges } = graph.near(['service:cart'], 60);
  assert.deepEqual(edges.map(({ from, to, relation }) => `${from} ${relation} ${to}`).toSorted(), [
    'service:cart calls remote:tax.example.com',
    'service:cart calls service:orders',
    'service:cart runs_on host:h2',
    'service:mail runs_on host:h2',
    'service:orders calls service:orders-db',
    'service:orders runs_on host:h1',
  ]);
});

test('each convention that fits asks once for all things that one label names', () => {
  const { graph, bindings, unknown, entities } = discovered();
  const places = new Map(graph.nodes.map(({ id }, at) => [id, at]));
  const asked = new Map(
    bindings.flatMap((binding) =>
      askingsOf(binding, entities, places).map((asking) => [
        `${binding.name}: ${[...new Set(asking.nodes.values())].join()}`,
        queryOf(asking),
      ]),
    ),
  );
  const wanted = {
    'http_requests per second: service:orders':
      'sum by (service) (rate(http_requests_total{service=~"orders"}[5m]))',
    'http_server_duration_milliseconds p95: service:cart':
      'histogram_quantile(0.95, sum by (job, le) (rate(http_server_duration_milliseconds_bucket{job=~"shop/cart"}[5m]))) / 1000',
    'http_client_request_duration_seconds p95: service:orders':
      'histogram_quantile(0.95, sum by (job, server_address, le) (rate(http_client_request_duration_seconds_bucket{job=~"shop/cart"}[5m])))',
    'pg_connections_used_ratio: service:orders-db':
      'sum by (instance) (pg_stat_activity_count{instance=~"orders-db:9187"}) / max by (instance) (pg_settings_max_connections{instance=~"orders-db:9187"})',
    'container_memory_of_limit: service:mail':
      'max by (pod) (container_memory_working_set_bytes{pod=~"mail-7d9f8b6c5d-x2x9z"} / (container_spec_memory_limit_bytes{pod=~"mail-7d9f8b6c5d-x2x9z"} > 0))',
    'kafka_consumergroup_lag: service:billing':
      'sum by (consumergroup) (kafka_consumergroup_lag{consumergroup=~"billing"})',
    'up down: host:h1': '1 - avg by (instance) (up{instance=~"h1:9100"})',
  };
  Object.entries(wanted).forEach(([name, query]) => assert.equal(asked.get(name), query, name));
  assert.match(
    asked.get('http_requests failing: service:orders')!,
    /rate\(http_requests_total\{service=~"orders",code=~"5\.\./,
  );
  assert.ok(unknown.has('basket_size'), 'an unknown metric takes part');
});

test('a start time that moves is a restart, and a version in place of another a deploy', () => {
  const minute = 60_000;
  const from = 1_700_000_000_000;
  const grid = (series: unknown) => ({ id: 'E1', value: { from, step_ms: minute, series } });
  const began = from / 1_000 - 9_000;
  const again = from / 1_000 + 90;
  const window = { from, to: from + 3 * minute };
  const nodeOf = (): string => 'service:orders';
  const starts = startsOf(
    grid([{ labels: {}, values: [began, null, again, again] }]),
    nodeOf,
    window,
  );
  assert.deepEqual(
    starts.map(({ kind, at }) => [kind, at]),
    [['restart', again * 1_000]],
  );
  const versions = versionsOf(
    grid([
      { labels: { version: '1.4' }, values: [1, 1, null, null] },
      { labels: { version: '1.5' }, values: [null, null, 1, 1] },
    ]),
    nodeOf,
  );
  assert.deepEqual(
    versions.map(({ kind, at, title }) => [kind, at, title]),
    [['deploy', from + 2 * minute, 'version 1.5 in place of 1.4']],
  );
});

test('hosts that differ in a number are different hosts', () => {
  const hosts = ['worker-01', 'worker-02', 'worker-10'].map((name) =>
    row('node_load1', { node: name, instance: `10.0.0.${name.slice(-2)}:9100` }),
  );
  const graph = new Graph();
  const { bindings } = bindingsOf({ rows: hosts, evidence: 'E1' }, shippedConventions());
  addMeasured(graph, { rows: hosts, evidence: 'E1' }, bindings);
  assert.deepEqual(graph.nodes.map(({ id }) => id).toSorted(), [
    'host:worker-01',
    'host:worker-02',
    'host:worker-10',
  ]);
});

test('everything depends on what resolves names, and a queue on who empties it', () => {
  const dns = row('coredns_dns_responses_total', {
    instance: '10.1.2.3:9153',
    pod: 'dns-1-c8frz9gsw-7r9hs',
    job: 'kubernetes-pods',
  });
  const lag = row('kafka_consumergroup_lag', {
    consumergroup: 'billing',
    topic: 'invoices',
    instance: 'kafka:9308',
  });
  const all = [...rows, dns, lag];
  const graph = new Graph();
  graph.addNode({ id: 'service:invoices', kind: 'queue', name: 'invoices' });
  const { bindings } = bindingsOf({ rows: all, evidence: 'E1' }, shippedConventions());
  const entities = addMeasured(graph, { rows: all, evidence: 'E1' }, bindings);
  const near = graph.near(['service:invoices', 'service:cart'], 60);
  assert.ok(
    near.edges.some(
      ({ from, to, relation }) =>
        relation === 'drained_by' && from === 'service:invoices' && to === 'service:billing',
    ),
  );
  const { nodes, edges } = neededByAll(near.nodes, entities, bindings);
  assert.deepEqual(
    nodes.map(({ name }) => name),
    ['dns-1'],
  );
  const depending = edges.map(({ from }) => from);
  assert.ok(depending.includes('service:cart') && !depending.some((id) => id.startsWith('host:')));
});

const line = (node: string, template: string, severity: LogTemplate['severity']): LogTemplate => ({
  id: `${node} ${template}`,
  evidence: 'E2',
  node,
  template,
  severity,
  from: 0,
  bucket_ms: 60_000,
  counts: [3],
  samples: [],
});

test('lines of trouble name those who were called: by an address, a word before them, and never by a mere word', () => {
  const { graph, entities } = discovered();
  const { nodes, edges } = graph.near(
    graph.nodes.map(({ id }) => id),
    60,
  );
  const peersOf = (...logs: readonly LogTemplate[]): readonly (readonly string[] | undefined)[] =>
    withPeers(logs, nodes, entities).map(({ peers }) => peers);
  assert.deepEqual(
    peersOf(
      line('service:cart', 'dial tcp orders:8080: connect: connection refused', 'error'),
      line('service:cart', 'slow call to orders: took <_> ms', 'warn'),
      line('service:cart', 'GET https://billing/v1 failed', 'error'),
      line('service:cart', 'request to orders took <_> ms', 'info'),
      line('service:cart', 'cannot count mail', 'error'),
      line('service:orders', 'upstream orders returned 500', 'error'),
      // A wrong name of one is its own fault.
      line('service:cart', 'dial tcp: lookup orders on 10.0.0.2:53: no such host', 'error'),
    ),
    [
      ['service:orders'],
      ['service:orders'],
      ['service:billing'],
      undefined,
      undefined,
      undefined,
      undefined,
    ],
  );
  const logs = withPeers(
    [line('service:mail', 'upstream billing returned 502', 'error')],
    nodes,
    entities,
  );
  assert.deepEqual(
    callsIn(logs, edges).map(({ from, to, origin }) => [from, to, origin]),
    [['service:mail', 'service:billing', 'log']],
  );
});

test('what an exporter says of itself is not said of what it measures', () => {
  const exporter = { job: 'mysql', instance: '10.0.0.5:9104' };
  const own = { job: 'shop', instance: '10.0.0.5:8080' };
  const kept = withoutExporters({
    rows: [
      row('mysqld_exporter_build_info', exporter),
      row('process_cpu_seconds_total', exporter),
      row('go_goroutines', exporter),
      row('up', exporter),
      row('mysql_up', exporter),
      row('process_cpu_seconds_total', own),
      row('up', own),
    ],
  }).rows;
  assert.deepEqual(kept, [
    row('mysql_up', exporter),
    row('process_cpu_seconds_total', own),
    row('up', own),
  ]);
});

test('a thing of which much is measured leaves questions for the others', () => {
  const all = [
    row('mysql_global_status_threads_running', { service: 'stock-db' }),
    row('mysql_global_status_threads_running', { service: 'order-db' }),
    row('mysql_global_status_slow_queries', { service: 'stock-db' }),
    row('mysql_global_status_innodb_row_lock_waits', { service: 'stock-db' }),
    row('http_requests_total', { service: 'shop' }),
    row('redis_up', { service: 'cache' }),
  ];
  const { bindings } = bindingsOf({ rows: all }, shippedConventions());
  const entities = addMeasured(new Graph(), { rows: all }, bindings);
  const places = new Map(
    ['stock-db', 'order-db', 'shop', 'cache'].map((name, at) => [`service:${name}`, at]),
  );
  const askings = bindings.flatMap((binding) => askingsOf(binding, entities, places));
  const chosen = inTurn(askings, 4);
  assert.equal(chosen.length, 4);
  assert.deepEqual(
    new Set(chosen.flatMap(({ nodes }) => [...nodes.values()])),
    new Set(places.keys()),
  );
  assert.deepEqual(new Set(inTurn(askings, 99)), new Set(askings));
});

test('groups of processes that process_exporter measures stand for the process table of a host without an agent', async () => {
  const labels = { job: 'process', instance: '10.0.0.3:9256' };
  const all = [
    ...rows,
    row('namedprocess_namegroup_cpu_seconds_total', labels),
    row('namedprocess_namegroup_memory_bytes', labels),
  ];
  const { bindings, unknown } = bindingsOf({ rows: all }, shippedConventions());
  const graph = new Graph();
  const entities = addMeasured(graph, { rows: all }, bindings);
  const asked: string[] = [];
  const gatherer = {
    ask: async ({ query }: { readonly query: string }) => {
      asked.push(query);
      const values = query.includes('cpu') ? [1, 99] : query.includes('memory') ? [5, 6] : [0, 7];
      const series = [{ labels: { ...labels, groupname: 'yes\u202E' }, values }];
      return { id: `E${asked.length}`, value: { from: 0, step_ms: 30_000, series } };
    },
  } as unknown as Gatherer;
  const window = { from: 0, to: 60_000 };
  const found = await processGroups(
    gatherer,
    { bindings, unknown, entities, nodes: graph.nodes, window },
    60_000,
  );
  assert.deepEqual(found, [
    {
      evidence: 'E1',
      node: 'host:h3',
      pid: null,
      name: 'yes?',
      user: null,
      started_at: null,
      uses: [
        [0, 1, 5, 0],
        [30_000, 99, 6, 7],
      ],
    },
  ]);
  assert.ok(
    asked.every((query) => query.includes('instance=~"10\\\\.0\\\\.0\\\\.3:9256"')),
    asked[0],
  );
});
