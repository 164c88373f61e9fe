import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const deadlineMs = 60_000;

/** A program that is started again whenever it ends, as systemd does with a service. */
export class KeptProgram {
  readonly #program: string;
  readonly #dataDir: string;
  readonly #environment: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #kept = false;
  #said = '';
  starts = 0;

  constructor(
    program: string,
    dataDir: string,
    environment: Readonly<Record<string, string>> = {},
  ) {
    this.#program = program;
    this.#dataDir = dataDir;
    this.#environment = environment;
  }

  get said(): string {
    return this.#said;
  }

  /** Drops the output so far. */
  hush(): void {
    this.#said = '';
  }

  start(): void {
    this.#kept = true;
    this.#launch();
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#kept = false;
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child.once('close', resolve));
      child.kill(signal);
      await gone;
    }
  }

  /** Kills the serving process, which is started again. */
  kill(): void {
    this.#child?.kill('SIGKILL');
  }

  /** A request to what serves, as soon as it does. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    for (const deadline = Date.now() + deadlineMs; ; await pause(50)) {
      const reached = this.#reached();
      const token =
        reached && readFileSync(join(this.#dataDir, 'keys/operator.token'), 'utf8').trim();
      const headers = {
        'content-type': 'application/json',
        ...(init.headers as object | undefined),
        authorization: `Bearer ${token}`,
      };
      const answer =
        reached && (await fetch(reached.url + path, { ...init, headers }).catch(() => undefined));
      if (answer !== undefined && answer.status !== 503) {
        return answer;
      }
      if (Date.now() > deadline) {
        throw new Error(`nothing serves ${path} (${answer?.status}): ${this.#said.slice(-3_000)}`);
      }
    }
  }

  async version(): Promise<string> {
    const { manager_version: version } = (await (await this.fetch('/api/v1/version')).json()) as {
      manager_version: string;
    };
    return version.slice(1);
  }

  #reached(): { readonly url: string } | undefined {
    const file = join(this.#dataDir, 'run.json');
    if (!existsSync(file)) {
      return undefined;
    }
    const { pid, url } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; url: string };
    return pid === this.#child?.pid || existsSync(`/proc/${pid}`) ? { url } : undefined;
  }

  #launch(): void {
    this.starts++;
    const clean = Object.fromEntries(
      Object.entries(process.env).filter(
        ([name]) => !/^(SVC_|NODE_TEST_|NODE_OPTIONS$)/.test(name),
      ),
    );
    this.#child = spawn(this.#program, ['serve', '--data', this.#dataDir], {
      env: { ...clean, SVC_HTTP_ADDR: '127.0.0.1:0', SVC_LOG_LEVEL: 'warn', ...this.#environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on('data', (chunk) => (this.#said = (this.#said + String(chunk)).slice(-50_000)));
    }
    this.#child.once('close', () => {
      if (this.#kept) {
        setTimeout(() => this.#kept && this.#launch(), 50);
      }
    });
  }
}

/**
 * Returns a script that a process loads first (NODE_OPTIONS) to die at a step of replacing a
 * program: before or after the `step`th name next to it is given, moved or removed. The plan is
 * deleted once it has been carried out.
 */
export function killPlan(
  folder: string,
  program: string,
): {
  readonly options: string;
  set(step: number, when: 'before' | 'after'): void;
  left(): boolean;
} {
  const [plan, text] = [join(folder, 'kill-plan'), join(folder, 'kill-plan.cjs')];
  writeFileSync(
    text,
    `const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const [plan, program] = ${JSON.stringify([plan, program])};
const die = () => { fs.unlinkSync(plan); process.kill(process.pid, 'SIGKILL'); for (;;); };
for (const name of ['renameSync', 'linkSync', 'rmSync']) {
  const real = fs[name];
  fs[name] = (...args) => {
    const mine = args.some((arg) => typeof arg === 'string' && arg.startsWith(program)) && fs.existsSync(plan);
    const [left, when] = mine ? fs.readFileSync(plan, 'utf8').split(' ') : [];
    if (mine && Number(left) > 0) fs.writeFileSync(plan, Number(left) - 1 + ' ' + when);
    if (left === '0' && when === 'before') die();
    const result = real(...args);
    if (left === '0') die();
    return result;
  };
}
syncBuiltinESMExports();
`,
  );
  return {
    options: `--require ${text}`,
    set: (step, when) => writeFileSync(plan, `${step} ${when}`),
    left: () => existsSync(plan),
  };
}
