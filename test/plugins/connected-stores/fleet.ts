import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { freePort } from '../ingest/nginx.ts';

/** Real node_exporters on this machine, each a host of its own by a label of its target. */
export interface Fleet {
  readonly targets: readonly { readonly host: string; readonly port: number }[];
  /** Writes what the textfile collector of a host shows from its next scrape on. */
  say(host: string, metrics: string): void;
  stop(host: string): Promise<void>;
}

const collectors: Readonly<Record<string, readonly string[]>> = {
  'web-1': ['uname', 'loadavg', 'cpu', 'meminfo', 'filesystem', 'stat', 'time'],
  // The machine below is as busy as its tests make it: what is to be quiet does not measure it.
  'web-2': ['uname', 'textfile'],
  'db-1': ['uname', 'loadavg'],
};

export async function startProgram(
  t: TestContext,
  program: string,
  options: readonly string[],
  url: string,
): Promise<ChildProcess> {
  const child = spawn(program, options, { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await until(`${program} answers`, async () =>
    (await fetch(url).catch(() => undefined))?.ok === true ? true : undefined,
  );
  return child;
}

export async function startFleet(t: TestContext, program: string): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-exporters-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const children = new Map<string, ChildProcess>();
  const targets = await Promise.all(
    Object.entries(collectors).map(async ([host, names]) => {
      const port = await freePort();
      mkdirSync(join(folder, host));
      children.set(
        host,
        await startProgram(
          t,
          program,
          [
            `--web.listen-address=127.0.0.1:${port}`,
            '--collector.disable-defaults',
            `--collector.textfile.directory=${join(folder, host)}`,
            ...names.map((name) => `--collector.${name}`),
          ],
          `http://127.0.0.1:${port}/metrics`,
        ),
      );
      return { host, port };
    }),
  );
  return {
    targets,
    say: (host, metrics) => writeFileSync(join(folder, host, 'said.prom'), metrics),
    async stop(host) {
      const child = children.get(host)!;
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.kill('SIGTERM');
      await ended;
    },
  };
}

const scrapeOf = ({ targets }: Fleet): object => ({
  global: { scrape_interval: '1s' },
  scrape_configs: [
    {
      job_name: 'node',
      static_configs: targets.map(({ host, port }) => ({
        targets: [`127.0.0.1:${port}`],
        labels: { host },
      })),
    },
  ],
});

/** Starts Debian's Prometheus as it comes, which takes no samples. */
export async function startPrometheus(
  t: TestContext,
  program: string,
  fleet: Fleet,
  options: readonly string[] = [],
): Promise<{ url: string; child: ChildProcess }> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-prometheus-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(scrapeOf(fleet)));
  const child = await startProgram(
    t,
    program,
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      ...options,
    ],
    `${url}/-/ready`,
  );
  return { url, child };
}

/** Starts VictoriaMetrics, which scrapes the same hosts. */
export async function startVictoria(
  t: TestContext,
  program: string,
  fleet: Fleet,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-victoria-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const port = await freePort();
  writeFileSync(join(folder, 'scrape.yml'), JSON.stringify(scrapeOf(fleet)));
  await startProgram(
    t,
    program,
    [
      `-httpListenAddr=127.0.0.1:${port}`,
      `-storageDataPath=${folder}/data`,
      `-promscrape.config=${folder}/scrape.yml`,
      '-search.latencyOffset=0s',
      '-memory.allowedBytes=64MB',
    ],
    `http://127.0.0.1:${port}/health`,
  );
  return `http://127.0.0.1:${port}`;
}

/** Resolves once a server has these many targets of the fleet with a rate, or without. */
export const scraped = (url: string, query: string, count: number): Promise<true> =>
  until(`${count} series of ${query}`, async () => {
    const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`);
    const { data } = (await answer.json()) as { data: { result: readonly unknown[] } };
    return data.result.length === count ? true : undefined;
  });

export async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = Date.now() + 45_000; Date.now() < deadline;) {
    const found = await look();
    if (found !== undefined) {
      return found;
    }
    await pause(100);
  }
  return assert.fail(`in time: ${what}`);
}
