import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { youngMb } from '../../core/isolate/threads.ts';

/** Flag that gives new objects as much memory as in the plugin's thread. */
const asInThread = `--max-semi-space-size=${youngMb / 3}`;
const child = fileURLToPath(new URL('./metrics-child.ts', import.meta.url));

/** One engine under measurement, as a process of its own. */
export interface Engine {
  readonly name: string;
  readonly url: string;
  readonly process: ChildProcess;
  /** Bytes per sample on disk, of what is in its final form. */
  bytesPerSample(samples: number): Promise<number | undefined>;
  stop(): Promise<void>;
}

/** Ours can be killed and started on the same folder. */
export interface OwnEngine extends Engine {
  /** Answers with how long it took until it could be asked again. */
  again(): Promise<number>;
}

/**
 * Starts our engine as it is shipped: one JavaScript text, without the compiler that a checkout
 * runs with.
 */
export async function startOurs(folder: string): Promise<OwnEngine> {
  const program = join(folder, 'child.cjs');
  await build({
    entryPoints: [child],
    outfile: program,
    bundle: true,
    external: ['better-sqlite3'],
    logLevel: 'error',
    platform: 'node',
    target: 'node20',
    format: 'cjs',
  });
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    NODE_PATH: fileURLToPath(new URL('../../node_modules', import.meta.url)),
  };
  const launch = async (): Promise<{ process: ChildProcess; url: string }> => {
    const running = spawn(process.execPath, [asInThread, program, join(folder, 'data')], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env,
    });
    const [port] = (await once(createInterface({ input: running.stdout }), 'line')) as [string];
    return { process: running, url: `http://127.0.0.1:${port}` };
  };
  let now = await launch();
  return {
    name: 'svc',
    get url() {
      return now.url;
    },
    get process() {
      return now.process;
    },
    async bytesPerSample() {
      const { store } = (await (await fetch(`${now.url}/maintain`)).json()) as {
        store: { blockBytes: number; blockSamples: number };
      };
      return store.blockSamples === 0 ? undefined : store.blockBytes / store.blockSamples;
    },
    stop: () => stop(now.process),
    async again() {
      await stop(now.process);
      const began = performance.now();
      now = await launch();
      return performance.now() - began;
    },
  };
}

export async function startPrometheus(binary: string, folder: string): Promise<Engine> {
  const config = join(folder, 'prometheus.yml');
  const { writeFileSync } = await import('node:fs');
  writeFileSync(config, 'global: {}\n');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const running = spawn(
    binary,
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      '--web.enable-remote-write-receiver',
      `--web.listen-address=127.0.0.1:${port}`,
      '--storage.tsdb.retention.time=30d',
      '--log.level=error',
    ],
    { stdio: 'ignore' },
  );
  await answers(`${url}/-/ready`);
  return {
    name: 'Prometheus',
    url,
    process: running,
    async bytesPerSample() {
      const data = join(folder, 'data');
      let bytes = 0;
      let samples = 0;
      for (const name of readdirSync(data)) {
        try {
          const { stats } = JSON.parse(readFileSync(join(data, name, 'meta.json'), 'utf8')) as {
            stats: { numSamples: number };
          };
          bytes += sizeOf(join(data, name));
          samples += stats.numSamples;
        } catch {
          // No block: the head, the log, a lock.
        }
      }
      return samples === 0 ? undefined : bytes / samples;
    },
    stop: () => stop(running),
  };
}

export async function startVictoria(binary: string, folder: string): Promise<Engine> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const running = spawn(
    binary,
    [
      `-storageDataPath=${join(folder, 'data')}`,
      `-httpListenAddr=127.0.0.1:${port}`,
      '-retentionPeriod=12',
      '-loggerLevel=ERROR',
      '-search.latencyOffset=0s',
    ],
    { stdio: 'ignore' },
  );
  await answers(`${url}/health`);
  return {
    name: 'VictoriaMetrics',
    url,
    process: running,
    async bytesPerSample(samples) {
      await fetch(`${url}/internal/force_flush`);
      await fetch(`${url}/internal/force_merge`);
      await pause(5_000);
      return sizeOf(join(folder, 'data')) / samples;
    },
    stop: () => stop(running),
  };
}

/** Seconds of processor time that the process has used. */
export function cpuSeconds({ pid }: Pick<ChildProcess, 'pid'>): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

export function residentMiB({ pid }: Pick<ChildProcess, 'pid'>): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1_024;
}

export function sizeOf(path: string): number {
  const found = statSync(path);
  return found.isDirectory()
    ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
    : found.size;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(url: string): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) {
      return;
    }
    await pause(100);
  }
  throw new Error(`${url} does not answer`);
}

async function stop(running: ChildProcess): Promise<void> {
  const ended = once(running, 'exit');
  running.kill('SIGKILL');
  await ended;
}
