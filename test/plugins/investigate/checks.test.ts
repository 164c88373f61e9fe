import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MetricsIngest, MetricsQueries, type SampleRow } from 'svc/contracts/metricsdb';
import { knownChecks } from 'svc/rca';
import { startTestHost, useNoLeaks } from 'svc/testing';

import { resultsOf, shippedChecks } from '../../../plugins/investigate/checks/run-checks.ts';
import { metricsSource, MetricsSource } from '../../../plugins/investigate/fetch/metrics-source.ts';
import { on } from '../../../plugins/investigate/fetch/signals.ts';
import { HandClock, minute, second } from '../alert/engine-house.ts';

type Shape = (step: number) => number;
interface Example {
  readonly series: readonly (readonly [
    name: string,
    labels: Record<string, string>,
    bad: Shape,
    good: Shape,
  ])[];
}

const flat =
  (value: number): Shape =>
  () =>
    value;
/** Returns a counter that grows by this much with each step of 15 s. */
const grows =
  (by: number): Shape =>
  (step) =>
    step * by;
const root = { mountpoint: '/', fstype: 'ext4', device: 'sda1' };
const total = 240;

/** Measures of a host that each check complains about, and of one that it does not. */
const examples: Readonly<Record<string, Example['series']>> = {
  disk_full: [['node_filesystem_used_percent', root, flat(99), flat(50)]],
  days_to_full: [['node_filesystem_avail_bytes', root, (step) => 1e9 - step * 4e6, flat(1e9)]],
  inodes: [
    ['node_filesystem_files_free', root, flat(1), flat(900)],
    ['node_filesystem_files', root, flat(1_000), flat(1_000)],
  ],
  filesystem_readonly: [['node_filesystem_readonly', root, flat(1), flat(0)]],
  filesystem_error: [['node_filesystem_device_error', root, flat(1), flat(0)]],
  oom_kills: [['node_vmstat_oom_kill', {}, (step) => Math.floor(step / 40), flat(3)]],
  swap: [
    ['node_vmstat_pswpin', {}, grows(15_000), flat(5)],
    ['node_vmstat_pswpout', {}, grows(15_000), flat(5)],
  ],
  memory_pressure: [['node_pressure_memory_stalled_seconds_total', {}, grows(6), grows(0.01)]],
  cgroup_memory: [
    ['node_cgroup_memory_usage_bytes', {}, flat(99), flat(10)],
    ['node_cgroup_memory_limit_bytes', {}, flat(100), flat(100)],
  ],
  cpu_steal: [['node_cpu_seconds_total', { mode: 'steal', cpu: '0' }, grows(6), grows(0.01)]],
  iowait: [['node_cpu_seconds_total', { mode: 'iowait', cpu: '0' }, grows(9), grows(0.01)]],
  disk_slow: [
    ['node_disk_read_time_seconds_total', { device: 'sda' }, grows(120), grows(0.2)],
    ['node_disk_write_time_seconds_total', { device: 'sda' }, grows(120), grows(0.2)],
    ['node_disk_reads_completed_total', { device: 'sda' }, grows(300), grows(300)],
    ['node_disk_writes_completed_total', { device: 'sda' }, grows(300), grows(300)],
  ],
  load_per_core: [
    ['node_load5', {}, flat(9), flat(0.5)],
    ['node_cpu_seconds_total', { mode: 'idle', cpu: '0' }, grows(1), grows(1)],
  ],
  fd_limit: [['node_open_fds_percent', {}, flat(95), flat(3)]],
  conntrack: [
    ['node_nf_conntrack_entries', {}, flat(99), flat(5)],
    ['node_nf_conntrack_entries_limit', {}, flat(100), flat(100)],
  ],
  tcp_retransmits: [
    ['node_netstat_Tcp_RetransSegs', {}, grows(1_000), grows(1)],
    ['node_netstat_Tcp_OutSegs', {}, grows(10_000), grows(10_000)],
  ],
  listen_overflows: [['node_netstat_TcpExt_ListenOverflows', {}, grows(5), flat(7)]],
  nic_errors: [
    ['node_network_receive_errs_total', { device: 'eth0' }, grows(60), flat(0)],
    ['node_network_transmit_errs_total', { device: 'eth0' }, flat(0), flat(0)],
  ],
  nic_down: [
    ['node_network_up', { device: 'eth1' }, (step) => (step > total - 60 ? 0 : 1), flat(1)],
  ],
  clock_skew: [['node_timex_offset_seconds', {}, flat(9), flat(0.001)]],
  cert_expiry: [
    [
      'probe_ssl_earliest_cert_expiry',
      { instance: 'shop:443' },
      flat(Date.UTC(2026, 10, 20) / 1_000 + 3_600),
      flat(Date.UTC(2027, 1, 1) / 1_000),
    ],
  ],
  dns_failure: [['probe_success', { instance: 'ns1', job: 'dns' }, flat(0), flat(1)]],
  probe_failure: [['probe_success', { instance: 'shop', job: 'http' }, flat(0), flat(1)]],
  edge_offline: [['svc_edge_online', {}, flat(0), flat(1)]],
  edge_flapping: [['svc_edge_online', {}, (step) => Math.floor(step / 4) % 2, flat(1)]],
  plugin_crashed: [['node_scrape_collector_success', { collector: 'cpu' }, flat(0), flat(1)]],
  restart_loop: [
    [
      'namedprocess_namegroup_oldest_start_time_seconds',
      { groupname: 'java' },
      (step) => Math.floor(step / 10),
      flat(5),
    ],
    ['namedprocess_namegroup_num_procs', { groupname: 'java' }, flat(1), flat(1)],
  ],
  reboot: [['node_uptime_seconds', {}, (step) => (step * 15) % 900, grows(15)]],
  zombies: [
    ['namedprocess_namegroup_states', { groupname: 'sh', state: 'Zombie' }, flat(80), flat(1)],
  ],
  units_failed: [
    ['node_systemd_unit_state', { state: 'failed', name: 'nginx.service' }, flat(1), flat(0)],
  ],
};

test('the engine understands every check that is shipped, and knows of none that is not but the silence of a host', () => {
  assert.deepEqual(
    Object.keys(knownChecks).toSorted(),
    [...Object.keys(shippedChecks), 'no_data'].toSorted(),
  );
});

test('each check of hosts complains of what it is for, and of nothing else', async (t) => {
  assert.deepEqual(Object.keys(examples).toSorted(), Object.keys(shippedChecks).toSorted());
  assert.ok(Object.keys(shippedChecks).length >= 20);
  const clock = new HandClock();
  const house = await startTestHost(t, { plugins: ['metricsdb'], clock });
  useNoLeaks(t, house);
  const from = clock.now() - total * 15 * second;
  // Devices in pairs, one bad and one good for each check, so that none speaks for another.
  const names = Object.keys(examples);
  for (const [at, name] of names.entries()) {
    const rows: SampleRow[] = [];
    for (const [metric, labels, bad, good] of examples[name]!) {
      for (let step = 1; step <= total; step += 1) {
        const time = from + step * 15 * second;
        rows.push({
          labels: { __name__: metric, device_id: String(2 * at + 1), ...labels },
          time,
          value: bad(step),
        });
        rows.push({
          labels: { __name__: metric, device_id: String(2 * at + 2), ...labels },
          time,
          value: good(step),
        });
      }
    }
    await house.service(MetricsIngest).write(rows);
  }
  const metrics = house.service(MetricsQueries);
  const source = new MetricsSource(
    { available: true, get: () => metrics, onChange: () => () => undefined },
    undefined,
  );
  const window = { from, to: clock.now() };
  for (const [at, name] of names.entries()) {
    const devices = [String(2 * at + 1), String(2 * at + 2)];
    const check = shippedChecks[name]!;
    const query = on(check.query.replaceAll('$devices', '$on'), 'device_id', devices);
    const { value } = await source.ask(
      { kind: 'check', source: metricsSource(), query, window },
      new AbortController().signal,
    );
    const results = resultsOf(
      name,
      check,
      { id: 'E1', value },
      { devices, window, firedAt: clock.now() - minute },
    );
    const [bad, good] = devices.map((device) =>
      results.find(({ node }) => node === `device:${device}`),
    );
    assert.deepEqual(
      [name, bad?.ok, bad?.interesting, good?.ok ?? true],
      [name, false, true, true],
    );
    assert.doesNotMatch(bad!.message, /\$/, name);
  }
});
