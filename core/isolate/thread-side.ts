import { isMainThread, type MessagePort, parentPort, workerData } from 'node:worker_threads';

import { type Logger, messageOf } from '../sdk/index.ts';
import { errors } from './errors.ts';
import { standBack } from './priority.ts';
import { Repeats } from './thread-repeats.ts';
import {
  carried,
  type FromThread,
  type LogLevel,
  maxUnheard,
  type ThreadStart,
  type Told,
  type ToThread,
} from './thread-wire.ts';

export interface ThreadSetup {
  /** Value that the plugin passed to `ctx.threads.start`. */
  readonly data: unknown;
  /** The log of the plugin. */
  readonly log: Logger;
  /** Aborted when the thread is to end: an opening that takes long may give up. */
  readonly signal: AbortSignal;
  /** A one-way message, in order with the others. */
  notify(kind: string, value: unknown, transfer?: readonly ArrayBuffer[]): void;
  /** Milliseconds since the epoch, by the clock of svc. */
  now(): number;
  /**
   * Repeats `work` until the thread closes; runs never overlap. An error is logged, and sent as the
   * notice `error`.
   */
  every(ms: number, work: (signal: AbortSignal) => unknown): () => void;
  /** Runs `work` once, unless the thread closes before. */
  after(ms: number, work: (signal: AbortSignal) => unknown): () => void;
}

export interface ThreadService {
  readonly methods: Readonly<
    // oxlint-disable-next-line typescript/no-explicit-any -- each method says what it takes; the caller is the plugin itself
    Record<string, (input: any, call: { readonly signal: AbortSignal }) => unknown>
  >;
  /** Called once, after the last call has ended. */
  close(): Promise<void>;
}

const moving = new WeakMap<object, readonly ArrayBuffer[]>();

/** Lets these parts of a result move to the caller instead of being copied; nobody may use their memory here afterwards. */
export function transferred<T extends object>(value: T, parts: readonly ArrayBufferView[]): T {
  moving.set(value, [
    ...new Set(parts.filter(hasItsOwnMemory).map(({ buffer }) => buffer as ArrayBuffer)),
  ]);
  return value;
}

/**
 * Returns whether a view has its own memory: what node slices from the pool shared by small buffers
 * cannot move; newer versions throw, older ones copy.
 */
const hasItsOwnMemory = ({ buffer, byteLength }: ArrayBufferView): boolean =>
  byteLength === buffer.byteLength || byteLength > Buffer.poolSize / 2;

/** The only statement of a worker file: opens the service and answers for it until the host closes the thread. */
export function serveThread(open: (setup: ThreadSetup) => Promise<ThreadService>): void {
  if (isMainThread || parentPort === null) {
    throw errors.worker_imported();
  }
  new Served(parentPort, workerData as ThreadStart).serve(open);
}

class Served {
  readonly #port: MessagePort;
  readonly #data: unknown;
  readonly #end = new AbortController();
  readonly #calls = new Map<
    number,
    { readonly abort: AbortController; readonly done: Promise<void> }
  >();
  readonly #repeats = new Repeats((where, error) => this.#stumbled(where, error));
  readonly #log: Logger;
  #skewMs: number;
  #service: ThreadService | undefined;
  #opening: Promise<void> | undefined;
  #unheard = 0;
  #dropped = 0;

  constructor(port: MessagePort, { data, skewMs }: ThreadStart) {
    this.#port = port;
    this.#data = data;
    this.#skewMs = skewMs;
    const say =
      (level: LogLevel) =>
      (fields: object, message: string): void =>
        this.#logged(level, fields, message);
    this.#log = { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
  }

  serve(open: (setup: ThreadSetup) => Promise<ThreadService>): void {
    this.#port.on('message', (message: ToThread) => this.#hear(message));
    this.#opening = this.#open(open);
  }

  #standBack(): void {
    try {
      standBack();
    } catch (error) {
      this.#log.debug(
        { cause: messageOf(error) },
        "failed to lower a thread's priority; the thread competes with requests",
      );
    }
  }

  async #open(open: (setup: ThreadSetup) => Promise<ThreadService>): Promise<void> {
    try {
      this.#service = await open({
        data: this.#data,
        log: this.#log,
        signal: this.#end.signal,
        notify: (kind, value, transfer = []) => this.#tell({ t: 'notice', kind, value }, transfer),
        now: () => Date.now() + this.#skewMs,
        every: (ms, work) => this.#repeats.every(ms, work),
        after: (ms, work) => this.#repeats.after(ms, work),
      });
      this.#standBack();
      this.#say({ t: 'opened' });
    } catch (error) {
      await this.#repeats.end();
      this.#say({ t: 'unopened', error: carried(error) });
    }
  }

  #hear(message: ToThread): void {
    switch (message.t) {
      case 'call':
        this.#skewMs = message.skewMs;
        this.#begin(message.id, message.method, message.input);
        return;
      case 'cancel':
        this.#calls.get(message.id)?.abort.abort(errors.call_given_up());
        return;
      case 'ping':
        this.#skewMs = message.skewMs;
        this.#say({ t: 'pong', heapBytes: process.memoryUsage().heapUsed });
        return;
      case 'heard':
        this.#heard(message.count);
        return;
      case 'close':
        void this.#close(message.graceMs);
    }
  }

  #begin(id: number, method: string, input: unknown): void {
    const abort = new AbortController();
    const done = this.#answer(id, method, input, abort.signal).finally(() =>
      this.#calls.delete(id),
    );
    this.#calls.set(id, { abort, done });
  }

  async #answer(id: number, method: string, input: unknown, signal: AbortSignal): Promise<void> {
    try {
      const methods = this.#service?.methods ?? {};
      if (!Object.hasOwn(methods, method)) {
        throw new Error(`the thread has no method ${method}`);
      }
      const value = await methods[method]!(input, { signal });
      const buffers = typeof value === 'object' && value !== null ? moving.get(value) : undefined;
      this.#say({ t: 'reply', id, value }, buffers);
    } catch (error) {
      this.#say({ t: 'reply', id, error: carried(error) });
    }
  }

  /** Lets calls end, then repeated work, which they may wait for, then the service; the host ends the thread when that takes too long. */
  async #close(graceMs: number): Promise<void> {
    this.#end.abort(errors.thread_closing());
    const late = setTimeout(
      () => this.#calls.forEach(({ abort }) => abort.abort(this.#end.signal.reason)),
      graceMs,
    );
    try {
      await Promise.all([this.#opening, ...[...this.#calls.values()].map(({ done }) => done)]);
      await this.#repeats.end();
      await this.#service?.close();
      this.#say({ t: 'closed' });
    } catch (error) {
      this.#say({ t: 'closed', error: carried(error) });
    } finally {
      clearTimeout(late);
    }
  }

  #stumbled(where: string, error: unknown): void {
    this.#log.error(
      { event: 'thread.error', where, error },
      `error in a thread, ${where}: ${messageOf(error)}`,
    );
    this.#tell({ t: 'notice', kind: 'error', value: { where, message: messageOf(error) } });
  }

  #logged(level: LogLevel, fields: object, message: string): void {
    try {
      this.#tell({ t: 'log', level, fields: { ...fields }, message });
    } catch {
      // A field that cannot cross threads must not cost the line.
      this.#tell({
        t: 'log',
        level,
        fields: Object.fromEntries(
          Object.entries(fields).map(([name, value]) => [name, String(value)]),
        ),
        message,
      });
    }
  }

  #tell(message: Told, transfer?: readonly ArrayBuffer[]): void {
    if (this.#unheard >= maxUnheard) {
      this.#dropped += 1;
      return;
    }
    this.#say(message, transfer);
    this.#unheard += 1;
  }

  #heard(count: number): void {
    this.#unheard -= count;
    const dropped = this.#dropped;
    if (dropped > 0) {
      this.#dropped = 0;
      this.#log.warn(
        { event: 'thread.notices_dropped', dropped },
        `${dropped} events and log lines from a thread dropped: the host is reading too slowly`,
      );
    }
  }

  #say(message: FromThread, transfer: readonly ArrayBuffer[] = []): void {
    this.#port.postMessage(message, transfer);
  }
}
