import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { MachineFiles } from 'svc/probe';

import { scrapedSamples } from '../../../plugins/edge-hostmetrics/scrape/scraped-samples.ts';
import type { ProcessSpec } from '../../../plugins/edge-procmetrics/spec.ts';
import { Watch } from '../../../plugins/edge-procmetrics/watch.ts';
import { peer } from '../../peers.ts';
import { decoded, keyOf, specOf } from '../edge-hostmetrics/box.ts';

/**
 * Metrics from the memory of each process, or of each thread; and reads that the exporter starts
 * counting later.
 */
const theirs = /proportional|_thread_|threads_wchan/;

test(
  'every metric of a group that we share with process-exporter has its name, its labels and its value',
  { timeout: 60_000 },
  async (t) => {
    const program = peer(t, 'prometheus-process-exporter');
    if (program === undefined) {
      return;
    }
    const folder = mkdtempSync(join(tmpdir(), 'svc-group-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const [name, port] = ['svc-idle-group', await freePort()];
    copyFileSync('/bin/sleep', join(folder, name));
    for (let i = 0; i < 3; i++) {
      running(t, spawn(join(folder, name), ['60'], { stdio: 'ignore' }));
    }
    running(
      t,
      spawn(
        program,
        [`-web.listen-address=127.0.0.1:${port}`, `-procnames=${name}`, '-threads=false'],
        { stdio: 'ignore' },
      ),
    );
    const watch = new Watch(
      specOf<ProcessSpec>('edge-procmetrics', {
        groups: [{ name: '{comm}', comm: name }],
        others: 'none',
      }),
      {
        files: new MachineFiles(),
        clock: { now: Date.now, monotonic: () => performance.now() },
        after: (ms, work) => {
          const timer = setTimeout(work, ms);
          return () => clearTimeout(timer);
        },
      },
    );
    const exporter = await scrape(`http://127.0.0.1:${port}/metrics`);
    const ours = new Map(
      [...decoded(await watch.measure())].map(([key, { value }]) => [
        key.replace(/instance="[^"]*",job="process",?/, '').replace(',}', '}'),
        value,
      ]),
    );

    const wrong = [...exporter].filter(
      ([key, value]) =>
        !theirs.test(key) &&
        !(Math.abs((ours.get(key) ?? NaN) - value) <= Math.max(1, value / 100)),
    );
    assert.deepEqual(
      wrong.map(([key, value]) => `${key}: ${value}, and ours ${ours.get(key)}`),
      [],
    );
    assert.deepEqual(
      [...ours.keys()].filter((key) => !exporter.has(key)),
      [],
    );
    assert.ok(ours.size >= 20, `${ours.size} series`);
  },
);

/** Answered once it has found the group. */
async function scrape(url: string): Promise<Map<string, number>> {
  for (const deadline = Date.now() + 20_000; ; await pause(100)) {
    const text = await fetch(url).then(
      (reply) => reply.text(),
      () => '',
    );
    if (/num_procs\{[^}]*\} 3\n/.test(text)) {
      const samples = scrapedSamples(text, { maxSeries: 10_000, openMetrics: false }).filter(
        (sample) => sample.name.startsWith('namedprocess_namegroup_'),
      );
      return new Map(
        samples.map(({ name, labels, value }) => [
          keyOf([['__name__', name], ...pairs(labels)]),
          value,
        ]),
      );
    }
    assert.ok(Date.now() < deadline, `the exporter does not show the group: ${text.slice(0, 200)}`);
  }
}

const pairs = (flat: readonly string[]): [string, string][] =>
  flat
    .flatMap((word, i) => (i % 2 === 0 ? [[word, flat[i + 1]!] as [string, string]] : []))
    .sort(([a], [b]) => (a < b ? -1 : 1));

function running(t: TestContext, child: ChildProcess): void {
  t.after(async () => {
    child.kill('SIGKILL');
    await (child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined);
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
