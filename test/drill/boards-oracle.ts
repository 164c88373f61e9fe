import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

import type { SampleRow } from 'svc/contracts/metricsdb';

import { findPeer } from '../peers.ts';
import { freePort } from '../plugins/ingest/nginx.ts';

const run = promisify(execFile);

/** Debian's Prometheus with the same samples as svc: it says which queries have an answer. */
export interface Oracle {
  /** Whether a query has an answer anywhere in the window. */
  answers(query: string, window: { readonly from: number; readonly to: number }): Promise<boolean>;
  stop(): Promise<void>;
}

export async function startOracle(samples: readonly SampleRow[]): Promise<Oracle> {
  const [prometheus, promtool] = [findPeer('prometheus'), findPeer('promtool')];
  if (prometheus === undefined || promtool === undefined) {
    throw new Error(
      'prometheus and promtool say which panels have data: apt-get install prometheus',
    );
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-boards-'));
  writeFileSync(join(folder, 'samples.om'), openMetrics(samples));
  writeFileSync(join(folder, 'prometheus.yml'), '{}');
  await run(promtool, [
    ...['tsdb', 'create-blocks-from', 'openmetrics'],
    ...[join(folder, 'samples.om'), join(folder, 'data')],
  ]);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(
    prometheus,
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  const stop = async (): Promise<void> => {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (let tries = 0; ; tries += 1) {
    const answer = await fetch(`${url}/-/ready`).catch(() => undefined);
    if (answer?.ok === true) {
      break;
    }
    if (tries === 300) {
      await stop();
      throw new Error('prometheus is not ready after 30 s');
    }
    await pause(100);
  }
  return {
    async answers(query, { from, to }) {
      const body = new URLSearchParams({
        query,
        start: String(from / 1_000),
        end: String(to / 1_000),
        step: '15',
      });
      const answer = await fetch(`${url}/api/v1/query_range`, { method: 'POST', body });
      const { data } = (await answer.json()) as {
        data?: { result: readonly { values: readonly [number, string][] }[] };
      };
      return data?.result.some(({ values }) => values.length > 0) === true;
    },
    stop,
  };
}

/** Samples in the text form of OpenMetrics, one metric after the other. */
function openMetrics(samples: readonly SampleRow[]): string {
  const lines = samples.map(({ labels: { __name__: name, ...labels }, time, value }) => {
    const pairs = Object.entries(labels).map(([key, text]) => `${key}=${JSON.stringify(text)}`);
    return [name!, `${name}{${pairs.join(',')}} ${value} ${time / 1_000}`] as const;
  });
  return `${lines
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, line]) => line)
    .join('\n')}\n# EOF\n`;
}
