import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import Database from 'better-sqlite3';
import { startTestHost, type TestHost } from 'svc/testing';

import { fill } from './fill.ts';

const stores = { metrics: 'metricsdb', logs: 'logs', traces: 'traces' } as const;

const start = (t: TestContext, dataDir: string): Promise<TestHost> =>
  startTestHost(t, {
    plugins: ['metricsdb', 'logs', 'traces', 'ingest', 'stores', 'host'],
    dataDir,
  });

interface Report {
  readonly damage: readonly string[];
  readonly mended: readonly string[];
  readonly removed: readonly string[];
}

async function care(house: TestHost, what: 'check' | 'mend', accept = false): Promise<Report> {
  const answer = await house.fetch(`/api/v1/stores/${what}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    ...(what === 'mend' && { body: JSON.stringify({ accept_loss: accept }) }),
  });
  const text = await answer.text();
  assert.equal(answer.status, 200, text);
  return JSON.parse(text) as Report;
}

/** What is answered of each store, with its warnings. */
async function held(house: TestHost, now: number): Promise<string[]> {
  const range = `start=${Math.floor(now / 1_000) - 600}&end=${Math.floor(now / 1_000) + 60}`;
  const paths = [
    `/prometheus/api/v1/query?query=${encodeURIComponent('count(count_over_time(m[5m]))')}`,
    `/loki/api/v1/query?query=${encodeURIComponent('sum(count_over_time({app="t"}[5m]))')}`,
    `/tempo/api/search?${range}&q=${encodeURIComponent('{ }')}`,
  ];
  return await Promise.all(
    paths.map(async (path) => {
      const body = (await (await house.fetch(path)).json()) as {
        readonly data?: { readonly result: readonly { readonly value: readonly unknown[] }[] };
        readonly traces?: readonly unknown[];
        readonly warnings?: readonly string[];
      };
      const count = body.traces?.length ?? body.data?.result[0]?.value[1] ?? 0;
      return `${Number(count)} ${body.warnings?.join() ?? ''}`.trim();
    }),
  );
}

const segmentOf = (dataDir: string, plugin: string): string => {
  const folder = join(dataDir, 'plugins', plugin, 'wal');
  return join(folder, readdirSync(folder).sort()[0]!);
};

test('a segment of the log that goes missing is told of, live and after a stop, and mended from memory while it can be', async (t) => {
  const now = Date.now();
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-wal-'));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const live = await start(t, dataDir);
  await fill(live, now);
  const whole = await held(live, now);
  assert.deepEqual(whole, ['3', '3', '3']);
  assert.deepEqual((await care(live, 'check')).damage, []);

  Object.values(stores).forEach((plugin) => rmSync(segmentOf(dataDir, plugin)));
  const { damage } = await care(live, 'check');
  assert.deepEqual(
    damage.map((text) => text.replace(/:? it held.*?;/, ';')),
    Object.keys(stores).map(
      (store) =>
        `${store}: 0000000001.wal: missing; its records are in memory: run "svc store mend" before svc stops`,
    ),
  );
  const ready = await (await live.fetch('/readyz')).text();
  assert.match(ready, /degraded/);
  assert.doesNotMatch(ready, /\.wal/, 'strangers may ask');
  const health = await (await live.fetch('/api/v1/health')).text();
  assert.equal(health.match(/0000000001\.wal: missing/g)?.length, 3, health);
  assert.deepEqual(await held(live, now), whole, 'memory has it all');
  const mended = await care(live, 'mend');
  assert.deepEqual(
    [mended.damage, mended.mended],
    [[], Object.keys(stores).map((store) => `${store}: 0000000001.wal`)],
  );
  assert.deepEqual((await care(live, 'check')).damage, []);

  const catalogue = new Database(join(dataDir, 'plugins', 'logs', 'catalogue.db'));
  catalogue.exec('update blocks set rows = rows + 1');
  catalogue.close();
  assert.match(
    (await care(live, 'check')).damage.join(),
    /^logs: the catalogue of blocks, which m/,
  );
  const rebuilt = await care(live, 'mend');
  assert.deepEqual([rebuilt.damage, rebuilt.mended], [[], ['logs: the catalogue of blocks']]);
  assert.deepEqual(await held(live, now), whole);

  await fill(live, now);
  await live.stop();
  for (const plugin of Object.values(stores)) {
    const path = segmentOf(dataDir, plugin);
    if (plugin === 'logs') {
      rmSync(path);
      rmSync(join(dataDir, 'plugins', plugin, 'wal.segments'));
    } else {
      truncateSync(path, statSync(path).size - 12);
    }
  }
  const damaged = await start(t, dataDir);
  const told = (await care(damaged, 'check')).damage;
  assert.deepEqual(
    told.map((text) => /^(\w+): \d{10}\.wal: (missing|cut off)/.exec(text)?.slice(1)),
    [
      ['metrics', 'cut off'],
      ['logs', 'missing'],
      ['traces', 'cut off'],
    ],
    told.join('\n'),
  );
  const answers = await held(damaged, now);
  assert.ok(
    answers.every((answer) => /\d{10}\.wal: /.test(answer)),
    answers.join('\n'),
  );
  assert.deepEqual((await care(damaged, 'mend')).damage, told, 'nothing silences it');
  const accepted = await care(damaged, 'mend', true);
  assert.deepEqual([accepted.damage, accepted.removed.length], [[], 3]);
  await damaged.stop();
  const after = await start(t, dataDir);
  assert.deepEqual((await care(after, 'check')).damage, []);
  assert.ok((await held(after, now)).every((answer) => /^\d+$/.test(answer)));
});
