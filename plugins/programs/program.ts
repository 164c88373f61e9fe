import type { AsyncResource } from 'node:async_hooks';
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';

import type { ProgramHandle, ProgramOptions } from 'svc/contracts/programs';
import { eachChunk, eachLine } from 'svc/output';
import { type Clock, type Logger, messageOf, type RestartPolicy, restarts } from 'svc/sdk';

import { errors } from './errors.ts';
import { forgetProgram, noteProgram, signalGroup } from './program-note.ts';
import { saidLine } from './said-line.ts';

export interface ProgramParts {
  readonly label: string;
  readonly file: string;
  readonly options: ProgramOptions;
  readonly cwd: string;
  /** File that records the process. */
  readonly note: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly restart: RestartPolicy;
  readonly random: () => number;
  /** Async context apart from the work that starts it. */
  readonly apart: AsyncResource;
  /** Takes the place of its name; resolves once the program that had it has ended. */
  readonly turn: () => Promise<void>;
}

const usualStartMs = 60_000;
const usualStopMs = 10_000;
const readyEveryMs = 100;
const keptWords = 5;
const lastWordsMs = 300;
/** Time after which only a broken kernel or disk keeps a killed process alive. */
const undyingMs = 5_000;

/** One foreign program: its processes one after the other, until it is stopped. */
export class Program implements ProgramHandle {
  readonly #parts: ProgramParts;
  readonly ended: Promise<void>;
  readonly #stop = new AbortController();
  readonly #ready = new Set<() => void>();
  #resolveEnded!: () => void;
  #state: ProgramHandle['state'] = 'waiting';
  #process: ChildProcess | undefined;
  #port: number | undefined;
  #startedAt: number | undefined;
  #cause: string | undefined;
  #begun = false;

  constructor(parts: ProgramParts) {
    this.#parts = parts;
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
  }

  get state(): ProgramHandle['state'] {
    return this.#state;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get port(): number | undefined {
    return this.#port;
  }

  get startedAt(): number | undefined {
    return this.#startedAt;
  }

  /** Reason of the last end, as long as it is not running again. */
  get cause(): string | undefined {
    return this.#cause;
  }

  begin(): void {
    if (!this.#begun && !this.#stop.signal.aborted) {
      this.#begun = true;
      this.#parts.apart.runInAsyncScope(() => void this.#live());
    }
  }

  async ready(timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    for (const deadline = clock.monotonic() + timeoutMs; this.#state !== 'running';) {
      signal?.throwIfAborted();
      const left = deadline - clock.monotonic();
      if (this.#state === 'stopped' || left <= 0) {
        throw errors.not_running(
          {
            label: this.#parts.label,
            state: this.#state,
            detail: this.#cause === undefined ? '' : `: it ${this.#cause}`,
          },
          { retryAfterSeconds: 5 },
        );
      }
      await this.#change(Math.min(left, 1_000));
    }
  }

  async stop(): Promise<void> {
    if (!this.#stop.signal.aborted) {
      this.#stop.abort();
      if (!this.#begun) {
        this.#enter('stopped');
        this.#resolveEnded();
      }
    }
    await this.ended;
  }

  async #live(): Promise<void> {
    const { label, log, clock, turn, restart, random } = this.#parts;
    const wait = restarts(restart, random);
    try {
      await Promise.race([turn(), aborted(this.#stop.signal)]);
      while (!this.#stop.signal.aborted) {
        const from = clock.monotonic();
        this.#cause = await this.#run();
        const now = clock.monotonic();
        const pause = wait(now, now - from);
        if (this.#stop.signal.aborted || pause === undefined) {
          break;
        }
        log.warn(
          { event: 'programs.restarted', cause: this.#cause, again_in_ms: Math.round(pause) },
          `${label} ${this.#cause}; restarting`,
        );
        this.#enter('backing-off');
        await this.#pause(pause);
      }
    } catch (error) {
      this.#cause = `could not be kept running: ${messageOf(error)}`;
      log.error({ event: 'programs.gave_up', cause: this.#cause }, `${label} ${this.#cause}`);
    } finally {
      this.#enter('stopped');
      this.#resolveEnded();
    }
  }

  /** One process from its start to its end; the answer is the cause of the end. */
  async #run(): Promise<string> {
    const { file, options, cwd, note, log, label, clock } = this.#parts;
    this.#enter('starting');
    const port = await freePort();
    const words: string[] = [];
    let verdict: string | undefined;
    // A separate process group: interrupting svc in a terminal must not end it before svc does.
    const child = spawn(file, [...options.args({ port })], {
      cwd,
      env: { ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const end = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(`could not be started: ${messageOf(error)}`));
      child.once('exit', (code, signal) =>
        resolve(signal === null ? `exited with code ${code}` : `was ended by ${signal}`),
      );
    });
    const heardOut = new AbortController();
    child.once('close', () => heardOut.abort());
    const { pid } = child;
    if (pid === undefined) {
      return await end;
    }
    this.#process = child;
    this.#port = port;
    this.#startedAt = clock.now();
    const { output } = options;
    if (output !== undefined) {
      eachChunk(child.stdout, output, (error) => {
        verdict = `was stopped because its output could not be read: ${messageOf(error)}`;
        signalGroup(pid, 'SIGKILL');
      });
    }
    for (const stream of output === undefined ? [child.stdout, child.stderr] : [child.stderr]) {
      eachLine(stream, (line) => {
        words.push(line);
        words.splice(0, words.length - keptWords);
        const { level, message, fields } = saidLine(line);
        log[level]({ ...fields, program: label, pid }, message);
      });
    }
    const gone = new AbortController();
    void end.then(() => gone.abort());
    const leave = (): void => void this.#terminate(pid, gone.signal);
    this.#stop.signal.addEventListener('abort', leave);
    try {
      noteProgram(note, pid);
      if (this.#stop.signal.aborted) {
        leave();
      }
      void this.#awaken(port, gone.signal).then((late) => {
        if (late && !gone.signal.aborted) {
          verdict = `was not ready within ${options.startMs ?? usualStartMs} ms`;
          signalGroup(pid, 'SIGKILL');
        }
      });
      const cause = await end;
      // Its last words may still be in the pipes; a child of its own may hold them open.
      await waited(lastWordsMs, heardOut.signal);
      return (
        verdict ??
        (words.length === 0 ? cause : `${cause}; its last words: ${words.join(' | ').slice(-600)}`)
      );
    } finally {
      this.#stop.signal.removeEventListener('abort', leave);
      // Children of its own that it has left behind.
      signalGroup(pid, 'SIGKILL');
      forgetProgram(note);
      child.stdout.destroy();
      child.stderr.destroy();
      this.#process = undefined;
      this.#port = undefined;
      this.#startedAt = undefined;
    }
  }

  /** Asks until it is ready; true when that took too long. */
  async #awaken(port: number, gone: AbortSignal): Promise<boolean> {
    const { options, clock } = this.#parts;
    for (const deadline = clock.monotonic() + (options.startMs ?? usualStartMs); !gone.aborted;) {
      if (options.ready === undefined || (await asked(options.ready, port, gone))) {
        if (!gone.aborted && !this.#stop.signal.aborted) {
          this.#cause = undefined;
          this.#enter('running');
        }
        return false;
      }
      if (clock.monotonic() > deadline) {
        return true;
      }
      await this.#pause(readyEveryMs, gone);
    }
    return false;
  }

  async #terminate(pid: number, gone: AbortSignal): Promise<void> {
    signalGroup(pid, 'SIGTERM');
    await waited(this.#parts.options.stopMs ?? usualStopMs, gone);
    if (!gone.aborted) {
      signalGroup(pid, 'SIGKILL');
      await waited(undyingMs, gone);
    }
  }

  #enter(state: ProgramHandle['state']): void {
    this.#state = state;
    [...this.#ready].forEach((wake) => wake());
  }

  /** Waits for another state. */
  #change(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#ready.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#ready.add(wake);
    });
  }

  #pause(ms: number, gone?: AbortSignal): Promise<void> {
    return waited(ms, this.#stop.signal, gone);
  }
}

async function asked(
  ready: NonNullable<ProgramOptions['ready']>,
  port: number,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return await ready({ port }, signal);
  } catch {
    // It does not listen yet; it is polled until its time limit to start.
    return false;
  }
}

const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));

/** A wait that ends early when one of the signals aborts. */
function waited(ms: number, ...signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signals.forEach((signal) => signal?.removeEventListener('abort', done));
      resolve();
    };
    const timer = setTimeout(done, ms);
    signals.forEach((signal) => signal?.addEventListener('abort', done, { once: true }));
    if (signals.some((signal) => signal?.aborted)) {
      done();
    }
  });
}

/** A port on the loopback that is free at this moment; when another process takes it first, the program ends and gets another. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        resolve(typeof address === 'object' && address !== null ? address.port : 0),
      );
    });
  });
}
