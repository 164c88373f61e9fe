import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { launcherFile, placeLauncher } from '../../../bin/agent/launcher.ts';

/** The launcher of a data folder, impatient, with an installed program of the test's. */
export class Launched {
  readonly dataDir: string;
  readonly #installed: string;
  readonly #env: Readonly<Record<string, string>>;
  #process: ChildProcess | undefined;
  #ended: Promise<number | null> = Promise.resolve(null);
  said = '';

  constructor(dataDir: string, installed: string, env: Readonly<Record<string, string>> = {}) {
    this.dataDir = dataDir;
    this.#installed = join(dataDir, 'installed');
    this.#env = env;
    placeLauncher(dataDir);
    writeFileSync(this.#installed, installed, { mode: 0o755 });
  }

  start(): void {
    const env = {
      PATH: process.env['PATH']!,
      LAUNCH_BEAT: '0.1',
      LAUNCH_PAUSE: '0.1',
      LAUNCH_PATIENCE: '4',
      ...this.#env,
    };
    const child = spawn('/bin/sh', [launcherFile(this.dataDir), this.dataDir, this.#installed], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on(
        'data',
        (chunk: Buffer) => (this.said = (this.said + chunk.toString()).slice(-100_000)),
      );
    }
    this.#process = child;
    this.#ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  }

  /** Ends the launcher itself; SIGKILL leaves its agent running. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    this.#process?.kill(signal);
    return await this.#ended;
  }

  /** Process and birth of the agent that the launcher keeps. */
  agent(): number | undefined {
    try {
      const [pid, born] = this.file('upgrade/agent')?.trim().split(' ') ?? [];
      return pid !== undefined && born !== undefined && existsSync(`/proc/${pid}`)
        ? Number(pid)
        : undefined;
    } catch {
      return undefined;
    }
  }

  killAgent(): number | undefined {
    const pid = this.agent();
    if (pid !== undefined) {
      process.kill(pid, 'SIGKILL');
    }
    return pid;
  }

  file(name: string): string | undefined {
    const path = join(this.dataDir, name);
    return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  }

  get runs(): string {
    const link = join(this.dataDir, 'current');
    return existsSync(link) ? readlinkSync(link) : '-';
  }

  version(folder: string, program: string): void {
    const at = join(this.dataDir, 'versions', folder);
    mkdirSync(at, { recursive: true });
    writeFileSync(join(at, 'svc'), program);
    chmodSync(join(at, 'svc'), 0o755);
  }
}

export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 30_000,
  also: () => string = () => '',
): Promise<void> {
  for (const deadline = Date.now() + withinMs; !(await holds()); await pause(20)) {
    if (Date.now() > deadline) {
      throw new Error(`within ${withinMs / 1_000} s: ${what}\n${also()}`);
    }
  }
}
