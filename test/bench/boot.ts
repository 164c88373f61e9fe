import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const launcher = fileURLToPath(new URL('../../bin/svc', import.meta.url));

interface Boot {
  /** From the start of the process until /readyz answered 200. */
  readonly readyMs: number;
  /** What the house itself took, as its banner says. */
  readonly houseMs: number;
  readonly rssMb: number;
}

/** Starts the product with every shipped plugin, the first time on an empty data folder, and waits until it is ready. */
export async function run({ boots = 7 }: { boots?: number } = {}): Promise<{
  ok: boolean;
  boots: number;
  firstReadyMs: number;
  readyMs: number;
  bestReadyMs: number;
  houseMs: number;
  rssMb: number;
}> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-boot-'));
  const measured: Boot[] = [];
  for (let boot = 0; boot < boots; boot++) {
    measured.push(await bootOnce(dataDir));
  }
  rmSync(dataDir, { recursive: true });
  const [first, ...again] = measured;
  const middle = (pick: (boot: Boot) => number): number => [...again].map(pick).sort((a, b) => a - b)[Math.floor(again.length / 2)] ?? 0;
  const readyMs = middle((boot) => boot.readyMs);
  return {
    ok: readyMs < 500,
    boots,
    firstReadyMs: first?.readyMs ?? 0,
    readyMs,
    bestReadyMs: Math.min(...again.map((boot) => boot.readyMs)),
    houseMs: middle((boot) => boot.houseMs),
    rssMb: middle((boot) => boot.rssMb),
  };
}

async function bootOnce(dataDir: string): Promise<Boot> {
  const began = performance.now();
  const child = spawn(process.execPath, [launcher, 'serve'], {
    env: { PATH: process.env['PATH'], SVC_DATA_DIR: dataDir, SVC_HTTP_ADDR: '127.0.0.1:0', SVC_LOG_LEVEL: 'error' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let banner = '';
  child.stderr.on('data', (chunk) => (banner += String(chunk)));
  const ended = new Promise((resolve) => child.on('exit', resolve));
  try {
    for (const deadline = began + 30_000; ;) {
      const readyMs = performance.now() - began;
      if (await isReady(dataDir, child.pid)) {
        const rssMb = Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024);
        await waitFor(() => banner.includes('Ready in'), deadline);
        return { readyMs: Math.round(readyMs), houseMs: Number(/Ready in (\d+) ms/.exec(banner)?.[1]), rssMb };
      }
      if (performance.now() > deadline || child.exitCode !== null) {
        throw new Error(`svc did not become ready: ${banner}`);
      }
      await pause(2);
    }
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

async function isReady(dataDir: string, pid: number | undefined): Promise<boolean> {
  try {
    const running = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as { pid: number; url: string };
    return running.pid === pid && (await fetch(`${running.url}/readyz`)).ok;
  } catch {
    // Not there yet.
    return false;
  }
}

async function waitFor(holds: () => boolean, deadline: number): Promise<void> {
  while (!holds() && performance.now() < deadline) {
    await pause(2);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
