import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const againMs = 1_000;

/** One `svc serve`, which is started again when it ends by itself, as a service manager does. */
export class ServingNode {
  readonly name: string;
  readonly dataDir: string;
  readonly url: string;
  readonly #environment: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;
  #isWanted = false;
  #log = '';
  /** Exits that nobody asked for. */
  exits = 0;

  constructor(
    name: string,
    place: { readonly dataDir: string; readonly port: number },
    environment: Readonly<Record<string, string>>,
  ) {
    this.name = name;
    this.dataDir = place.dataDir;
    this.url = `http://127.0.0.1:${place.port}`;
    this.#environment = {
      PATH: process.env['PATH']!,
      SVC_DATA_DIR: place.dataDir,
      SVC_HTTP_ADDR: `127.0.0.1:${place.port}`,
      SVC_EDGE_LOCAL: 'false',
      SVC_LOG_FORMAT: 'json',
      ...environment,
    };
  }

  get pid(): number {
    return this.#child!.pid!;
  }

  /** Lines of the log, of all its processes. */
  get log(): string {
    return this.#log;
  }

  /** The operator's; empty before the first start has made it. */
  get token(): string {
    const file = join(this.dataDir, 'keys/operator.token');
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  }

  start(): void {
    this.#isWanted = true;
    rmSync(join(this.dataDir, 'run.json'), { force: true });
    const child = spawn(process.execPath, [join(root, 'bin/svc'), 'serve'], {
      cwd: root,
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => (this.#log = (this.#log + String(text)).slice(-2_000_000)));
    }
    child.once('exit', () => void (this.#isWanted && this.#again()));
  }

  /** Ends it, and leaves it ended. */
  async end(signal: NodeJS.Signals): Promise<void> {
    this.#isWanted = false;
    const child = this.#child;
    if (child && child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill(signal);
      if (signal === 'SIGKILL') {
        child.kill('SIGCONT');
      }
      await gone;
    }
  }

  send(signal: NodeJS.Signals): void {
    this.#child!.kill(signal);
  }

  async #again(): Promise<void> {
    this.exits += 1;
    await pause(againMs);
    if (this.#isWanted) {
      this.start();
    }
  }
}
