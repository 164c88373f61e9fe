import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { peer } from '../../peers.ts';
import { basic, ingestHouse, type IngestHouse, seven } from './house.ts';
import { freePort } from './nginx.ts';

/** Runs a Prometheus that scrapes itself and writes to `house`. */
async function startPrometheus(
  t: TestContext,
  program: string,
  house: IngestHouse,
  [user, password]: readonly [string, string],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-prometheus-'));
  const port = await freePort();
  writeFileSync(
    join(folder, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: '1s', external_labels: { device_id: '1', cluster: 'lab' } },
      scrape_configs: [{ job_name: 'own', static_configs: [{ targets: [`127.0.0.1:${port}`] }] }],
      remote_write: [
        {
          url: `${house.url}/api/v1/write`,
          basic_auth: { username: user, password },
          metadata_config: { send_interval: '1s' },
          queue_config: { batch_send_deadline: '500ms' },
        },
      ],
    }),
  );
  const options = [
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn(program, options, { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
}

async function query(
  house: IngestHouse,
  text: string,
): Promise<readonly { metric: Record<string, string>; value: [number, string] }[]> {
  const { data } = await house.json(`/prometheus/api/v1/query?query=${encodeURIComponent(text)}`);
  return data.result;
}

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + 45_000; Date.now() < deadline;) {
    const found = await look();
    if (found !== undefined) {
      return found;
    }
    await pause(200);
  }
  return assert.fail(`in time: ${what}`);
}

test(
  'a real Prometheus writes to us with the keys of an edge, and with a token',
  { timeout: 120_000 },
  async (t) => {
    const program = peer(t, 'prometheus');
    if (program === undefined) {
      return;
    }
    const house = await ingestHouse(t, { stores: ['metricsdb'] });
    await startPrometheus(t, program, house, ['svc_ak_seven', 'svc_sk_seven']);
    const [up] = await until('it reports itself', async () => {
      const found = await query(house, 'up{job="own",edge_id="7"}');
      return found.length > 0 ? found : undefined;
    });
    assert.deepEqual(
      [up!.metric['device_id'], up!.metric['edge_id'], up!.metric['cluster'], up!.value[1]],
      ['70', '7', 'lab', '1'],
      'the device is the one that the manager knows',
    );
    const samples = await until('its counters grow', async () => {
      const found = await query(
        house,
        'rate(prometheus_tsdb_head_samples_appended_total{edge_id="7"}[30s]) > 0',
      );
      return found.length > 0 ? found : undefined;
    });
    assert.ok(Number(samples[0]!.value[1]) > 0);
    await until('it tells what its metrics mean', async () => {
      const { data } = await house.json('/prometheus/api/v1/metadata?metric=prometheus_build_info');
      return data?.['prometheus_build_info'];
    });

    await startPrometheus(t, program, house, [
      'whoever',
      await house.apiToken('admin', ['ingest:push']),
    ]);
    const [other] = await until('the second one reports itself', async () => {
      const found = await query(house, 'up{job="own",edge_id=""}');
      return found.length > 0 ? found : undefined;
    });
    assert.equal(other!.metric['device_id'], undefined, 'a token speaks for no device');
    assert.equal(
      (await house.push('/api/v1/write', seven, 'application/x-protobuf', 'no snappy')).status,
      400,
    );
    assert.equal(
      (
        await house.push(
          '/api/v1/write',
          basic('svc_ak_seven', 'svc_sk_no'),
          'application/x-protobuf',
          'x',
        )
      ).status,
      401,
    );
  },
);
