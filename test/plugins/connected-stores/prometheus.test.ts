import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

import { AlertEvaluator } from 'svc/contracts/alert';
import { startTestHost } from 'svc/testing';

import { peer } from '../../peers.ts';
import { HandClock, minute, second } from '../alert/engine-house.ts';
import { scraped, startFleet, startPrometheus, until } from './fleet.ts';

const post = (body: object = {}): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });
const path = '/api/v1/connected-stores';

test(
  'a real Prometheus that scrapes three exporters: its hosts are devices, the shipped rules fire on them, and the investigation names the host',
  { timeout: 400_000 },
  async (t) => {
    const [prometheus, exporter] = [peer(t, 'prometheus'), peer(t, 'prometheus-node-exporter')];
    if (prometheus === undefined || exporter === undefined) {
      return;
    }
    const fleet = await startFleet(t, exporter);
    const disk = (free: number): string =>
      ['size', 'free', 'avail']
        .map(
          (what) =>
            `node_filesystem_${what}_bytes{device="/dev/sdz1",fstype="ext4",mountpoint="/srv"} ${what === 'size' ? 1e9 : free}\n`,
        )
        .join('');
    fleet.say('web-2', disk(6e8));
    const { url, child } = await startPrometheus(t, prometheus, fleet);
    await scraped(url, 'rate(node_cpu_seconds_total{mode="idle",cpu="0"}[1m])', 1);
    await scraped(url, 'node_uname_info', 3);
    const clock = new HandClock();
    const house = await startTestHost(t, {
      plugins: [
        'device',
        'topology',
        'metricsdb',
        'alert',
        'changes',
        'investigate',
        'connected-stores',
      ],
      environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' },
      clock,
    });
    const figures = async (query: string): Promise<Map<string, number>> => {
      const { data } = await house.json(
        `/prometheus/api/v1/query?query=${encodeURIComponent(query)}&time=${clock.now() / 1_000}`,
      );
      return new Map(
        (data.result as { metric: Record<string, string>; value: [number, string] }[]).map(
          ({ metric, value }) => [metric['device_id'] ?? '', Number(value[1])],
        ),
      );
    };

    // Three exporters of one machine share its node name, so it names none of them.
    const clones = await house.json(`${path}/preview`, post({ url }));
    assert.deepEqual(
      clones.hosts.map(({ name, by }: { name: string; by: string }) => `${name} ${by}`).toSorted(),
      fleet.targets.map(({ port }) => `127.0.0.1:${port} instance`).toSorted(),
    );
    const rules = [{ label: 'host' }];
    const preview = await house.json(`${path}/preview`, post({ url, host_rules: rules }));
    assert.deepEqual(preview.hosts.map(({ name }: { name: string }) => name).toSorted(), [
      'db-1',
      'web-1',
      'web-2',
    ]);
    assert.deepEqual(
      [preview.rules, preview.series_without_host],
      [[{ label: 'host', hosts: 3 }], 0],
    );
    const before = await house.json('/api/v1/devices');
    assert.equal(before.total, 0, 'a preview creates nothing');

    const { stdout } = await promisify(execFile)(process.execPath, [
      ...['bin/svc', 'store', 'connect', 'prometheus', url, '--name', 'prod'],
      ...['--host-label', 'host', '--url', house.url, '--token', house.token],
    ]);
    assert.match(stdout, /^Prometheus \S+ answers\n/);
    assert.match(stdout, /web-2 +host +127\.0\.0\.1:\d+ +up +\d+ +new/);
    assert.match(stdout, /\n0 of \d+ series have no host label\n/);
    assert.match(
      stdout,
      /Connected as prod: 3 hosts are devices now, \d+ series copied every 30 s/,
    );
    const { items } = await house.json('/api/v1/devices');
    const devices = new Map(
      items.map((device: { display_name: string; id: number }) => [device.display_name, device]),
    ) as Map<
      string,
      { id: number; online: boolean; reported_by: string[]; kernel_version: string }
    >;
    assert.deepEqual([...devices.keys()].toSorted(), ['db-1', 'web-1', 'web-2']);
    for (const { online, reported_by: by } of devices.values()) {
      assert.deepEqual([online, by], [true, ['prod']]);
    }
    assert.match(devices.get('web-1')!.kernel_version, /^\d/);
    const idOf = (name: string): string => String(devices.get(name)!.id);
    const web2 = idOf('web-2');
    await until('topology has its node', async () =>
      (await house.json(`/api/v1/devices/${web2}`)).node_id === null ? undefined : true,
    );

    const measured = {
      node_cpu_usage_percent: ['web-1'],
      node_memory_used_percent: ['web-1'],
      node_uptime_seconds: ['web-1'],
      node_load1: ['db-1', 'web-1'],
      'svc_host_online == 1': ['db-1', 'web-1', 'web-2'],
    };
    for (const [query, names] of Object.entries(measured)) {
      const found = [...(await figures(query)).keys()].toSorted();
      assert.deepEqual(found, names.map(idOf).toSorted(), query);
    }
    assert.equal((await figures('node_filesystem_used_percent{mountpoint="/srv"}')).get(web2), 40);

    /** Time goes by: the store is read, and the rules look. */
    const pass = async (ms: number, stepMs = 30 * second): Promise<void> => {
      for (let passed = 0; passed < ms; passed += stepMs) {
        clock.advance(stepMs);
        await house.json(`${path}/prod/read`, post());
        await house.service(AlertEvaluator).tick();
      }
    };
    const incidents = async (): Promise<
      Map<string, { id: number; device_name: string; summary: string }>
    > =>
      new Map(
        (await house.json('/api/v1/alerts/incidents?status=active')).items.map(
          (incident: { rule: string }) => [incident.rule, incident],
        ),
      );
    // Long enough that what is usual is known.
    await pass(40 * minute, 4 * minute);
    assert.equal((await incidents()).has('disk_high'), false);
    fleet.say('web-2', disk(2e7));
    await scraped(url, 'node_filesystem_avail_bytes{mountpoint="/srv"} < 1e8', 1);
    await pass(6 * minute);
    const full = (await incidents()).get('disk_high')!;
    assert.deepEqual([full.device_name, full.summary], ['web-2', '/srv of web-2 is 98 % full']);

    const report = await until('the investigation', async () => {
      const found = await house.json(`/api/v1/alerts/incidents/${full.id}/investigation`);
      return found.status === 'ready' || found.status === 'failed' ? found : undefined;
    });
    assert.equal(report.root_cause?.node.id, `device:${web2}`, report.summary);
    assert.match(report.markdown, /web-2/);

    // A host whose exporter is gone is down; it stays a device.
    const { last_seen_at: seen } = await house.json(`/api/v1/devices/${idOf('db-1')}`);
    assert.ok(
      Math.abs(Date.parse(seen) - clock.now()) <= 5 * second,
      `${seen}: the exporter is scraped each second`,
    );
    await fleet.stop('web-1');
    await fleet.stop('db-1');
    await scraped(url, 'up == 0', 2);
    await pass(2 * minute);
    const { items: offline } = await house.json(
      '/api/v1/alerts/incidents?status=active&rule=device_offline',
    );
    assert.deepEqual(offline.map(({ summary }: { summary: string }) => summary).toSorted(), [
      'db-1 is offline',
      'web-1 is offline',
    ]);
    const since = Date.parse((await house.json(`/api/v1/devices/${idOf('db-1')}`)).last_seen_at);
    assert.ok(clock.now() - since >= 110 * second, 'it was last seen before it was stopped');
    // The server still has a rate of the last minutes; it says nothing of the host now.
    await scraped(url, 'count(rate(node_cpu_seconds_total{mode="idle",cpu="0"}[5m]))', 1);
    const { data } = await house.json(
      `/prometheus/api/v1/query?time=${clock.now() / 1_000}&query=${encodeURIComponent('count_over_time(node_cpu_usage_percent[110s])')}`,
    );
    assert.deepEqual(data.result, []);
    assert.deepEqual(
      (await house.json('/api/v1/devices')).items
        .map(({ display_name: name, online }: { display_name: string; online: boolean }) => [
          name,
          online,
        ])
        .toSorted(),
      [
        ['db-1', false],
        ['web-1', false],
        ['web-2', true],
      ],
    );

    // A server that answers nothing is told, and takes nothing with it.
    child.kill('SIGSTOP');
    await pass(30 * second);
    const hung = await house.json(`${path}/prod`);
    assert.equal(hung.state, 'failing');
    assert.match(hung.detail, /did not respond within 10 s/);
    child.kill('SIGKILL');
    await pass(minute);
    assert.equal(
      (await incidents()).get('connected_store_down')!.summary,
      'The connected store prod does not respond',
    );
  },
);
