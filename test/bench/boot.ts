import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import type { Outcome, Row } from '../exercise.ts';

const launcher = fileURLToPath(new URL('../../bin/svc', import.meta.url));
const built = fileURLToPath(new URL('../../dist/svc', import.meta.url));
const marking = fileURLToPath(new URL('./boot-marks.mjs', import.meta.url));
const goals = { sourceMs: 1_000, binaryMs: 500, idleMb: 180, idleCpuPercent: 1 };
/** Time until the work after the first requests is done. */
const settleMs = 15_000;

interface Mark {
  readonly step: string;
  readonly atMs: number;
  readonly cpuMs: number;
}

interface Boot {
  /**
   * Time from the start of the process until /readyz answered 200; below, the CPU of all its
   * threads until then.
   */
  readonly readyMs: number;
  readonly cpuMs: number;
  readonly marks: readonly Mark[];
  readonly plugins: readonly Row[];
  readonly idle: { readonly mb: number; readonly cpuPercent: number } | undefined;
}

/**
 * Starts the product with every shipped plugin and an agent of its own machine, first on an empty data folder, and tells where the
 * time goes. On a machine that does other work too, CPU figures are the ones to compare. `--binary` is what `npm run build` has made.
 */
export async function run({
  boots = 7,
  binary = built,
  idleSeconds = 20,
}: {
  boots?: number;
  binary?: string;
  idleSeconds?: number;
}): Promise<Outcome> {
  const [first, ...source] = await inNewFolder((dataDir) =>
    bootsOf([process.execPath, '--import', marking, launcher], dataDir, boots, idleSeconds),
  );
  const single = existsSync(binary)
    ? (await inNewFolder((dataDir) => bootsOf([binary], dataDir, boots, 0))).slice(1)
    : [];
  const best = (of: readonly Boot[]): number => Math.min(...of.map(({ readyMs }) => readyMs));
  const typical = middle(source, ({ cpuMs }) => cpuMs);
  const { idle } = source.at(-1)!;
  return {
    ok:
      best(source) < goals.sourceMs &&
      (single.length === 0 || best(single) < goals.binaryMs) &&
      isIdle(idle!),
    boots,
    first_ready_ms: first!.readyMs,
    ...figures('source', source),
    ...figures('binary', single),
    idle_mb: idle!.mb,
    idle_cpu_percent: idle!.cpuPercent,
    steps: stepsOf(typical),
    plugins: typical.plugins,
  };
}

const isIdle = ({ mb, cpuPercent }: NonNullable<Boot['idle']>): boolean =>
  mb < goals.idleMb && cpuPercent < goals.idleCpuPercent;

function figures(name: string, boots: readonly Boot[]): Row {
  if (boots.length === 0) {
    return {};
  }
  return {
    [`${name}_ready_ms`]: middle(boots, ({ readyMs }) => readyMs).readyMs,
    [`${name}_best_ready_ms`]: Math.min(...boots.map(({ readyMs }) => readyMs)),
    [`${name}_cpu_ms`]: middle(boots, ({ cpuMs }) => cpuMs).cpuMs,
    [`${name}_best_cpu_ms`]: Math.min(...boots.map(({ cpuMs }) => cpuMs)),
  };
}

const middle = (boots: readonly Boot[], pick: (boot: Boot) => number): Boot =>
  [...boots].sort((a, b) => pick(a) - pick(b))[Math.floor(boots.length / 2)]!;

/** Returns the duration of each step, by the clock and by CPU; threads work in parallel. */
function stepsOf({ marks, readyMs, cpuMs }: Boot): Row[] {
  const all = [...marks, { step: 'first answer', atMs: readyMs, cpuMs }];
  return all.map(({ step, atMs, cpuMs: cpu }, index) => {
    const before = all[index - 1] ?? { atMs: 0, cpuMs: 0 };
    return { step, ms: Math.round(atMs - before.atMs), cpu_ms: Math.round(cpu - before.cpuMs) };
  });
}

async function inNewFolder<R>(work: (dataDir: string) => Promise<R>): Promise<R> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-boot-'));
  try {
    return await work(dataDir);
  } finally {
    rmSync(dataDir, { recursive: true });
  }
}

async function bootsOf(
  command: readonly string[],
  dataDir: string,
  boots: number,
  idleSeconds: number,
): Promise<Boot[]> {
  const measured: Boot[] = [];
  for (let boot = 1; boot <= boots; boot++) {
    measured.push(await bootOnce(command, dataDir, boot === boots ? idleSeconds : 0));
  }
  return measured;
}

async function bootOnce(
  [program, ...args]: readonly string[],
  dataDir: string,
  idleSeconds: number,
): Promise<Boot> {
  const began = performance.now();
  const marksFile = join(dataDir, 'boot-marks.json');
  const child = spawn(program!, [...args, 'serve'], {
    env: {
      PATH: process.env['PATH'],
      HOME: dataDir,
      SVC_DATA_DIR: dataDir,
      SVC_HTTP_ADDR: '127.0.0.1:0',
      SVC_LOG_LEVEL: 'error',
      BOOT_MARKS: marksFile,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let told = '';
  child.stderr.on('data', (chunk) => (told += String(chunk)));
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const pid = child.pid!;
  let measured: Omit<Boot, 'marks'>;
  try {
    const url = await untilReady(
      dataDir,
      pid,
      () => child.exitCode === null && performance.now() - began < 60_000,
    ).catch(() => {
      throw new Error(`svc did not become ready: ${told}`);
    });
    const [readyMs, cpuMs] = [Math.round(performance.now() - began), cpuOf(pid)];
    const plugins = await pluginRows(url, dataDir);
    measured = {
      readyMs,
      cpuMs,
      plugins,
      idle: idleSeconds > 0 ? await idleOf(pid, idleSeconds) : undefined,
    };
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
  return {
    ...measured,
    marks: existsSync(marksFile) ? (JSON.parse(readFileSync(marksFile, 'utf8')) as Mark[]) : [],
  };
}

async function untilReady(dataDir: string, pid: number, goesOn: () => boolean): Promise<string> {
  for (; goesOn(); await pause(2)) {
    try {
      const running = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as {
        pid: number;
        url: string;
      };
      if (running.pid === pid && (await fetch(`${running.url}/readyz`)).ok) {
        return running.url;
      }
    } catch {
      // Not there yet.
    }
  }
  throw new Error('not ready');
}

/** Returns the start time of each plugin, by stage in milliseconds, slowest first. */
async function pluginRows(url: string, dataDir: string): Promise<Row[]> {
  const headers = {
    authorization: `Bearer ${readFileSync(join(dataDir, 'keys', 'operator.token'), 'utf8').trim()}`,
  };
  const get = async <T>(path: string): Promise<T> =>
    (await (await fetch(`${url}${path}`, { headers })).json()) as T;
  const { items } = await get<{ items: { id: string }[] }>('/api/v1/plugins?limit=200');
  const rows = await Promise.all(
    items.map(async ({ id }) => {
      const { last_attempt } = await get<{
        last_attempt: { timings_ms: Record<string, number> } | null;
      }>(`/api/v1/plugins/${id}`);
      const stages = last_attempt?.timings_ms ?? {};
      return {
        plugin: id,
        total: Math.round(Object.values(stages).reduce((sum, ms) => sum + ms, 0) * 10) / 10,
        ...stages,
      };
    }),
  );
  return rows.sort((a, b) => b.total - a.total);
}

async function idleOf(pid: number, seconds: number): Promise<Boot['idle']> {
  await pause(settleMs);
  const before = cpuOf(pid);
  await pause(seconds * 1_000);
  const mb = Math.round(
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
  );
  return { mb, cpuPercent: (cpuOf(pid) - before) / (seconds * 10) };
}

/** Milliseconds of CPU that a process has had; Linux counts in hundredths of a second. */
function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}
