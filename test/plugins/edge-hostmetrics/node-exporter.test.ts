import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { scrapedSamples } from '../../../plugins/edge-hostmetrics/scrape/scraped-samples.ts';
import { peer } from '../../peers.ts';
import { Box, keyOf } from './box.ts';

/** Ours, which no other exporter has. */
const own =
  /^node_(?:cpu_usage_percent|memory_used_percent|filesystem_used_percent|network_(?:receive|transmit)_bytes_per_second|disk_io_utilization_percent|swap_used_percent|open_fds_percent|uptime_seconds|cgroup_\w+)(?:\{|$)/;

/** Names of later releases of the exporter than Debian's. */
const newer = /^node_netstat_TcpExt_TCP(?:OFOQueue|RcvQDrop)$/;

/**
 * Metrics of their collectors, not of the machine; or of a family that they read over another
 * interface than files.
 */
const theirs = /^node_(?:scrape_collector|textfile|exporter|network_receive_nohandler)/;

test(
  'every metric that we share with node_exporter has its name, its labels and its value, at the same moment',
  { timeout: 60_000 },
  async (t) => {
    const program = peer(t, 'prometheus-node-exporter');
    if (program === undefined) {
      return;
    }
    const box = new Box('/', { network: { device_exclude: '' } });
    const url = await serve(t, program, box.spec.filesystem.mount_exclude);
    const measure = async (): Promise<Map<string, number>> => {
      const samples = await box.measure();
      return new Map([...samples].map(([key, { value }]) => [bare(key), value]));
    };
    await measure();
    const open = new Map<string, string>();
    const agreed = new Set<string>();
    for (let round = 0; round < 20 && (round === 0 || open.size > 0); round++) {
      const before = await measure();
      const exporter = await scrape(url);
      const after = await measure();
      // Values that go up and down all the time (running processes, free memory) may be off once: not in every round.
      for (const [key, value] of exporter) {
        const [low, high] = [before.get(key), after.get(key)].sort((a, b) => a! - b!);
        if (low === undefined || high === undefined || agreed.has(key)) {
          continue;
        }
        const slack = Math.max(1, Math.abs(value) / 100);
        if (value >= low - slack && value <= high + slack) {
          agreed.add(key);
          open.delete(key);
        } else {
          open.set(key, `${key}: ${value}, and ours ${low} to ${high}`);
        }
      }
      if (round === 0) {
        // Mounts of others that come and go are none of either.
        const families = new Set([...after.keys()].map((key) => key.split('{', 1)[0]));
        const missing = [...exporter.keys()].filter(
          (key) =>
            families.has(key.split('{', 1)[0]) &&
            !theirs.test(key) &&
            !after.has(key) &&
            !before.has(key),
        );
        assert.deepEqual(
          missing,
          [],
          'series of a family that we share, with labels that we do not have',
        );
        const extra = [...after.keys()].filter(
          (key) => before.has(key) && !exporter.has(key) && !own.test(key) && !theirs.test(key),
        );
        // The exporter of this release leaves the loopback out, because it asks the kernel for devices in another way.
        assert.deepEqual(
          extra.filter((key) => !key.includes('device="lo"') && !newer.test(key)),
          [],
          'series that only we have',
        );
      }
    }
    assert.deepEqual([...open.values()], []);
    assert.ok(agreed.size > 150, `${agreed.size} series agree`);
    t.diagnostic(`${agreed.size} series agree`);
  },
);

/** Removes the labels that we add to each series. */
function bare(key: string): string {
  const brace = key.indexOf('{');
  const labels = key
    .slice(brace + 1, -1)
    .split(/,(?=[a-z_]+=")/)
    .filter((label) => !/^(?:instance|job)=/.test(label));
  return labels.length === 0 ? key.slice(0, brace) : `${key.slice(0, brace)}{${labels.join(',')}}`;
}

async function scrape(url: string): Promise<Map<string, number>> {
  const text = await (await fetch(url)).text();
  const samples = scrapedSamples(text, { maxSeries: 10_000, openMetrics: false });
  return new Map(
    samples
      .filter(({ name }) => name.startsWith('node_'))
      .map(({ name, labels, value }) => [keyOf([['__name__', name], ...pairs(labels)]), value]),
  );
}

const pairs = (flat: readonly string[]): [string, string][] =>
  flat
    .flatMap((word, i) => (i % 2 === 0 ? [[word, flat[i + 1]!] as [string, string]] : []))
    .sort(([a], [b]) => (a < b ? -1 : 1));

/** Debian leaves out more mount points than the exporter itself does. */
async function serve(t: TestContext, program: string, mountExclude: string): Promise<string> {
  const port = await freePort();
  const child = spawn(
    program,
    [
      `--web.listen-address=127.0.0.1:${port}`,
      `--collector.filesystem.mount-points-exclude=${mountExclude}`,
    ],
    { stdio: 'ignore' },
  );
  t.after(async () => {
    child.kill('SIGKILL');
    await (child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined);
  });
  const url = `http://127.0.0.1:${port}/metrics`;
  for (const deadline = Date.now() + 20_000; ;) {
    try {
      await (await fetch(url)).arrayBuffer();
      return url;
    } catch (error) {
      assert.ok(Date.now() < deadline, `the exporter does not answer: ${String(error)}`);
      await pause(100);
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
