import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';

import type { SampleRow } from 'svc/contracts/metricsdb';

import { BuiltInRules } from '../../../plugins/alert/authoring/built-in-rules.ts';
import { rows, rulesHouse, StoppedClock } from './rules-house.ts';

const minute = 60_000;
/** Span of stored history. */
const backMs = 240 * minute;

type Of = (agoMs: number) => number | undefined;
interface World {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Series of a device, pipeline or target that the rule is about; below, of one that is well. */
  readonly bad: Of;
  readonly good: Of;
}

const always =
  (value: number): Of =>
  () =>
    value;
const perMinute =
  (count: number): Of =>
  (ago) =>
    ((backMs - ago) / minute) * count;

const noon = Date.UTC(2026, 10, 20, 12);
const expiresIn = (days: number): Of => always(noon / 1_000 + days * 86_400);

/** Worlds of each built-in rule. */
const worlds: Readonly<Record<string, readonly World[]>> = {
  cpu_high: [
    {
      name: 'node_cpu_usage_percent',
      bad: always(97),
      good: (ago) => (ago === 20 * minute ? 100 : 85),
    },
  ],
  memory_high: [{ name: 'node_memory_used_percent', bad: always(95), good: always(80) }],
  disk_high: [
    {
      name: 'node_filesystem_used_percent',
      labels: { mountpoint: '/var' },
      bad: always(93),
      good: always(89),
    },
  ],
  disk_forecast: [
    {
      name: 'node_filesystem_used_percent',
      labels: { mountpoint: '/filling' },
      bad: (ago) => 80 - (2 * ago) / (60 * minute),
      good: (ago) => 33 - (4 * ago) / (60 * minute),
    },
    {
      name: 'node_filesystem_used_percent',
      labels: { mountpoint: '/new' },
      bad: always(70),
      good: (ago) => (ago < 34 * minute ? 80 - (5 * ago) / (60 * minute) : undefined),
    },
  ],
  inodes_high: [
    {
      name: 'node_filesystem_files',
      labels: { mountpoint: '/var' },
      bad: always(1_000),
      good: always(1_000),
    },
    {
      name: 'node_filesystem_files_free',
      labels: { mountpoint: '/var' },
      bad: always(40),
      good: always(200),
    },
    // File systems that have no inodes of their own say 0.
    {
      name: 'node_filesystem_files',
      labels: { mountpoint: '/boot' },
      bad: always(0),
      good: always(0),
    },
    {
      name: 'node_filesystem_files_free',
      labels: { mountpoint: '/boot' },
      bad: always(0),
      good: always(0),
    },
  ],
  filesystem_readonly: [
    {
      name: 'node_filesystem_readonly',
      labels: { device: '/dev/sda1', fstype: 'ext4', mountpoint: '/' },
      bad: (ago) => (ago < 35 * minute ? 1 : 0),
      good: always(0),
    },
    // A part of it that is handed out read-only says nothing of the whole.
    {
      name: 'node_filesystem_readonly',
      labels: { device: '/dev/sda1', fstype: 'ext4', mountpoint: '/srv/export' },
      bad: always(1),
      good: always(1),
    },
    {
      name: 'node_filesystem_readonly',
      labels: { device: '/dev/sr0', fstype: 'udf', mountpoint: '/media' },
      bad: always(1),
      good: always(1),
    },
  ],
  load_per_cpu_high: [
    { name: 'node_load5', bad: always(9), good: always(3) },
    ...['0', '1'].map((cpu) => ({
      name: 'node_cpu_seconds_total',
      labels: { cpu, mode: 'idle' },
      bad: perMinute(1),
      good: perMinute(50),
    })),
  ],
  swap_high: [{ name: 'node_swap_used_percent', bad: always(85), good: always(10) }],
  // Of a machine whose kernel has no limit of its own (2^63) only a process can run out of them.
  open_fds_high: [
    { name: 'node_open_fds_percent', bad: always(3.6e-14), good: always(3.6e-14) },
    {
      name: 'namedprocess_namegroup_worst_fd_ratio',
      labels: { groupname: 'nginx' },
      bad: always(0.85),
      good: always(0.7),
    },
  ],
  device_offline: [
    {
      name: 'svc_edge_online',
      labels: { edge_id: '1' },
      bad: (ago) => (ago < 15 * minute ? 0 : 1),
      good: always(1),
    },
    // A second edge watches them: one that is up is enough.
    { name: 'svc_edge_online', labels: { edge_id: '2' }, bad: always(0), good: always(0) },
  ],
  oom_kill: [
    { name: 'node_vmstat_oom_kill', bad: (ago) => (ago < 10 * minute ? 3 : 2), good: always(2) },
  ],
  memory_pressure: [
    { name: 'node_pressure_memory_stalled_seconds_total', bad: perMinute(15), good: perMinute(3) },
  ],
  swap_thrashing: [
    { name: 'node_vmstat_pswpin', bad: perMinute(60_000), good: perMinute(60_000) },
    // What is only swapped out is not needed.
    { name: 'node_vmstat_pswpout', bad: perMinute(60_000), good: perMinute(600) },
  ],
  cgroup_memory_high: [
    { name: 'node_cgroup_memory_usage_bytes', bad: always(97), good: always(90) },
    { name: 'node_cgroup_memory_limit_bytes', bad: always(100), good: always(100) },
  ],
  cpu_steal: ['0', '1'].map((cpu) => ({
    name: 'node_cpu_seconds_total',
    labels: { cpu, mode: 'steal' },
    bad: perMinute(12),
    good: perMinute(3),
  })),
  io_pressure: [
    { name: 'node_pressure_io_stalled_seconds_total', bad: perMinute(30), good: perMinute(20) },
  ],
  processes_blocked: [
    {
      name: 'node_procs_blocked',
      bad: always(14),
      good: (ago) => ((ago / minute) % 20 < 2 ? 40 : 1),
    },
  ],
  disk_saturated: [
    {
      name: 'node_disk_io_utilization_percent',
      labels: { device: 'sda' },
      bad: always(99),
      good: always(90),
    },
  ],
  disk_slow: [
    {
      name: 'node_disk_read_time_seconds_total',
      labels: { device: 'sda' },
      bad: perMinute(600),
      good: perMinute(60),
    },
    {
      name: 'node_disk_write_time_seconds_total',
      labels: { device: 'sda' },
      bad: perMinute(0),
      good: perMinute(0),
    },
    {
      name: 'node_disk_reads_completed_total',
      labels: { device: 'sda' },
      bad: perMinute(1_200),
      good: perMinute(1_200),
    },
    {
      name: 'node_disk_writes_completed_total',
      labels: { device: 'sda' },
      bad: perMinute(0),
      good: perMinute(0),
    },
  ],
  filesystem_error: [
    {
      name: 'node_filesystem_device_error',
      labels: { mountpoint: '/mnt', fstype: 'nfs4' },
      bad: always(1),
      good: always(0),
    },
  ],
  zombies: ['nginx', 'php'].map((groupname) => ({
    name: 'namedprocess_namegroup_states',
    labels: { groupname, state: 'Zombie' },
    bad: always(40),
    good: always(20),
  })),
  restart_loop: [
    {
      name: 'namedprocess_namegroup_oldest_start_time_seconds',
      labels: { groupname: 'worker' },
      bad: (ago) => Math.floor(-ago / (2 * minute)),
      good: (ago) => Math.floor(-ago / (20 * minute)),
    },
    {
      name: 'namedprocess_namegroup_num_procs',
      labels: { groupname: 'worker' },
      bad: always(1),
      good: always(1),
    },
    // A shell in a loop is no program that fails.
    {
      name: 'namedprocess_namegroup_oldest_start_time_seconds',
      labels: { groupname: 'sleep' },
      bad: (ago) => -ago,
      good: (ago) => -ago,
    },
    {
      name: 'namedprocess_namegroup_num_procs',
      labels: { groupname: 'sleep' },
      bad: always(1),
      good: always(1),
    },
  ],
  reboot_loop: [
    {
      name: 'node_uptime_seconds',
      labels: { about: 'reboots' },
      bad: (ago) => ((backMs - ago) % (15 * minute)) / 1_000,
      good: (ago) => ((backMs - ago) % (100 * minute)) / 1_000,
    },
  ],
  clock_stepped: [
    {
      name: 'node_uptime_seconds',
      labels: { about: 'clock' },
      bad: (ago) => 1e6 - ago / 1_000,
      good: (ago) => 1e6 - ago / 1_000,
    },
    {
      name: 'node_time_seconds',
      labels: { about: 'clock' },
      bad: (ago) => 2e9 - ago / 1_000 + (ago < 20 * minute ? 90 : 0),
      good: (ago) => 2e9 - ago / 1_000 + (ago < 20 * minute ? 2 : 0),
    },
  ],
  collector_failing: [
    {
      name: 'node_scrape_collector_success',
      labels: { collector: 'netdev' },
      bad: always(0),
      good: always(1),
    },
  ],
  network_errors: [
    ...['receive', 'transmit'].map((way) => ({
      name: `node_network_${way}_packets_total`,
      labels: { device: 'eth0' },
      bad: perMinute(6_000),
      good: perMinute(6_000),
    })),
    ...['receive', 'transmit'].map((way) => ({
      name: `node_network_${way}_errs_total`,
      labels: { device: 'eth0' },
      bad: perMinute(120),
      good: perMinute(6),
    })),
  ],
  network_drops: [
    ...['receive', 'transmit'].map((way) => ({
      name: `node_network_${way}_packets_total`,
      labels: { device: 'eth1' },
      bad: perMinute(6_000),
      good: perMinute(6_000),
    })),
    ...['receive', 'transmit'].map((way) => ({
      name: `node_network_${way}_drop_total`,
      labels: { device: 'eth1' },
      bad: perMinute(600),
      good: perMinute(60),
    })),
  ],
  network_down: [
    {
      name: 'node_network_up',
      labels: { device: 'eth0' },
      bad: (ago) => (ago < 30 * minute ? 0 : 1),
      good: always(1),
    },
    // A port in which there was never a cable.
    { name: 'node_network_up', labels: { device: 'eth1' }, bad: always(0), good: always(0) },
    {
      name: 'node_network_up',
      labels: { device: 'docker0' },
      bad: (ago) => (ago < 30 * minute ? 0 : 1),
      good: always(1),
    },
  ],
  network_flapping: [
    {
      name: 'node_network_carrier_changes_total',
      labels: { device: 'eth0' },
      bad: (ago) => Math.floor((backMs - ago) / minute),
      good: (ago) => (ago < 20 * minute ? 4 : 2),
    },
  ],
  network_saturated: [
    {
      name: 'node_network_receive_bytes_total',
      labels: { device: 'eth2' },
      bad: perMinute(120_000_000 * 60),
      good: perMinute(60_000_000 * 60),
    },
    {
      name: 'node_network_transmit_bytes_total',
      labels: { device: 'eth2' },
      bad: perMinute(1_000),
      good: perMinute(60_000_000 * 60),
    },
    {
      name: 'node_network_speed_bytes',
      labels: { device: 'eth2' },
      bad: always(125_000_000),
      good: always(125_000_000),
    },
  ],
  conntrack_high: [
    { name: 'node_nf_conntrack_entries', bad: always(900), good: always(500) },
    { name: 'node_nf_conntrack_entries_limit', bad: always(1_000), good: always(1_000) },
  ],
  listen_overflows: [
    { name: 'node_netstat_TcpExt_ListenOverflows', bad: perMinute(6), good: perMinute(0.5) },
  ],
  retransmits_high: [
    { name: 'node_netstat_Tcp_RetransSegs', bad: perMinute(1_000), good: perMinute(60) },
    { name: 'node_netstat_Tcp_OutSegs', bad: perMinute(12_000), good: perMinute(12_000) },
  ],
  ingest_failing: [
    {
      name: 'svc_ingest_requests_total',
      labels: { outcome: 'accepted' },
      bad: perMinute(60),
      good: perMinute(60),
    },
    {
      name: 'svc_ingest_requests_total',
      labels: { outcome: 'unavailable' },
      bad: perMinute(10),
      good: perMinute(0),
    },
  ],
  store_damaged: [
    { name: 'svc_logs_damaged', labels: { job: 'svc' }, bad: always(2), good: always(0) },
  ],
  series_limit_near: [
    {
      name: 'svc_metricsdb_series_limit_ratio',
      labels: { limit: 'sender', metric: 'm' },
      bad: always(0.9),
      good: always(0.7),
    },
  ],
  stream_limit_near: [
    {
      name: 'svc_logs_stream_limit_ratio',
      labels: { limit: 'sender' },
      bad: always(0.9),
      good: always(0.7),
    },
  ],
  edge_clock_skew: [
    {
      name: 'svc_edge_clock_skew_seconds',
      labels: { edge_id: '1' },
      bad: always(90),
      good: always(1),
    },
  ],
  scrape_down: [{ name: 'up', labels: { job: 'node' }, bad: always(0), good: always(1) }],
  check_down: [{ name: 'svc_check_up', bad: always(0), good: always(1) }],
  check_stale: [{ name: 'svc_check_stale', bad: always(1), good: always(0) }],
  check_slow: [
    {
      name: 'probe_duration_seconds',
      labels: { job: 'checks' },
      bad: (ago) => (ago < 30 * minute ? 2 : 0.2),
      good: always(2),
    },
  ],
  check_flapping: [
    {
      name: 'svc_check_up',
      bad: (ago) => 1 + (Math.floor(ago / minute) % 2),
      // As often, but each time because of something that it depends on.
      good: (ago) => 1 + (Math.floor(ago / minute) % 2),
    },
    {
      name: 'svc_check_muted',
      bad: (ago) => (ago > 30 * minute && ago < 31 * minute ? 1 : undefined),
      good: (ago) => (Math.floor(ago / minute) % 2 === 0 ? Math.floor(ago / minute) : undefined),
    },
  ],
  ...Object.fromEntries(
    (
      [
        ['check_certificate_21_days', 10],
        ['check_certificate_7_days', 3],
        ['check_certificate_1_day', 0.5],
      ] as const
    ).map(([rule, days]) => [
      rule,
      [
        {
          name: 'probe_ssl_earliest_cert_expiry',
          labels: { job: 'checks' },
          bad: expiresIn(days),
          good: expiresIn(30),
        },
      ],
    ]),
  ),
  ...Object.fromEntries(
    (
      [
        ['check_domain_30_days', 20],
        ['check_domain_7_days', 3],
      ] as const
    ).map(([rule, days]) => [
      rule,
      [
        {
          name: 'probe_domain_expiry',
          labels: { job: 'checks' },
          bad: expiresIn(days),
          good: expiresIn(300),
        },
      ],
    ]),
  ),
  ...Object.fromEntries(
    ['objective_burning_fast', 'objective_burning'].map((rule) => [
      rule,
      [
        { name: 'svc_objective_up', bad: always(0), good: always(1) },
        { name: 'svc_objective_target_ratio', bad: always(0.99), good: always(0.99) },
      ],
    ]),
  ),
  objective_spent: [
    { name: 'svc_objective_budget_left_ratio', bad: always(-0.5), good: always(0.5) },
  ],
  heartbeat_missed: [{ name: 'svc_heartbeat_up', bad: always(0), good: always(1) }],
  connected_store_down: [{ name: 'svc_connected_store_up', bad: always(0), good: always(1) }],
  notify_channel_failing: [
    {
      name: 'svc_notify_channel_failing',
      labels: { channel: 'Ops' },
      bad: always(1),
      good: always(0),
    },
  ],
};

type Condition = Readonly<Record<string, unknown>>;
type ShownRule = Readonly<Record<string, unknown>> & {
  readonly rule_key: string;
  readonly conditions: readonly Condition[];
};

/** The rules of the product, and the world of each with one that is bad and one that is well. */
async function builtIn(t: TestContext) {
  const clock = new StoppedClock(noon);
  const { call, ingest } = await rulesHouse(t, { clock });
  const now = clock.now();
  const samples = (of: Of): readonly (readonly [number, number])[] =>
    Array.from({ length: backMs / 30_000 + 1 }, (_, index) => backMs - index * 30_000).flatMap(
      (ago) => {
        const value = of(ago);
        return value === undefined ? [] : [[now - ago, value] as const];
      },
    );
  const whoOf = (rule: string, who: string): Readonly<Record<string, string>> =>
    rule === 'ingest_failing'
      ? { signal: who }
      : rule === 'notify_channel_failing'
        ? { channel_id: who }
        : rule === 'connected_store_down'
          ? { store: who }
          : rule === 'store_damaged'
            ? { instance: who }
            : rule === 'series_limit_near' || rule === 'stream_limit_near'
              ? { sender: who }
              : rule === 'heartbeat_missed'
                ? { heartbeat: who }
                : rule.startsWith('objective_')
                  ? { objective: who }
                  : rule.startsWith('check_')
                    ? { check: `${who} ${rule}` }
                    : { device_id: who, ...(rule === 'scrape_down' && { instance: who }) };
  const written: SampleRow[] = Object.entries(worlds).flatMap(([rule, world]) =>
    world.flatMap(({ name, labels, bad, good }) => [
      ...rows(name, { ...labels, ...whoOf(rule, 'bad') }, samples(bad)),
      ...rows(name, { ...labels, ...whoOf(rule, 'good') }, samples(good)),
    ]),
  );
  await ingest.write(written);
  const rules = (await call('GET', 'alert-rules?limit=200')).body.items.map(
    ({
      id: _id,
      created_by: _by,
      created_at: _made,
      updated_at: _changed,
      ...rule
    }: ShownRule & Record<string, unknown>) => rule,
  ) as readonly ShownRule[];
  return {
    rules,
    /** Empty: it fires for what is bad and for nothing else. */
    async complaint(rule: ShownRule): Promise<string> {
      const { status, body } = await call('POST', 'alert-rules/preview', {
        ...rule,
        lookback: '40m',
      });
      const keys = [
        ...new Set<string>(
          body.firings?.map((firing: { dedupe_key: string }) => firing.dedupe_key),
        ),
      ];
      return status === 200 && keys.length === 1 && keys[0]!.includes('bad')
        ? ''
        : JSON.stringify(body).slice(0, 1_500);
    },
  };
}

test('every rule that comes with the product fires on what it is about, and on nothing that is well', async (t) => {
  const { rules, complaint } = await builtIn(t);
  assert.deepEqual(rules.map(({ rule_key: key }) => key).sort(), Object.keys(worlds).sort());
  for (const rule of rules) {
    assert.equal(await complaint(rule), '', rule.rule_key);
  }
});

const otherWay: Readonly<Record<string, string>> = {
  '>': '<',
  '<': '>',
  '>=': '<',
  '<=': '>',
  '==': '!=',
  '!=': '==',
};
const comparison = /(>=|<=|==|!=|>|<) (-?[\d.]+)(?=\)?$)/;

/** Each change in one place that a slip of the pen could make; undefined where the rule has no such place. */
const slips: Readonly<Record<string, (condition: Condition) => Condition | undefined>> = {
  metric: ({ metric, expr, ...rest }) =>
    typeof metric === 'string'
      ? { ...rest, metric: `${metric}x` }
      : {
          ...rest,
          expr: String(expr).replaceAll(
            /\b(node|svc|probe|namedprocess|up)(_\w+)?\b(?!\()/g,
            '$&x',
          ),
        },
  operator: ({ operator, expr, above, ...rest }) =>
    typeof operator === 'string'
      ? { ...rest, operator: otherWay[operator] }
      : typeof expr === 'string'
        ? {
            ...rest,
            expr: expr.replace(
              comparison,
              (_all, sign: string, bound: string) => `${otherWay[sign]} ${bound}`,
            ),
          }
        : { ...rest, below: above },
  threshold: ({ threshold, expr, above, ...rest }) =>
    typeof threshold === 'number'
      ? { ...rest, threshold: threshold * 2 }
      : typeof expr === 'string'
        ? {
            ...rest,
            expr: expr.replace(
              comparison,
              (_all, sign: string, bound: string) => `${sign} ${Number(bound) * 20 + 3}`,
            ),
          }
        : { ...rest, above: Number(above) * 5 },
  for: ({ for: lasting, ...rest }) => (lasting === undefined ? undefined : { ...rest, for: '3h' }),
  label: ({ expr, ...rest }) => {
    const changed =
      typeof expr === 'string' ? expr.replace(/(\w+)(=~?)"[^"$()]+"/, '$1$2"mutant"') : undefined;
    return changed === undefined || changed === expr ? undefined : { ...rest, expr: changed };
  },
};

test('a rule of the product that is changed in one place fails its test', async (t) => {
  const { rules, complaint } = await builtIn(t);
  const counts = new Map<string, number>();
  const survivors: string[] = [];
  for (const rule of rules) {
    for (const [slip, change] of Object.entries(slips)) {
      const changed = rule.conditions.map(change);
      // Of several conditions of which any is enough, all are changed: one that stays tells for the rest.
      if (changed.every((condition): condition is Condition => condition !== undefined)) {
        counts.set(slip, (counts.get(slip) ?? 0) + 1);
        survivors.push(
          ...((await complaint({ ...rule, conditions: changed })) === ''
            ? [`${slip} of ${rule.rule_key}: ${JSON.stringify(changed)}`]
            : []),
        );
      }
    }
  }
  assert.deepEqual(survivors, []);
  assert.ok(
    counts.get('metric') === rules.length && counts.get('for')! >= 25 && counts.get('label')! >= 3,
    JSON.stringify([...counts]),
  );
});

test('file descriptors run out for a process on its own limit, and for a machine on that of its kernel', async (t) => {
  const clock = new StoppedClock(noon);
  const { call, ingest } = await rulesHouse(t, { clock });
  const times = Array.from({ length: 41 }, (_, index) => clock.now() - (40 - index) * 30_000);
  const write = (name: string, labels: Readonly<Record<string, string>>, value: number) =>
    ingest.write(
      rows(
        name,
        labels,
        times.map((time) => [time, value] as const),
      ),
    );
  await write(
    'namedprocess_namegroup_worst_fd_ratio',
    { device_id: 'process', groupname: 'nginx' },
    0.95,
  );
  await write('node_open_fds_percent', { device_id: 'process' }, 3.6e-14);
  await write(
    'namedprocess_namegroup_worst_fd_ratio',
    { device_id: 'machine', groupname: 'nginx' },
    0.1,
  );
  await write('node_open_fds_percent', { device_id: 'machine' }, 95);
  const { items } = (await call('GET', 'alert-rules?q=open_fds_high')).body;
  const { id: _id, created_by: _by, created_at: _made, updated_at: _changed, ...rule } = items[0];
  const { firings } = (await call('POST', 'alert-rules/preview', { ...rule, lookback: '15m' }))
    .body;
  assert.deepEqual(
    firings
      .map(({ dedupe_key: key, value }: { dedupe_key: string; value: number }) => [key, value])
      .sort(),
    [
      ['open_fds_high:host:machine:groupname=', 95],
      ['open_fds_high:host:process:groupname=nginx', 95],
    ],
  );
});

test('the rules are installed as soon as the database takes them, and health says so until then', async () => {
  let fails = true;
  let tick: (() => unknown) | undefined;
  const logged: string[] = [];
  const written: string[] = [];
  const builtIn = new BuiltInRules({
    tables: {
      read: { selectFrom: () => ({ select: () => ({ execute: async () => [] }) }) },
      write: async () => {
        if (fails) {
          throw new Error('the disk is full');
        }
        written.push('rules');
      },
    },
    clock: new StoppedClock(0),
    log: { warn: (_fields: object, text: string) => logged.push(text) },
    scope: {
      interval: (_label: string, _ms: number, each: () => unknown) => {
        tick = each;
        return () => (tick = undefined);
      },
    },
  } as unknown as ConstructorParameters<typeof BuiltInRules>[0]);
  let reloaded = 0;
  await builtIn.install(async () => void (reloaded += 1));
  await tick!();
  assert.match(builtIn.health().detail ?? '', /not installed yet: the disk is full/);
  assert.deepEqual([logged.length, reloaded], [1, 0]);
  fails = false;
  await tick!();
  assert.deepEqual(
    [builtIn.health(), reloaded, tick, written.length],
    [{ ok: true }, 1, undefined, 1],
  );
});
