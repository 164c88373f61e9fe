import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const diskMb = 640;
const mebibyte = 1024 * 1024;

/** Calls that the shim lets fail, in the order of its page; the last is a pause before writes and syncs. */
const kinds = ['write', 'read', 'sync', 'make', 'open', 'delayMs'] as const;

type Fault = Partial<Record<(typeof kinds)[number], keyof typeof constants.errno | number>>;

/** Answer of svc, read to its end. */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** A small disk whose calls can be let fail, and svc on it. */
export class GroundStand {
  readonly disk: string;
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #port = 0;
  #output = '';

  constructor(environment: Readonly<Record<string, string>>) {
    this.#folder = mkdtempSync(join(tmpdir(), 'svc-ground-'));
    this.disk = join(this.#folder, 'disk');
    mkdirSync(this.disk);
    this.#environment = environment;
    writeFileSync(join(this.#folder, 'page'), Buffer.alloc(4096));
    const shim = fileURLToPath(new URL('ground-shim.c', import.meta.url));
    const compiling = ['-x', 'c', '-O1', '-shared', '-fPIC', '-o', this.#shim, shim, '-ldl'];
    execFileSync('g++', compiling);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMb}m`, 'tmpfs', this.disk]);
  }

  get data(): string {
    return join(this.disk, 'data');
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** True while a process of svc runs. */
  get isAlive(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && !this.#child.killed;
  }

  /** What the last process said. */
  get output(): string {
    return this.#output;
  }

  get #shim(): string {
    return join(this.#folder, 'shim.so');
  }

  /** Starts svc; resolves when it answers, with false when it has ended instead. */
  async start(): Promise<boolean> {
    await this.launch();
    return await this.answers(180_000);
  }

  async launch(): Promise<void> {
    this.#port ||= await freePort();
    this.#output = '';
    const child = spawn(process.execPath, [join(root, 'bin/svc'), 'serve'], {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        HOME: '/nonexistent',
        SVC_DATA_DIR: this.data,
        SVC_HTTP_ADDR: `127.0.0.1:${this.#port}`,
        SVC_EDGE_LOCAL: 'false',
        SVC_LOG_LEVEL: 'warn',
        LD_PRELOAD: this.#shim,
        GROUND_PAGE: join(this.#folder, 'page'),
        GROUND_FOLDER: this.data,
        ...this.#environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes) => (this.#output = (this.#output + String(bytes)).slice(-200_000)));
    }
    this.#child = child;
  }

  /** Waits for the first answer of svc; false when it has ended. */
  async answers(withinMs: number): Promise<boolean> {
    for (const until = performance.now() + withinMs; performance.now() < until; await pause(50)) {
      if (!this.isAlive) {
        return false;
      }
      if ((await this.ask('/healthz'))?.status === 200) {
        return true;
      }
    }
    throw new Error(
      `svc did not answer within ${withinMs / 1000} s: ${this.#output.slice(-2_000)}`,
    );
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child !== undefined && this.isAlive) {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
  }

  /** As `fetch`, by the operator unless another authorization is given. */
  readonly fetch = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (!headers.has('authorization')) {
      headers.set('authorization', `Bearer ${this.#token()}`);
    }
    const signal = AbortSignal.timeout(20_000);
    return await fetch(`http://127.0.0.1:${this.#port}${path}`, { ...init, headers, signal });
  };

  /** Asks svc; undefined when no answer came. */
  async ask(path: string, init: RequestInit = {}): Promise<Answer | undefined> {
    try {
      const answer = await this.fetch(path, init);
      return { status: answer.status, text: await answer.text() };
    } catch {
      // No process, or one without a socket left: the caller counts it as no answer.
      return undefined;
    }
  }

  #token(): string {
    try {
      return readFileSync(join(this.data, 'keys/operator.token'), 'utf8').trim();
    } catch {
      // Not written yet: a first start.
      return '';
    }
  }

  /** Lets calls under the data folder fail from now on; without a fault all is well again. */
  fault(fault: Fault = {}): void {
    const page = Buffer.alloc(kinds.length * 4);
    kinds.forEach((kind, at) => {
      const value = fault[kind] ?? 0;
      page.writeInt32LE(typeof value === 'number' ? value : constants.errno[value], at * 4);
    });
    // In place: the page is mapped by every process that was started.
    const descriptor = openSync(join(this.#folder, 'page'), 'r+');
    writeSync(descriptor, page, 0, page.length, 0);
    closeSync(descriptor);
  }

  /** Fills the disk until only so many bytes are left. */
  fill(leave = 0): void {
    const [descriptor, chunk] = [
      openSync(join(this.disk, 'filler'), 'a'),
      Buffer.alloc(mebibyte, 1),
    ];
    try {
      for (let left = this.#left(); left > leave; left = this.#left()) {
        writeSync(descriptor, chunk, 0, Math.min(mebibyte, left - leave));
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') {
        throw error;
      }
    } finally {
      closeSync(descriptor);
    }
  }

  free(): void {
    rmSync(join(this.disk, 'filler'), { force: true });
  }

  #left(): number {
    const { bavail, bsize } = statfsSync(this.disk);
    return bavail * bsize;
  }

  mount(how: 'ro' | 'rw'): void {
    execFileSync('mount', ['-o', `remount,${how}`, this.disk]);
  }

  /** Limits open files to what is open at this moment; without a limit again when `limited` is false. */
  limitFiles(limited: boolean): void {
    const limits = readFileSync(`/proc/${this.pid}/limits`, 'utf8');
    const hard = /^Max open files\s+\S+\s+(\d+)/m.exec(limits)![1];
    const most = limited ? readdirSync(`/proc/${this.pid}/fd`).length : hard;
    execFileSync('prlimit', ['--pid', String(this.pid), `--nofile=${most}:`]);
  }

  /** Sets the data folder aside, or takes it back; `undefined` begins with none. */
  keep(copy: string): void {
    rmSync(join(this.#folder, copy), { recursive: true, force: true });
    cpSync(this.data, join(this.#folder, copy), { recursive: true });
  }

  restore(copy: string | undefined): void {
    rmSync(this.data, { recursive: true, force: true });
    if (copy !== undefined) {
      cpSync(join(this.#folder, copy), this.data, { recursive: true });
    }
  }

  async close(): Promise<void> {
    this.fault();
    await this.kill();
    execFileSync('umount', ['--lazy', this.disk]);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
