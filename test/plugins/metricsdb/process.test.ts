import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { peer } from '../../peers.ts';
import { metricsHouse, type MetricsHouse, rows, until } from './house.ts';

const up = { __name__: 'up', instance: 'a', job: 'node' };

/** Tests the whole API against any driver. */
async function answersLikeAnyOther({ ingest, queries, get, call }: MetricsHouse): Promise<void> {
  const end = Math.floor(Date.now() / 1000) * 1000 - 5_000;
  const at = end / 1000;
  const count = async (query: string, time = end): Promise<number> => {
    const answer = await queries.instant(query, time);
    return answer.type === 'vector' ? (answer.values[0] ?? 0) : NaN;
  };
  assert.deepEqual(await ingest.write(rows(up, [1, 2, 3, 4], end)), {
    accepted: 4,
    rejected: 0,
    reasons: [],
  });
  const stamped = await ingest.push('exposition', Buffer.from('load{device_id="99"} 2\n'), {
    stamp: { device_id: '7' },
  });
  assert.equal(stamped.accepted, 1);
  await until(
    'what was written can be read',
    () => count('count_over_time(up[1m])'),
    (seen) => seen === 4,
  );
  await until(
    'and what was pushed, under the stamp of whoever sent it',
    () => count('load{device_id="7"}', Date.now() + 1_000),
    (seen) => seen === 2,
  );

  const range = await get('query_range', { query: 'up', start: at - 2, end: at, step: 1 });
  const values = [
    [at - 2, '2'],
    [at - 1, '3'],
    [at, '4'],
  ];
  assert.deepEqual(range.body.data, { resultType: 'matrix', result: [{ metric: up, values }] });
  const tool = await call('/api/v1/metricsdb/query_range', {
    query: 'up',
    start: at - 2,
    end: at,
    step: '1s',
  });
  assert.deepEqual(tool.body, {
    result_type: 'matrix',
    result: [{ metric: up, values }],
    warnings: [],
  });
  const matrix = await queries.range('sum by (job) (up)', { start: end - 2_000, end, step: 1_000 });
  assert.deepEqual([matrix.labels, [...matrix.values[0]!]], [[{ job: 'node' }], [2, 3, 4]]);
  assert.deepEqual((await get('label/job/values')).body.data, ['node']);
  assert.ok((await get('labels')).body.data.includes('device_id'));
  assert.deepEqual(await queries.series(['up'], { start: end - 10_000, end }), [up]);
  const other = await queries.instant('up', end, {
    enforce: [{ name: 'instance', op: '=', value: 'b' }],
  });
  assert.ok(
    other.type === 'vector' && other.values.length === 0,
    'what is enforced holds there, too',
  );
  const broken = await get('query', { query: 'up{' });
  assert.ok([400, 422].includes(broken.status), broken.text);
  await assert.rejects(queries.instant('up{', end), { code: 'invalid_argument' });

  assert.equal(await ingest.end([{ name: 'job', op: '=', value: 'node' }], end + 1_000), 1);
  await until(
    'an ended series is gone',
    () => queries.instant('up', end + 4_000),
    (seen) => seen.type === 'vector' && seen.values.length === 0,
  );
}

const programs = ['prometheus', 'victoria-metrics'] as const;

for (const program of programs) {
  test(`${program} is run on the loopback, asked, started anew and ended with the plugin`, async (t) => {
    if (peer(t, program) === undefined) {
      return;
    }
    const parts = await metricsHouse(t, { environment: { SVC_OUTBOUND_ALLOW_PRIVATE: '' } });
    await parts.set('process_binary', program);
    const { status, body } = await parts.call('/api/v1/metricsdb/launch', { driver: 'process' });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.status, body.driver], ['running', 'process']);
    assert.match(body.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.ok(readFileSync(`/proc/${body.pid}/cmdline`, 'utf8').includes(program));
    await answersLikeAnyOther(parts);

    const again = await parts.call('/api/v1/metricsdb/launch', {});
    assert.notEqual(again.body.pid, body.pid);
    assert.equal(running(body.pid), false);
    const kept = await until(
      'its samples are there',
      () => parts.queries.instant('count_over_time(up[10m])', Date.now()),
      (seen) => seen.type === 'vector' && seen.values.length === 1,
    );
    assert.ok(kept.type === 'vector' && kept.values[0] === 4);

    await parts.set('retention', '7d');
    await parts.set('lookback', '3m');
    await parts.set('max_samples', 1_000_000);
    await parts.set('concurrency', 3);
    const command = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    const retention =
      program === 'prometheus' ? '--storage.tsdb.retention.time=7d' : '-retentionPeriod=168h';
    const changed = await until(
      'it runs under the settings in force',
      async () => (await parts.call('/api/v1/metricsdb/launch', {})).body,
      ({ pid }) =>
        [retention, '=3m', '=1000000', '=3'].every((part) => command(pid).includes(part)),
    );
    assert.equal(running(again.body.pid), false);

    await parts.house.reload('programs');
    await until(
      'another generation of programs runs it anew',
      () => parts.queries.status(),
      ({ ok }) => ok && !running(changed.pid),
    );
    await parts.house.host.disable('programs');
    await until(
      'it says what it needs',
      () => parts.queries.status(),
      ({ ok, detail }) => !ok && /needs the programs plugin/.test(detail ?? ''),
    );
    await parts.house.host.enable('programs');
    await until(
      'it runs again by itself',
      () => parts.queries.status(),
      ({ ok }) => ok,
    );
    const back = (await parts.call('/api/v1/metricsdb/launch', {})).body;
    process.kill(back.pid, 'SIGKILL');
    await until(
      'one that dies is started again',
      () => parts.queries.status(),
      ({ ok }) => ok && !running(back.pid),
    );
    await parts.set('driver', 'embedded');
    await until(
      'no program is left when another driver is set',
      async () =>
        parts.house.host
          .explain('metricsdb')
          .effects!.children.filter(({ label }) => label.startsWith('program ')).length,
      (count) => count === 0,
    );
    await until(
      'the other driver is in force',
      () => parts.queries.status(),
      ({ driver }) => driver === 'embedded',
    );
  });

  test(`${program} elsewhere is asked and written to like the store of our own`, async (t) => {
    const file = peer(t, program);
    if (file === undefined) {
      return;
    }
    const url = await server(t, program, file);
    const parts = await metricsHouse(t, { environment: { SVC_METRICSDB_URL: url } });
    assert.equal((await parts.queries.status()).driver, 'remote');
    await answersLikeAnyOther(parts);
    const { body } = await parts.call('/api/v1/integrations/metricsdb/test', {});
    assert.deepEqual(
      [
        body.ok,
        body.code,
        /^(?:Prometheus|VictoriaMetrics) .*answers; a sample was written(?: and read|; the server does not show it yet)$/.test(
          body.detail,
        ),
      ],
      [true, 'ok', true],
    );
    if (program === 'prometheus') {
      assert.match(body.version, /^2\./);
      assert.match((await parts.get('status/buildinfo')).body.data.version, /^2\./);
    }
    const pages = await parts.get('status/runtimeinfo');
    assert.equal(
      pages.body.data.CWD,
      undefined,
      'folders of the other server are nobody’s business',
    );
  });
}

const running = (pid: number): boolean => {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
};

/** A server of somebody else. */
async function server(
  t: TestContext,
  program: (typeof programs)[number],
  file: string,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-peer-'));
  const port = await freePort();
  const config = join(folder, 'prometheus.yml');
  writeFileSync(config, 'global: {}\n');
  const args =
    program === 'prometheus'
      ? [
          `--config.file=${config}`,
          `--storage.tsdb.path=${folder}`,
          `--web.listen-address=127.0.0.1:${port}`,
          '--web.enable-remote-write-receiver',
        ]
      : [
          `-storageDataPath=${folder}`,
          `-httpListenAddr=127.0.0.1:${port}`,
          '-search.latencyOffset=0s',
          '-search.maxStalenessInterval=5m',
        ];
  const child = spawn(file, args, { stdio: 'ignore' });
  t.after(async () => {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${port}`;
  await until(
    `${program} is ready`,
    () =>
      fetch(`${url}/api/v1/query?query=1`).then(
        ({ ok }) => ok,
        () => false,
      ),
    (ok) => ok,
  );
  return url;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}
