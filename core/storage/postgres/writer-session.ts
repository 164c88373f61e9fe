import { AsyncResource } from 'node:async_hooks';
import { Socket } from 'node:net';

import Database from 'better-sqlite3';
import type { Client, QueryResult } from 'pg';

import { type Logger, messageOf } from '../../sdk/index.ts';
import type { Step, Tenure, Writer } from '../engine/engine.ts';
import { errors as storageErrors } from '../engine/errors.ts';
import type { Outcome } from '../engine/engine.ts';
import { errors } from './errors.ts';
import { isPooler, open, type Texts, type Way } from './line.ts';
import { asKnown, isLoss } from './trouble.ts';

interface SessionOptions {
  readonly way: Way;
  readonly texts: Texts;
  /** Quoted name of the schema. */
  readonly schema: string;
  readonly log: Logger;
  /** Throws for a database that cannot be written to. */
  readonly greet: (client: Client) => Promise<void>;
  readonly stallMs?: number | undefined;
  /** Undefined: no group is refused because another process owns the data. */
  readonly tenure: Tenure | undefined;
}

/** Less than a write may take, so that it is told what it waited for. */
const turnSeconds = 4;
/** A process that stands still in the middle of a group loses its turn after this. */
const idleMs = 6_000;
const longestPauseMs = 5_000;

/**
 * Writes over one connection of Postgres. Each group begins by taking the turn, a row of which only one transaction at a
 * time can have the lock: so writes are as serial as with SQLite, whoever else writes to the same database.
 */
export class WriterSession implements Writer {
  readonly #options: SessionOptions;
  readonly #stallMs: number;
  readonly #texts: Record<Exclude<Step, 'rollback'>, (depth: number) => string>;
  // The connection and its timers belong to the storage, not to the request that happened to come first.
  readonly #own = new AsyncResource('svc.storage.session');
  #client: Client | undefined;
  #socket: Socket | undefined;
  #steps: string[] = [];
  #down: string | undefined = 'it is not connected yet';
  #lost: Error | undefined;
  /** Why the open group can only be rolled back. */
  #doom: unknown;
  /** The statement of the open unit after which Postgres takes no other. */
  #failed: string | undefined;
  #again: NodeJS.Timeout | undefined;
  #pauseMs = 0;
  #closing = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#stallMs = options.stallMs ?? 30_000;
    const { schema, tenure } = options;
    const fence = tenure && `; select ${schema}.require_owner('${tenure.node}', ${tenure.epoch})`;
    this.#texts = {
      begin: () =>
        `begin; select set_config('lock_timeout', '${turnSeconds}s', true), set_config('idle_in_transaction_session_timeout', '${idleMs}', true), set_config('statement_timeout', '0', true), set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true); select from ${schema}.core_turn for update${fence ?? ''}`,
      save: (depth) => `savepoint unit${depth}`,
      release: (depth) => `release savepoint unit${depth}`,
      undo: (depth) => `rollback to savepoint unit${depth}; release savepoint unit${depth}`,
    };
  }

  get down(): string | undefined {
    return this.#down;
  }

  get lost(): Error | undefined {
    return this.#lost;
  }

  /** Connects for the first time, or throws what is in the way. */
  async connect(): Promise<void> {
    let socket: Socket | undefined;
    const client = await open(this.#options.way, {
      pipeline: true,
      stream: () => (socket = new Socket()),
    });
    try {
      await this.#options.greet(client);
    } catch (error) {
      await client.end().catch(noop);
      throw error;
    }
    client.on('error', (error) => this.#lose(client, messageOf(error)));
    client.on('end', () => this.#lose(client, 'it was closed'));
    this.#client = client;
    this.#socket = socket;
    this.#steps = [];
    this.#down = undefined;
    this.#pauseMs = 0;
  }

  step(step: Step, depth = 0): void {
    if (step === 'begin') {
      // A group that begins without a connection has none to the end, even if there is one again meanwhile.
      this.#lost =
        this.#client === undefined
          ? storageErrors.write_lost({ cause: this.#down ?? 'it is closed' })
          : undefined;
      this.#doom = undefined;
      this.#steps = [];
    }
    // Of a group that is gone there is nothing to keep or to undo.
    if (this.#lost !== undefined) {
      return;
    }
    if (step === 'undo' || step === 'begin') {
      this.#failed = undefined;
    }
    if (step === 'rollback') {
      // A group of which nothing was sent was never begun.
      if (!this.#isUnsent()) {
        this.#send('rollback');
      }
      this.#steps = [];
    } else {
      this.#steps.push(this.#texts[step](depth));
    }
  }

  async query(sql: string, parameters: readonly unknown[], patient = false): Promise<Outcome> {
    const client = this.#assertOpen();
    this.#flush(client);
    try {
      return await this.#inTime(
        this.#options.texts.ask(client, sql, parameters),
        patient ? undefined : this.#stallMs,
      );
    } catch (error) {
      throw this.#reasonOf(error, messageOf(error));
    }
  }

  async commit(): Promise<void> {
    const client = this.#assertOpen();
    if (this.#isUnsent()) {
      this.#steps = [];
      return;
    }
    const steps = this.#steps;
    this.#steps = [];
    let results: QueryResult | QueryResult[];
    try {
      results = await this.#inTime(client.query([...steps, 'commit'].join('; ')), this.#stallMs);
    } catch (error) {
      if (isLoss(error)) {
        this.#lose(client, messageOf(error));
        throw storageErrors.commit_unknown({ cause: messageOf(error) });
      }
      this.#send('rollback');
      throw this.#doom ?? asKnown(error);
    }
    const last = [results].flat().at(-1)?.command;
    if (last !== 'COMMIT') {
      throw (this.#doom ??
        storageErrors.write_lost({ cause: 'Postgres rolled the group back' })) as Error;
    }
  }

  /** Postgres trims itself. */
  async trim(): Promise<void> {}

  async close(): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#again);
    this.#down = 'storage is closed';
    await this.#client?.end();
  }

  #isUnsent(): boolean {
    return this.#steps[0]?.startsWith('begin') === true;
  }

  #assertOpen(): Client {
    if (this.#client === undefined || this.#down !== undefined) {
      throw storageErrors.writer_down({ cause: this.#down ?? 'storage is closed' });
    }
    if (this.#lost !== undefined) {
      throw this.#lost;
    }
    return this.#client;
  }

  #flush(client: Client): void {
    if (this.#steps.length > 0) {
      const text = this.#steps.join('; ');
      this.#steps = [];
      this.#send(text, client);
    }
  }

  /** Sends steps, whose answer is looked at only when it is a failure. */
  #send(text: string, client = this.#client): void {
    client?.query(text).catch((error: unknown) => {
      if (isLoss(error)) {
        this.#lose(client, messageOf(error));
      } else {
        this.#doom ??=
          (error as { code?: string }).code === '55P03'
            ? errors.pg_turn({ seconds: turnSeconds }, { cause: error, retryAfterSeconds: 1 })
            : asKnown(error);
        this.#lost ??= this.#doom as Error;
        client.query('rollback').catch(noop);
      }
    });
  }

  #reasonOf(error: unknown, message: string): unknown {
    const { code } = error as { code?: unknown };
    if (this.#lost !== undefined || this.#doom !== undefined) {
      return this.#lost ?? this.#doom;
    }
    if (code === '25P02') {
      return new Database.SqliteError(
        `an earlier statement of this write failed: ${this.#failed ?? message}`,
        'SQLITE_ABORT',
      );
    }
    if (isPooler(error)) {
      this.#options.way.sessions = false;
    }
    if (code !== undefined && isLoss(error)) {
      this.#lose(this.#client, message);
      return this.#lost;
    }
    this.#failed ??= message;
    return asKnown(error);
  }

  async #inTime<R>(asked: Promise<R>, ms: number | undefined): Promise<R> {
    if (ms === undefined) {
      return await asked;
    }
    const timer = this.#own.runInAsyncScope(() =>
      setTimeout(() => this.#socket?.destroy(new Error(`no answer for ${ms / 1000} s`)), ms),
    );
    try {
      return await asked;
    } finally {
      clearTimeout(timer);
    }
  }

  #lose(client: Client | undefined, cause: string): void {
    if (client === undefined || this.#client !== client) {
      return;
    }
    this.#client = undefined;
    this.#steps = [];
    this.#lost = storageErrors.write_lost({ cause });
    if (this.#closing) {
      return;
    }
    const { log, way } = this.#options;
    this.#down = `the connection to Postgres at ${way.address.place} was lost (${cause}) and is being made again`;
    log.error({ event: 'storage.connection_lost', cause }, this.#down);
    void client.end().catch(noop);
    this.#own.runInAsyncScope(() => this.#connectAgain());
  }

  #connectAgain(): void {
    this.#again = setTimeout(() => {
      this.connect().then(
        () =>
          this.#options.log.info(
            { event: 'storage.connected_again' },
            'Postgres is back; writes resumed',
          ),
        (error: unknown) => {
          this.#down = `Postgres is away: ${messageOf(error)}`;
          if (!this.#closing) {
            this.#connectAgain();
          }
        },
      );
    }, this.#pauseMs).unref();
    this.#pauseMs = Math.min(longestPauseMs, this.#pauseMs * 2 + 100);
  }
}

function noop(): void {}
