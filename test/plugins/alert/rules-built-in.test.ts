import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { SampleRow } from '../../../plugins/metricsdb/contract.ts';
import { rows, rulesHouse, StoppedClock } from './rules-house.ts';

const minute = 60_000;
/** How much of the past is stored. */
const backMs = 240 * minute;

type Of = (agoMs: number) => number | undefined;
interface World {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** What a device, a pipeline or a target is like that the rule is about, and one that is well. */
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

/** What each rule that comes with the product is about. */
const worlds: Readonly<Record<string, readonly World[]>> = {
  cpu_high: [{ name: 'node_cpu_usage_percent', bad: always(97), good: (ago) => (ago === 20 * minute ? 100 : 85) }],
  memory_high: [{ name: 'node_memory_used_percent', bad: always(95), good: always(80) }],
  disk_high: [{ name: 'node_filesystem_used_percent', labels: { mountpoint: '/var' }, bad: always(93), good: always(89) }],
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
    { name: 'node_filesystem_files', labels: { mountpoint: '/var' }, bad: always(1_000), good: always(1_000) },
    { name: 'node_filesystem_files_free', labels: { mountpoint: '/var' }, bad: always(40), good: always(200) },
    // File systems that have no inodes of their own say 0.
    { name: 'node_filesystem_files', labels: { mountpoint: '/boot' }, bad: always(0), good: always(0) },
    { name: 'node_filesystem_files_free', labels: { mountpoint: '/boot' }, bad: always(0), good: always(0) },
  ],
  filesystem_readonly: [
    {
      name: 'node_filesystem_readonly',
      labels: { device: '/dev/sda1', fstype: 'ext4', mountpoint: '/' },
      bad: (ago) => (ago < 35 * minute ? 1 : 0),
      good: always(0),
    },
    // A part of it that is handed out read-only says nothing of the whole.
    { name: 'node_filesystem_readonly', labels: { device: '/dev/sda1', fstype: 'ext4', mountpoint: '/srv/export' }, bad: always(1), good: always(1) },
    { name: 'node_filesystem_readonly', labels: { device: '/dev/sr0', fstype: 'udf', mountpoint: '/media' }, bad: always(1), good: always(1) },
  ],
  load_per_cpu_high: [
    { name: 'node_load5', bad: always(9), good: always(3) },
    ...['0', '1'].map((cpu) => ({ name: 'node_cpu_seconds_total', labels: { cpu, mode: 'idle' }, bad: perMinute(1), good: perMinute(50) })),
  ],
  swap_high: [{ name: 'node_swap_used_percent', bad: always(85), good: always(10) }],
  // Of a machine whose kernel has no limit of its own (2^63) only a process can run out of them.
  open_fds_high: [
    { name: 'node_open_fds_percent', bad: always(3.6e-14), good: always(3.6e-14) },
    { name: 'namedprocess_namegroup_worst_fd_ratio', labels: { groupname: 'nginx' }, bad: always(0.85), good: always(0.7) },
  ],
  device_offline: [
    { name: 'svc_edge_online', labels: { edge_id: '1' }, bad: (ago) => (ago < 15 * minute ? 0 : 1), good: always(1) },
    // A second edge watches them: one that is up is enough.
    { name: 'svc_edge_online', labels: { edge_id: '2' }, bad: always(0), good: always(0) },
  ],
  ingest_failing: [
    { name: 'svc_ingest_requests_total', labels: { outcome: 'accepted' }, bad: perMinute(60), good: perMinute(60) },
    { name: 'svc_ingest_requests_total', labels: { outcome: 'unavailable' }, bad: perMinute(10), good: perMinute(0) },
  ],
  scrape_down: [{ name: 'up', labels: { job: 'node' }, bad: always(0), good: always(1) }],
  notify_channel_failing: [{ name: 'svc_notify_channel_failing', labels: { channel: 'Ops' }, bad: always(1), good: always(0) }],
};

test('every rule that comes with the product fires on what it is about, and on nothing that is well', async (t) => {
  const clock = new StoppedClock(Date.UTC(2026, 10, 20, 12));
  const { call, ingest } = await rulesHouse(t, { clock });
  const now = clock.now();
  const samples = (of: Of): readonly (readonly [number, number])[] =>
    Array.from({ length: backMs / 30_000 + 1 }, (_, index) => backMs - index * 30_000).flatMap((ago) => {
      const value = of(ago);
      return value === undefined ? [] : [[now - ago, value] as const];
    });
  const whoOf = (rule: string, who: string): Readonly<Record<string, string>> =>
    rule === 'ingest_failing'
      ? { signal: who }
      : rule === 'notify_channel_failing'
        ? { channel_id: who }
        : { device_id: who, ...(rule === 'scrape_down' && { instance: who }) };
  const written: SampleRow[] = Object.entries(worlds).flatMap(([rule, world]) =>
    world.flatMap(({ name, labels, bad, good }) => [
      ...rows(name, { ...labels, ...whoOf(rule, 'bad') }, samples(bad)),
      ...rows(name, { ...labels, ...whoOf(rule, 'good') }, samples(good)),
    ]),
  );
  await ingest.write(written);
  const { items } = (await call('GET', 'alert-rules?limit=200')).body;
  assert.deepEqual(items.map(({ rule_key: key }: { rule_key: string }) => key).sort(), Object.keys(worlds).sort());
  for (const { id: _id, created_by: _by, created_at: _made, updated_at: _changed, ...rule } of items) {
    const shown = (await call('POST', 'alert-rules/preview', { ...rule, lookback: '40m' })).body;
    const keys = new Set(shown.firings?.map((firing: { dedupe_key: string }) => firing.dedupe_key));
    assert.deepEqual(
      [keys.size, [...keys].every((key) => String(key).includes('bad'))],
      [1, true],
      `${rule.rule_key}: ${JSON.stringify(shown).slice(0, 1_500)}`,
    );
  }
});

test('file descriptors run out for a process on its own limit, and for a machine on that of its kernel', async (t) => {
  const clock = new StoppedClock(Date.UTC(2026, 10, 20, 12));
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
  await write('namedprocess_namegroup_worst_fd_ratio', { device_id: 'process', groupname: 'nginx' }, 0.95);
  await write('node_open_fds_percent', { device_id: 'process' }, 3.6e-14);
  await write('namedprocess_namegroup_worst_fd_ratio', { device_id: 'machine', groupname: 'nginx' }, 0.1);
  await write('node_open_fds_percent', { device_id: 'machine' }, 95);
  const { items } = (await call('GET', 'alert-rules?q=open_fds_high')).body;
  const { id: _id, created_by: _by, created_at: _made, updated_at: _changed, ...rule } = items[0];
  const { firings } = (await call('POST', 'alert-rules/preview', { ...rule, lookback: '15m' })).body;
  assert.deepEqual(firings.map(({ dedupe_key: key, value }: { dedupe_key: string; value: number }) => [key, value]).sort(), [
    ['open_fds_high:host:machine:groupname=', 95],
    ['open_fds_high:host:process:groupname=nginx', 95],
  ]);
});
