import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { peer } from '../../peers.ts';
import { ingestHouse } from './house.ts';
import { freePort } from './nginx.ts';

interface Counted {
  readonly name: string;
  readonly value: number;
}

/** Runs a Prometheus that scrapes itself once a second and writes to `url`; returns its address. */
async function startPrometheus(
  t: TestContext,
  program: string,
  url: string,
  token: string,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-prometheus-'));
  const own = `127.0.0.1:${await freePort()}`;
  const config = {
    global: { scrape_interval: '1s' },
    scrape_configs: [{ job_name: 'own', static_configs: [{ targets: [own] }] }],
    remote_write: [
      {
        url: `${url}/api/v1/write`,
        authorization: { credentials: token },
        queue_config: { batch_send_deadline: '500ms' },
      },
    ],
  };
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const child = spawn(
    program,
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=${own}`,
    ],
    { stdio: 'ignore' },
  );
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  return `http://${own}`;
}

test(
  'beside a greedy sender a real Prometheus stores all its series, and counts them as we do',
  { timeout: 120_000 },
  async (t) => {
    const program = peer(t, 'prometheus');
    if (program === undefined) {
      return;
    }
    const house = await ingestHouse(t, {
      plugins: ['iam', 'session', 'ingest', 'metricsdb', 'setting'],
    });
    await house.json('/api/v1/system-settings/metricsdb/max_series', {
      method: 'PUT',
      body: JSON.stringify({ value: 20_000 }),
    });
    const greedy = await house.apiToken('admin', ['ingest:push']);
    const flood = Array.from({ length: 40_000 }, (_, i) => `boom{n="${i}"} 1\n`).join('');
    const told = await house.push(
      '/api/v1/import/prometheus',
      `Bearer ${greedy}`,
      'text/plain',
      flood,
    );
    assert.equal(told.status, 400);
    assert.match(
      await told.text(),
      /^28000 samples were rejected: this sender \(token \d+ of \S+@\S+\) has 12000 series of boom\{\}, the share of one metric/,
    );

    const token = await house.apiToken('admin', ['ingest:push']);
    const prometheus = await startPrometheus(t, program, house.url, token);
    const read = async (url: string) =>
      (await ((await fetch(url)).json() as Promise<{ data: Record<string, unknown> }>)).data;
    const ours = async () =>
      (await house.json('/prometheus/api/v1/status/tsdb?limit=2000')).data as Record<
        string,
        unknown
      >;
    const lists = [
      'seriesCountByMetricName',
      'labelValueCountByLabelName',
      'memoryInBytesByLabelName',
    ];
    const same = async (): Promise<string> => {
      const [theirs, mine] = [await read(`${prometheus}/api/v1/status/tsdb`), await ours()];
      const { numSeries } = theirs['headStats'] as { numSeries: number };
      const differing = lists.flatMap((list) =>
        (theirs[list] as Counted[]).filter(
          ({ name, value }) =>
            name !== '__name__' &&
            !(mine[list] as Counted[]).some((one) => one.name === name && one.value === value),
        ),
      );
      const kept = (mine['seriesCountBySender'] as Counted[]).find(
        ({ name }) => name !== 'svc' && !name.startsWith('token 1 '),
      );
      return differing.length === 0 && numSeries > 300 && kept?.value === numSeries
        ? ''
        : JSON.stringify([numSeries, kept, differing]);
    };
    let difference = 'nothing yet';
    for (const until = Date.now() + 60_000; difference !== '' && Date.now() < until;) {
      await pause(1_000);
      difference = await same().catch(String);
    }
    assert.equal(difference, '');
  },
);
