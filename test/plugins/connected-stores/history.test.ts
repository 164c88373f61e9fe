import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';

import { MetricsQueries } from 'svc/contracts/metricsdb';
import { startTestHost } from 'svc/testing';

import { peer } from '../../peers.ts';
import { startProgram, until } from './fleet.ts';
import { freePort } from '../ingest/nginx.ts';

const run = promisify(execFile);
const hour = 3_600_000;
const minute = 60_000;
const hosts = ['web-1', 'web-2', 'db-1'];
const path = '/api/v1/connected-stores';

/** Percent that /srv of each host was full: a little more each minute. */
const used = (at: number, minutesAgo: number): number => 20 + 10 * at + (720 - minutesAgo) / 72;

/** Starts Debian's Prometheus with what it would have scraped of three hosts in the last 12 hours. */
async function prometheusWithPast(t: TestContext, now: number): Promise<string | undefined> {
  const [prometheus, promtool] = [peer(t, 'prometheus'), peer(t, 'promtool')];
  if (prometheus === undefined || promtool === undefined) {
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-past-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const lines = (name: string, labels: string, value: (host: number, ago: number) => number) =>
    hosts.flatMap((host, at) =>
      Array.from(
        { length: 721 },
        (_, minutes) =>
          `${name}{instance="${host}:9100",job="node"${labels.replace('%', host)}} ${value(at, 720 - minutes)} ${Math.floor((now - (720 - minutes) * minute) / 1_000)}`,
      ),
    );
  const disk = ',device="/dev/sda1",fstype="ext4",mountpoint="/srv"';
  writeFileSync(
    join(folder, 'past.om'),
    [
      ...lines('node_filesystem_avail_bytes', disk, (at, ago) => 1e9 * (1 - used(at, ago) / 100)),
      ...lines('node_filesystem_free_bytes', disk, (at, ago) => 1e9 * (1 - used(at, ago) / 100)),
      ...lines('node_filesystem_size_bytes', disk, () => 1e9),
      ...lines('node_uname_info', ',nodename="%",release="6.1.0",sysname="Linux"', () => 1),
      ...lines('up', '', () => 1),
      '# EOF\n',
    ].join('\n'),
  );
  writeFileSync(join(folder, 'prometheus.yml'), '{}');
  await run(promtool, [
    ...['tsdb', 'create-blocks-from', 'openmetrics'],
    ...[join(folder, 'past.om'), join(folder, 'data')],
  ]);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await startProgram(
    t,
    prometheus,
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    `${url}/-/ready`,
  );
  return url;
}

/** A proxy in front of the server that lets no question about a range pass. */
async function withoutRanges(t: TestContext, url: string): Promise<string> {
  const proxy = createServer((asked, answer) => {
    if (asked.url === '/api/v1/query_range') {
      asked.resume();
      answer.writeHead(403).end('{"status":"error","error":"ranges are off"}');
      return;
    }
    const { method, headers } = asked;
    const onward = request(`${url}${asked.url}`, { method: method!, headers }, (reply) => {
      answer.writeHead(reply.statusCode!, reply.headers);
      reply.pipe(answer);
    });
    asked.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const address = proxy.address() as { port: number };
  return `http://127.0.0.1:${address.port}`;
}

test(
  'one command connects a Prometheus with its past, which charts and rules have at once',
  { timeout: 240_000 },
  async (t) => {
    const now = Date.now();
    const url = await prometheusWithPast(t, now);
    if (url === undefined) {
      return;
    }
    const house = await startTestHost(t, {
      plugins: ['device', 'metricsdb', 'connected-stores'],
      environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '127.0.0.1' },
    });
    const { stdout } = await run(process.execPath, [
      ...['bin/svc', 'store', 'connect', 'prometheus', url, '--name', 'prod', '--history', '8h'],
      ...['--url', house.url, '--token', house.token],
    ]);
    assert.match(stdout, /Connected as prod: 3 hosts are devices now, [1-9]\d* series copied/);
    assert.match(stdout, /History since \S+: \d{4,} samples copied\n/);

    const { items } = await house.json('/api/v1/devices');
    const { labels, times, values } = await house
      .service(MetricsQueries)
      .range('node_filesystem_used_percent{mountpoint="/srv"}', {
        start: now - 9 * hour,
        end: now - 5 * minute,
        step: 5 * minute,
      });
    assert.equal(labels.length, 3);
    for (const [at, { device_id: id }] of labels.entries()) {
      const device = items.find((one: { id: number }) => String(one.id) === id);
      const host = hosts.indexOf(device.display_name);
      const [first, last] = [times[at]![0]!, times[at]!.at(-1)!];
      assert.ok(first < now - 7.8 * hour && first > now - 8.2 * hour, 'it begins 8 hours ago');
      assert.ok(last > now - 15 * minute);
      assert.ok(times[at]!.length > 90, `${times[at]!.length} of 96: there are no gaps`);
      for (const [index, time] of times[at]!.entries()) {
        const expected = used(host, (now - time) / minute);
        assert.ok(Math.abs(values[at]![index]! - expected) < 0.1, `${device.display_name} ${time}`);
      }
    }
    const live = await house
      .service(MetricsQueries)
      .instant('count(node_filesystem_used_percent)', Date.now());
    assert.deepEqual(live.type === 'vector' && [...live.values], [3]);

    // What comes too late, or not at all, is told; current values are copied all the same.
    const settled = async (draft: { name: string; url: string; history: string }) => {
      await house.json(path, { method: 'POST', body: JSON.stringify(draft) });
      const store = await until('its history ends', async () => {
        const shown = await house.json(`${path}/${draft.name}`);
        return shown.history.state === 'copying' ? undefined : shown;
      });
      await house.fetch(`${path}/${draft.name}`, { method: 'DELETE' });
      return store;
    };
    await house.fetch(`${path}/prod`, { method: 'DELETE' });
    const late = await settled({ name: 'late', url, history: '1h' });
    assert.deepEqual([late.state, late.history.state, late.hosts], ['ok', 'done', 3]);
    assert.match(late.detail, /^\d+ samples were refused, .* svc has newer ones/);
    const limited = await withoutRanges(t, url);
    const told = await settled({ name: 'limited', url: limited, history: '6h' });
    assert.deepEqual([told.state, told.history.state, told.hosts], ['ok', 'incomplete', 3]);
    assert.ok(told.series > 0);
    assert.match(told.detail, /up to \S+ only: .*status 403: ranges are off/);

    const tooLong = { name: 'long', url, history: '31d' };
    const refused = await house.fetch(path, { method: 'POST', body: JSON.stringify(tooLong) });
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), /A history of 31d is too long; at most 30d are copied/);
  },
);
