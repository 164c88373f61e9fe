import { AsyncResource } from 'node:async_hooks';

import type { SvcError } from 'svc/sdk';
import { type Clock, type Logger, messageOf, patience, restarts } from 'svc/sdk';

import type { ChildOrigin } from '../process/program-file.ts';
import { errors } from './errors.ts';
import type { TablesData } from './pack-tables.ts';
import { type TablesCause, type TablesEnd, TablesProcess } from './tables-process.ts';
import { arrivedRows, type TablesQuestion } from './tables-wire.ts';

export interface PackDatabaseOptions {
  readonly label: string;
  readonly origin: ChildOrigin;
  readonly data: TablesData;
  /** Deadline of one statement, and of the migrations. */
  readonly statementMs: number;
  readonly openMs: number;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: () => number;
  /**
   * Called when a statement was ended by force, and the tables are closed for a while; without
   * `again`, permanently.
   */
  readonly onEnded: (cause: string, again: boolean) => void;
}

interface Question extends TablesQuestion {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const maxWaiting = 64;
const idleMs = 60_000;

/**
 * Tables of one pack: sequential statements, each with a deadline, in a process that starts with
 * the first and ends when there are none.
 */
export class PackDatabase {
  readonly #options: PackDatabaseOptions;
  /** Apart from the calls that begin its work. */
  readonly #apart = new AsyncResource('svc.pack-tables');
  readonly #nextDelay: (at: number, ranMs: number) => number | undefined;
  readonly #queue: Question[] = [];
  #open: TablesProcess | undefined;
  #working: Promise<void> | undefined;
  #idle: NodeJS.Timeout | undefined;
  #end: TablesEnd | undefined;
  #closedUntil = 0;
  #stopped = false;

  constructor(options: PackDatabaseOptions) {
    this.#options = options;
    this.#nextDelay = restarts(patience, options.random);
  }

  get state(): 'running' | 'asleep' | 'backing-off' | 'failed' | 'stopped' {
    if (this.#stopped) {
      return 'stopped';
    }
    if (this.#end !== undefined) {
      return this.#closedUntil === Infinity ? 'failed' : 'backing-off';
    }
    return this.#open === undefined ? 'asleep' : 'running';
  }

  /** Why its last process was ended by force; undefined once a statement was answered again. */
  get cause(): string | undefined {
    return this.#end?.text;
  }

  get causeKind(): TablesCause | undefined {
    return this.#end?.kind;
  }

  /** Runs the migrations that have not run yet; rejects where one fails. */
  async open(): Promise<void> {
    await this.call('open', undefined);
  }

  call(method: TablesQuestion['method'], input: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#stopped || this.#queue.length >= maxWaiting || this.#closedForMs() > 0) {
        reject(this.#unavailable());
        return;
      }
      this.#queue.push({ method, input, resolve, reject });
      this.#working ??= this.#apart.runInAsyncScope(() => this.#work());
    });
  }

  /** Resolves once no process is left. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#idle);
    this.#open?.kill({ kind: 'stopped', text: 'was stopped' });
    await this.#working;
    await this.#open?.ended;
  }

  async #work(): Promise<void> {
    clearTimeout(this.#idle);
    for (
      let question = this.#queue.shift();
      question !== undefined;
      question = this.#queue.shift()
    ) {
      try {
        question.resolve(await this.#answer(question));
      } catch (error) {
        question.reject(error);
      }
    }
    this.#working = undefined;
    this.#idle = setTimeout(
      () => this.#open?.kill({ kind: 'stopped', text: 'was idle' }),
      idleMs,
    ).unref();
  }

  async #answer({ method, input }: TablesQuestion): Promise<unknown> {
    if (this.#stopped || this.#closedForMs() > 0) {
      throw this.#unavailable();
    }
    const running = this.#open ?? (await this.#launch());
    const value =
      method === 'open' ? undefined : await running.ask(method, input, this.#options.statementMs);
    this.#end = undefined;
    return method === 'all' ? arrivedRows(value as readonly unknown[]) : value;
  }

  async #launch(): Promise<TablesProcess> {
    const { origin, label, log, clock, data, openMs } = this.#options;
    const began = clock.monotonic();
    const running = await TablesProcess.start(origin, label, log);
    this.#open = running;
    void running.ended.then((end) => this.#ended(running, end, clock.monotonic() - began));
    try {
      if (this.#stopped) {
        throw this.#unavailable();
      }
      await running.ask('open', data, openMs);
    } catch (error) {
      running.kill({ kind: 'not-opened', text: `did not open: ${messageOf(error)}` });
      await running.ended;
      throw errors.tables_not_opened({ label, cause: messageOf(error) }, { cause: error });
    }
    return running;
  }

  #ended(running: TablesProcess, end: TablesEnd, ranMs: number): void {
    if (this.#open === running) {
      this.#open = undefined;
    }
    if (this.#stopped || end.kind === 'stopped') {
      return;
    }
    const { clock, log, label, onEnded } = this.#options;
    const delay = this.#nextDelay(clock.monotonic(), ranMs);
    this.#end = end;
    this.#closedUntil = delay === undefined ? Infinity : clock.monotonic() + delay;
    log.warn(
      {
        event: 'packs.tables_ended',
        pack: label,
        kind: end.kind,
        cause: end.text,
        retry_ms: delay,
      },
      `table process for ${label} ${end.text}; restarting with the next statement after a pause`,
    );
    onEnded(`the process for its tables ${end.text}`, delay !== undefined);
  }

  #closedForMs(): number {
    return this.#closedUntil - this.#options.clock.monotonic();
  }

  #unavailable(): SvcError {
    const { label } = this.#options;
    const why = this.#stopped
      ? 'are closed'
      : this.#end === undefined
        ? `have ${maxWaiting} statements to answer already`
        : `are ${this.state}: the process ${this.#end.text}`;
    const retryAfterSeconds = Math.min(300, Math.max(1, Math.ceil(this.#closedForMs() / 1_000)));
    return errors.tables_unavailable({ label, why }, { retryAfterSeconds });
  }
}
