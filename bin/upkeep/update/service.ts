import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { join } from 'node:path';

import { errors } from './errors.ts';
import { runningSvc } from 'svc/cli';

const unitFolders = ['/etc/systemd/system', '/lib/systemd/system', '/usr/lib/systemd/system'];
const toolMs = 120_000;
const endMs = 60_000;

/** Supervisor of a program: systemd, or whoever has started it. */
export interface Keeper {
  readonly isService: boolean;
  /** Returns whether the program is being started, though its start has not come to the data yet. */
  isStarting(): boolean;
  /** Ends it and lets the program of this moment be started. */
  restart(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/**
 * Returns the data folder of the systemd service that runs this program; undefined if there is
 * none.
 */
export function serviceData(program: string): string | undefined {
  const text = unitFolders
    .map((folder) => join(folder, 'svc.service'))
    .find((file) => existsSync(file));
  if (text === undefined || !existsSync('/run/systemd/system')) {
    return undefined;
  }
  const [, command = '', dataDir] =
    /^ExecStart=(\S+) serve --data (\S+)$/m.exec(readFileSync(text, 'utf8')) ?? [];
  return command === program ? dataDir : undefined;
}

export function keeperOf(program: string, dataDir: string): Keeper {
  if (serviceData(program) === dataDir) {
    const systemctl = async (...args: string[]): Promise<void> => {
      execFileSync('systemctl', args, { timeout: toolMs, stdio: ['ignore', 'ignore', 'inherit'] });
    };
    return {
      isService: true,
      isStarting: () => true,
      // Not waited for: systemd itself would wait until it is ready, and that is judged here.
      restart: () => systemctl('restart', '--no-block', 'svc.service'),
      stop: () => systemctl('stop', 'svc.service'),
      start: () => systemctl('start', '--no-block', 'svc.service'),
    };
  }
  const end = async (): Promise<void> => {
    const pid = runningSvc(dataDir)?.pid ?? holderOf(dataDir);
    if (pid !== undefined) {
      await ended(pid);
    }
  };
  return {
    isService: false,
    isStarting: () => processes().some((pid) => startsServing(pid, program, dataDir)),
    restart: end,
    stop: end,
    start: async () => undefined,
  };
}

function processes(): readonly number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    // Not Linux: nothing tells of a start.
    return [];
  }
}

/** Returns whether a process is a call of `serve` for this data folder, even one that a script still prepares. */
function startsServing(pid: number, program: string, dataDir: string): boolean {
  try {
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const isProgram = (): boolean =>
      args.includes(program) || readlinkSync(`/proc/${pid}/exe`) === program;
    return (
      args.includes('serve') &&
      (args.includes(dataDir) || (!args.includes('--data') && isProgram()))
    );
  } catch {
    // It has ended since, or belongs to another user.
    return false;
  }
}

/** Returns a process that holds the data folder and is not ready yet. */
function holderOf(dataDir: string): number | undefined {
  try {
    const { pid } = JSON.parse(readFileSync(join(dataDir, 'svc.lock.json'), 'utf8')) as {
      pid: number;
    };
    return told(pid, 0) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('serve')
      ? pid
      : undefined;
  } catch {
    // No card, or one of a process that is gone.
    return undefined;
  }
}

/** Ends a process in order; a stuck one is killed, which its data is made for. */
async function ended(pid: number): Promise<void> {
  const began = performance.now();
  for (
    let signal: NodeJS.Signals | 0 = 'SIGTERM';
    told(pid, signal);
    signal = performance.now() - began > endMs ? 'SIGKILL' : 0
  ) {
    await pause(50);
  }
}

/** False when there is no such process. */
function told(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPERM') {
      throw errors.process_of_another({ pid }, { cause: error });
    }
    return false;
  }
}
