import assert from 'node:assert/strict';
import { test } from 'node:test';

import { type ForeignWorld, type Measured, reportOn, type Written } from './foreign-world.ts';

const before = 60;
const services = ['gateway', 'orders', 'catalog', 'payments', 'users', 'mail'];
const hosts = ['h1', 'h2', 'h3'];

/** Growth of bad requests and of the duration, by service, while it is broken. */
type Harm = Readonly<Record<string, { readonly failing?: number; readonly slower?: number }>>;

const series = (
  __name__: string,
  labels: Record<string, string>,
  course: Measured['course'],
  counter = false,
): Measured => ({ labels: { __name__, ...labels }, course, counter });

/** Metrics of a web service, as Prometheus clients call them. */
function serviceSeries(name: string, host: string, harm: Harm): readonly Measured[] {
  const { failing = 0, slower = 0 } = harm[name] ?? {};
  const labels = { service: name, instance: `${host}:8080`, job: 'apps' };
  const broken = (at: number): boolean => at >= before;
  const requests = 600;
  const bounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, Infinity];
  const seconds = (at: number, noise: () => number): number =>
    0.08 + 0.01 * noise() + (broken(at) ? slower : 0);
  return [
    series(
      'http_requests_total',
      { ...labels, code: '200' },
      (at, noise) => requests * (1 - (broken(at) ? failing : 0)) + 20 * noise(),
      true,
    ),
    series(
      'http_requests_total',
      { ...labels, code: '500' },
      (at, noise) => (broken(at) && failing > 0 ? requests * failing : 0.6) + 0.3 * noise(),
      true,
    ),
    ...bounds.map((bound) =>
      series(
        'http_request_duration_seconds_bucket',
        { ...labels, le: bound === Infinity ? '+Inf' : String(bound) },
        (at, noise) => requests * Math.min(1, bound / (2 * seconds(at, noise))),
        true,
      ),
    ),
    series('process_resident_memory_bytes', labels, (_at, noise) => 2e8 + 1e6 * noise()),
    series('process_cpu_seconds_total', labels, (_at, noise) => 12 + noise(), true),
  ];
}

const hostSeries = (host: string): readonly Measured[] => {
  const labels = { instance: `${host}:9100`, job: 'node' };
  return [
    series('node_uname_info', { ...labels, nodename: host }, () => 1),
    series(
      'node_cpu_seconds_total',
      { ...labels, mode: 'idle', cpu: '0' },
      (_at, noise) => 48 + noise(),
      true,
    ),
    series('node_memory_MemAvailable_bytes', labels, (_at, noise) => 4e9 + 1e7 * noise()),
    series('node_memory_MemTotal_bytes', labels, () => 8e9),
    series('node_load1', labels, (_at, noise) => 1 + 0.2 * noise()),
  ];
};

const databaseSeries = (name: string, used: Measured['course']): readonly Measured[] => {
  const labels = { instance: `${name}:9187`, job: 'postgres-exporter' };
  return [
    series('pg_up', labels, () => 1),
    series('pg_settings_max_connections', labels, () => 100),
    series('pg_stat_activity_count', { ...labels, state: 'active' }, used),
    series('pg_stat_activity_count', { ...labels, state: 'idle in transaction' }, (at) =>
      at >= before ? 40 : 1,
    ),
  ];
};

const world = (harm: Harm, more: Partial<ForeignWorld> = {}): ForeignWorld => ({
  series: [
    ...services.flatMap((name, at) => serviceSeries(name, hosts[at % hosts.length]!, harm)),
    ...hosts.flatMap(hostSeries),
    ...databaseSeries('orders-db', (at, noise) => (at >= before ? 97 : 20) + noise()),
  ],
  nodes: [
    ...services.map((name) => [name, 'service'] as const),
    ...hosts.map((name) => [name, 'host'] as const),
    ['orders-db', 'database'],
  ],
  relations: [
    ['gateway', 'orders', 'depends_on'],
    ['gateway', 'catalog', 'depends_on'],
    ['gateway', 'users', 'depends_on'],
    ['orders', 'payments', 'depends_on'],
    ['orders', 'orders-db', 'depends_on'],
  ],
  rule: {
    rule_key: 'gateway_errors',
    scope_type: 'global',
    conditions: [
      {
        expr: 'sum by (service) (rate(http_requests_total{code=~"5..",service="gateway"}[5m])) / sum by (service) (rate(http_requests_total{service="gateway"}[5m])) > 0.05',
      },
    ],
  },
  before,
  after: 6,
  ...more,
});

test('of a world measured by the names that others use, the database is named whose connections are used up', async (t) => {
  const report = await reportOn(
    t,
    world({ gateway: { failing: 0.2, slower: 0.8 }, orders: { failing: 0.3, slower: 0.9 } }),
  );
  assert.equal(report.root_cause?.node.name, 'orders-db', report.markdown);
  assert.ok(['root_cause', 'suspected'].includes(report.verdict!));
  const ruled = report.ruled_out.map(({ node_name: name }) => name);
  assert.ok(ruled.includes('orders') && ruled.includes('catalog'), ruled.join());
});

test('where it is not known who calls whom, what has trouble of its own comes before what answers badly', async (t) => {
  const report = await reportOn(
    t,
    world(
      { gateway: { failing: 0.2, slower: 0.8 }, orders: { failing: 0.3, slower: 0.9 } },
      { nodes: [], relations: [] },
    ),
  );
  assert.equal(report.hypotheses[0]?.node.name, 'orders-db', report.markdown);
  assert.notEqual(report.verdict, 'no_anomaly');
});

/** Lines as services write them: each minute a few of its work, and so many of its trouble while it is broken. */
const writes = (name: string, trouble: readonly string[] = []): Written => ({
  labels: { app: name },
  lines: (at) => [
    `level=info msg="request ${at * 7} completed in ${at % 40} ms"`,
    `level=info msg="request ${at * 11} completed in ${at % 30} ms"`,
    ...(at < before ? [] : trouble),
  ],
});

const five = (line: string): readonly string[] => Array.from({ length: 5 }, () => line);

test('with logs alone, an incident of a log rule leads along the names in its lines to the service that cannot be reached', async (t) => {
  const report = await reportOn(t, {
    series: [],
    written: [
      writes('gateway', five('level=error msg="upstream orders returned 500"')),
      writes('orders', five('level=error msg="dial tcp ledger:8080: connect: connection refused"')),
      { ...writes('ledger'), lines: (at) => (at < before ? writes('ledger').lines(at) : []) },
      writes('mail'),
      writes('users'),
    ],
    rule: {
      rule_key: 'gateway_lines',
      kind: 'log_volume',
      scope_type: 'global',
      conditions: [{ expr: 'sum(count_over_time({app="gateway"} |~ "(?i)error" [5m])) > 10' }],
    },
    before,
    after: 6,
  });
  assert.equal(report.hypotheses[0]?.node.name, 'ledger', report.markdown);
  assert.ok(['root_cause', 'suspected'].includes(report.verdict!), report.markdown);
  assert.deepEqual(
    report.propagation.map(({ from, to }) => [from, to]),
    [
      ['service:ledger', 'service:orders'],
      ['service:orders', 'service:gateway'],
    ],
  );
});
