import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** Result of a job. */
export interface Ended {
  /** Exit code, or 128 and the number of the signal that ended it. */
  readonly code: number;
  readonly ms: number;
  /** The end of what it printed. */
  readonly output: Buffer;
}

/** Bytes of output that are kept for the report. */
const keptBytes = 100 * 1024;
const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;
const [notFound, notRunnable] = [127, 126];

/** Runs a command as if it had been started itself: its output, its signals and its end are passed on. */
export function runJob(file: string, args: readonly string[]): Promise<Ended> {
  const began = performance.now();
  const output = new Tail(keptBytes);
  const child = spawn(file, [...args], { stdio: ['inherit', 'pipe', 'pipe'] });
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    from.on('data', (piece: Buffer) => output.add(piece));
    from.pipe(to, { end: false });
  }
  const handlers = passedOn.map((signal) => {
    const pass = (): void => void child.kill(signal);
    process.on(signal, pass);
    return () => process.off(signal, pass);
  });
  return new Promise((resolve) => {
    const end = (code: number): void => {
      handlers.forEach((undo) => undo());
      resolve({ code, ms: performance.now() - began, output: output.bytes });
    };
    child.once('error', (error: NodeJS.ErrnoException) => {
      const text = `svc: ${file} cannot be started: ${error.code ?? error.message}\n`;
      process.stderr.write(text);
      output.add(Buffer.from(text));
      end(error.code === 'ENOENT' ? notFound : notRunnable);
    });
    child.once('close', (code, signal) =>
      end(signal === null ? (code ?? 1) : 128 + constants.signals[signal]),
    );
  });
}

/** Keeps the last bytes of what is added. */
class Tail {
  readonly #most: number;
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length > 2 * this.#most) {
      this.#pieces = [this.bytes];
      this.#length = this.#most;
    }
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#pieces).subarray(-this.#most);
  }
}
