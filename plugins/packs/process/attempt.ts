import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { serialize } from 'node:v8';

import { eachLine } from 'svc/output';
import { type Clock, type Logger } from 'svc/sdk';

import { frame, frameReader } from '../wire/frames.ts';
import { envelopeBytes, type Load, maxAsks, parseFromChild, type ToChild } from '../wire/wire.ts';
import { type CallLimits, Calls } from './calls.ts';
import { type Cause, type CauseKind, causeOf, type Exit } from './causes.ts';
import { errors } from './errors.ts';
import type { CallOptions } from './open-call.ts';
import { Questions } from './questions.ts';
import type { Spawned } from './spawn.ts';

export interface AttemptOptions extends CallLimits {
  readonly label: string;
  /** Returns what it runs, as of now. */
  readonly load: () => Omit<Load, 'maxPayloadBytes'>;
  /** Answers what the pack asks of svc. */
  readonly serve: (method: string, input: unknown) => Promise<unknown>;
  readonly heapMb: number;
  readonly rssMb: number;
  readonly startMs: number;
  /** A child that leaves a ping unanswered this long is stuck in a loop. */
  readonly pingMs: number;
  /** Interval of checking memory and pings. */
  readonly pollMs: number;
  readonly log: Logger;
  readonly clock: Clock;
}

const keptWords = 60;

/** Time after which only a broken kernel or disk keeps a killed process alive. */
const undyingMs = 5_000;

/** Time for the last lines of a dead process to arrive. */
const lastWordsMs = 300;

/** One process of a pack, from its start to its end. */
export class Attempt {
  readonly pid: number;
  /** Resolves when its code is loaded and started; rejects with the cause if it ends before. */
  readonly ready: Promise<void>;
  /** Never rejects. */
  readonly ended: Promise<Cause>;
  readonly #options: AttemptOptions;
  readonly #spawned: Spawned;
  readonly #calls: Calls;
  readonly #questions: Questions;
  readonly #lastWords: string[] = [];
  #resolveReady!: () => void;
  #rejectReady!: (error: Error) => void;
  readonly #watch: NodeJS.Timeout;
  #verdict: Cause | undefined;
  #started = false;
  #isResident = true;
  #pingedAt: number | undefined;

  constructor(spawned: Spawned, options: AttemptOptions) {
    this.#spawned = spawned;
    this.#options = options;
    this.pid = spawned.pid;
    this.#calls = new Calls(
      options.label,
      options,
      (framed) => this.#send(framed),
      (cause) => this.kill('stuck', cause),
    );
    this.#questions = new Questions({ ...options, send: (framed) => this.#send(framed) });
    this.ready = new Promise((resolve, reject) => {
      [this.#resolveReady, this.#rejectReady] = [resolve, reject];
    });
    this.ready.catch(() => undefined);
    this.#listen();
    const late = setTimeout(
      () => this.kill('not-started', `did not start within ${options.startMs} ms`),
      options.startMs,
    );
    this.#watch = setInterval(() => this.#look(), options.pollMs);
    void this.ready.then(
      () => clearTimeout(late),
      () => clearTimeout(late),
    );
    this.ended = this.#end();
    this.#say({ t: 'load', ...options.load(), maxPayloadBytes: options.maxPayloadBytes });
  }

  /** True if it has work of its own, which no call begins. */
  get isResident(): boolean {
    return this.#isResident;
  }

  get isBusy(): boolean {
    return this.#calls.size > 0;
  }

  call(method: string, input: unknown, options: CallOptions): Promise<unknown> {
    return this.#calls.call(method, input, options);
  }

  tell(key: string, value: unknown): void {
    this.#say({ t: 'setting', key, value });
  }

  /** Kills the process; `cause` is reported to everybody. */
  kill(kind: CauseKind, text: string): void {
    this.#verdict ??= { kind, text, hopeless: false };
    this.#spawned.process.kill('SIGKILL');
  }

  /** Asks the process to end, and ends it after `graceMs`. */
  async terminate(graceMs: number): Promise<void> {
    this.#verdict ??= { kind: 'stopped', text: 'it was stopped', hopeless: false };
    this.#spawned.process.kill('SIGTERM');
    const hard = setTimeout(() => this.kill('stopped', 'it was stopped'), graceMs);
    try {
      await within(
        graceMs + undyingMs,
        this.ended,
        `process ${this.pid} of ${this.#options.label} does not die`,
      );
    } finally {
      clearTimeout(hard);
    }
  }

  #listen(): void {
    const { channel, stdout, stderr } = this.#spawned;
    const { log, label, maxPayloadBytes } = this.#options;
    channel.on(
      'data',
      frameReader(
        maxPayloadBytes + envelopeBytes,
        (body) => this.#hear(body),
        (bytes) => this.kill('garbage', `broke the protocol with a message of ${bytes} bytes`),
      ),
    );
    // The end of the process explains the failure; a broken pipe is only its consequence.
    channel.on('error', () => undefined);
    eachLine(stdout, (line) => log.info({ child: label, pid: this.pid }, line));
    eachLine(stderr, (line) => {
      this.#lastWords.push(line);
      this.#lastWords.splice(0, this.#lastWords.length - keptWords);
      log.warn({ event: 'packs.output', child: label, pid: this.pid }, line);
    });
  }

  #hear(body: Buffer): void {
    const message = parseFromChild(body);
    switch (message?.t) {
      case 'started':
        if (!this.#started) {
          this.#started = true;
          this.#isResident = message.isResident;
          this.#resolveReady();
          return;
        }
        break;
      case 'not-started':
        this.kill('not-started', `could not start: ${message.error.message}`);
        return;
      case 'pong':
        if (this.#pingedAt !== undefined) {
          this.#pingedAt = undefined;
          return;
        }
        break;
      case 'reply':
      case 'piece':
      case 'more':
        if (this.#calls.hear(message)) {
          return;
        }
        break;
      case 'ask':
        if (!this.#questions.hear(message)) {
          this.kill('flooding', `made more than ${maxAsks} concurrent requests to svc`);
        }
        return;
      case undefined:
        break;
    }
    this.kill('garbage', 'broke the protocol with an unexpected message');
  }

  /** Memory and liveness, at each tick of the watch. */
  #look(): void {
    const { rssMb, pingMs, clock } = this.#options;
    const resident = residentBytes(this.pid);
    if (resident !== undefined && resident > rssMb * 1024 * 1024) {
      this.kill(
        'out-of-memory',
        `out of memory: the process grew to ${Math.round(resident / 1024 / 1024)} MB, ${rssMb} MB are allowed`,
      );
      return;
    }
    if (!this.#started) {
      return;
    }
    if (this.#pingedAt === undefined) {
      this.#pingedAt = clock.monotonic();
      this.#say({ t: 'ping' });
    } else if (clock.monotonic() - this.#pingedAt > pingMs) {
      // If this process was stalled, the answer is in the pipe and is read before this runs.
      setImmediate(
        () =>
          this.#pingedAt !== undefined &&
          this.kill('spinning', `did not answer for ${pingMs} ms, as in an endless loop`),
      );
    }
  }

  async #end(): Promise<Cause> {
    const { process: child, channel } = this.#spawned;
    const heardOut = new Promise((resolve) => {
      child.once('close', resolve);
    });
    const exit = await new Promise<Pick<Exit, 'code' | 'signal'>>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    clearInterval(this.#watch);
    // Its last words may still be in the pipes.
    await Promise.race([heardOut, sleep(lastWordsMs, undefined, { ref: false })]);
    const cause =
      this.#verdict ?? causeOf({ ...exit, lastWords: this.#lastWords }, this.#options.heapMb);
    channel.destroy();
    this.#calls.end(cause.text);
    this.#rejectReady(
      errors.not_running(
        { label: this.#options.label, text: cause.text },
        { retryAfterSeconds: 5 },
      ),
    );
    return cause;
  }

  #say(message: ToChild): void {
    this.#send(frame(serialize(message)));
  }

  #send(framed: Buffer): void {
    const { channel } = this.#spawned;
    if (!channel.destroyed && channel.writable) {
      channel.write(framed);
    }
  }
}

/** Resident memory of a process in bytes; undefined where `/proc` does not tell, or when it is gone. */
export function residentBytes(pid: number): number | undefined {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(
      readFileSync(`/proc/${pid}/status`, 'latin1'),
    )?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    // Between its end and the exit event a process has no status any more.
    return undefined;
  }
}

async function within<T>(ms: number, work: Promise<T>, otherwise: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(errors.too_late({ what: otherwise })), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
