import { type ChildProcess, spawn } from 'node:child_process';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { FakeModel } from '../../plugins/model/cli/fake-model/fake-model.ts';
import { say } from '../bench/tunnel-stand.ts';
import type { Outcome, Row } from '../exercise.ts';
import { startWholeHouse, type WholeHouse } from '../whole-house.ts';
import { Ledger, ledgerEnvironment, ledgerPassword, writing } from './ledger.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const everyMs = 5_000;
// On a box that others use as well, and this one gives way to all of them.
const startMs = 900_000;
const mebibyte = 1024 * 1024;

/** Bounds of what must not grow beyond noise, over the whole observed time. */
const bounds = { 'memory, MB': 24, 'open files': 12, threads: 2 } as const;
/** Besides what is written: rows, their indexes and the trail of who did it. */
const mostBytesPerRow = 8_192;

interface Figures {
  readonly at: number;
  readonly 'memory, MB': number;
  readonly 'open files': number;
  readonly threads: number;
  readonly 'database, MB': number;
  readonly rows: number;
}

const reads = [
  '/api/v1/devices?limit=50',
  '/api/v1/alerts/incidents?limit=50',
  '/prometheus/api/v1/query?query=sum(drill_heat)',
  '/loki/api/v1/query_range?query=%7Bapp%3D%22drill%22%7D&limit=100',
  '/api/v1/observability/dashboards/manager',
];

/**
 * Runs for hours with everything on: simulated hosts with metrics, logs and traces, alerts that
 * fire and resolve, chat with the scripted model, reads. After `warm` hours memory, open files and
 * threads stay constant, and the database grows only by what is written to it.
 */
export async function run({
  hours = 3,
  hosts = 20,
  warm = 0.3,
}: {
  readonly hours?: number;
  readonly hosts?: number;
  readonly warm?: number;
} = {}): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-soak-'));
  const [passwordFile, dataDir] = [join(folder, 'password'), join(folder, 'data')];
  writeFileSync(passwordFile, ledgerPassword, { mode: 0o600 });
  const model = await FakeModel.start();
  const environment = {
    ...ledgerEnvironment(passwordFile),
    SVC_LLM_COMPATIBLE_BASE_URL: model.url,
    SVC_LLM_DEFAULT_MODEL: 'compatible/demo',
  };
  const house = await startWholeHouse({ dataDir, environment, startMs });
  let fleet: ChildProcess | undefined;
  try {
    const ledger = new Ledger((path, init) => house.fetch(path, init));
    await ledger.furnish();
    fleet = await simulated(house, Number(hosts), join(folder, 'fleet'));
    const writes = writing(ledger, 500);
    const all: Figures[] = [];
    let [asked, refused] = [0, 0];
    const endMs = performance.now() + Number(hours) * 3_600_000;
    for (let signedIn = performance.now(); performance.now() < endMs; await pause(everyMs)) {
      for (const path of reads) {
        const answer = await house.fetch(path);
        await answer.arrayBuffer();
        asked++;
        refused += answer.ok ? 0 : 1;
      }
      if (performance.now() - signedIn > 600_000) {
        signedIn = performance.now();
        ledger.signOut();
      }
      all.push(look(house, dataDir, ledger));
      if (all.length % 60 === 0) {
        say(JSON.stringify(all.at(-1)));
      }
    }
    await writes.end();
    const lost = await ledger.lost();
    return {
      ...judged(all, Number(warm), lost.length === 0 && refused === 0),
      hours,
      hosts,
      reads: asked,
      'reads refused': refused,
      lost: lost.length,
      ...ledger.acknowledged,
    };
  } finally {
    fleet?.kill('SIGKILL');
    await house.end('SIGKILL');
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Hosts of their own process, so that what they take is not counted. */
async function simulated(house: WholeHouse, hosts: number, folder: string): Promise<ChildProcess> {
  const headers = { 'content-type': 'application/json' };
  const enrolment = await house.fetch('/api/v1/edges/enrolments', {
    method: 'POST',
    headers,
    body: JSON.stringify({ max_uses: hosts }),
  });
  const { token } = (await enrolment.json()) as { token: string };
  const options = [
    '--count',
    String(hosts),
    '--logs-per-second',
    '0.5',
    '--requests-per-minute',
    '30',
    '--interval',
    '10',
    '--ramp',
    '5',
  ];
  return spawn(
    process.execPath,
    [
      join(root, 'bin/svc'),
      'edge-sim',
      '--manager',
      house.url,
      '--token',
      token,
      ...options,
      '--data',
      folder,
    ],
    {
      cwd: root,
      stdio: 'ignore',
    },
  );
}

function look(house: WholeHouse, dataDir: string, ledger: Ledger): Figures {
  const status = readFileSync(`/proc/${house.pid}/status`, 'utf8');
  const number = (name: string): number =>
    Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1]);
  const { metrics: _metrics, logs: _logs, traces: _traces, ...rows } = ledger.acknowledged;
  return {
    at: performance.now(),
    'memory, MB': number('VmRSS') / 1_024,
    'open files': openFiles(house.pid),
    threads: number('Threads'),
    'database, MB': statSync(join(dataDir, 'svc.db')).size / mebibyte,
    rows: Object.values(rows).reduce((sum, count) => sum + count, 0),
  };
}

/**
 * Counts open files without store blocks, of which each keeps a bounded number open; includes those
 * that are deleted and still open.
 */
function openFiles(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => {
    try {
      return !/[/]blocks[/][^ ]*$/.test(readlinkSync(join(folder, name)));
    } catch {
      // Closed since it was listed.
      return false;
    }
  }).length;
}

function judged(
  all: readonly Figures[],
  warm: number,
  good: boolean,
): { readonly ok: boolean; readonly figures: readonly Row[] } {
  const kept = all.slice(Math.floor(all.length * warm));
  const hours = (kept.at(-1)!.at - kept[0]!.at) / 3_600_000;
  const grown = (figure: keyof Figures): number =>
    slope(kept.map((one) => [one.at, one[figure]] as const)) * (kept.at(-1)!.at - kept[0]!.at);
  const row = (figure: keyof Figures, bound: number): Row => ({
    figure,
    ok: grown(figure) <= bound,
    first: kept[0]![figure],
    last: kept.at(-1)![figure],
    most: Math.max(...kept.map((one) => one[figure])),
    'grown by': grown(figure),
    bound,
    'an hour': grown(figure) / hours,
  });
  const rows = Object.entries(bounds).map(([figure, bound]) => row(figure as keyof Figures, bound));
  // A file grows in steps, ahead of what it holds.
  const written = ((kept.at(-1)!.rows - kept[0]!.rows) * mostBytesPerRow) / mebibyte + 4;
  const figures = [...rows, row('database, MB', written)];
  return { ok: good && figures.every(({ ok }) => ok === true), figures };
}

/** Returns the slope of the best-fitting line. */
function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, value]) => value))];
  return (
    points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0) /
    Math.max(
      1e-9,
      points.reduce((sum, [at]) => sum + (at - x) ** 2, 0),
    )
  );
}
