import { Pool, type PoolClient } from 'pg';

import { messageOf } from '../../sdk/index.ts';
import type { ReaderLimits, Readers, View } from '../engine/engine.ts';
import type { Outcome } from '../engine/engine.ts';
import { errors } from './errors.ts';
import { configOf, connectMs, isPooler, statementMs, type Texts, type Way } from './line.ts';
import { asKnown, isLoss } from './trouble.ts';

const connections = 8;
const waitingAtMost = 2_048;

/** Connections that only read; what a query finds is what was committed before it. */
export class ReadPool implements Readers {
  readonly #pool: Pool;
  readonly #way: Way;
  readonly #texts: Texts;
  readonly #limits: Required<ReaderLimits>;
  readonly #views = new Set<PooledView>();

  constructor(way: Way, texts: Texts, { views = 4, viewMs = 5_000 }: ReaderLimits = {}) {
    this.#way = way;
    this.#texts = texts;
    this.#limits = { views, viewMs };
    this.#pool = new Pool({
      ...configOf(way),
      max: connections + views,
      connectionTimeoutMillis: connectMs,
      idleTimeoutMillis: 60_000,
    });
    // An idle connection that ends is replaced when one is needed.
    this.#pool.on('error', () => {});
  }

  async run(sql: string, parameters: readonly unknown[]): Promise<Outcome> {
    const client = await this.#take();
    return await this.#ask(client, sql, parameters).then(
      (outcome) => {
        client.release();
        return outcome;
      },
      (error: unknown) => {
        client.release(isLoss(error) || error === late);
        throw this.#told(error);
      },
    );
  }

  /** Runs what is in the words of Postgres already. */
  async own(text: string, values: readonly unknown[] = []): Promise<readonly unknown[]> {
    return (await this.#pool.query(text, [...values])).rows as unknown[];
  }

  view(): View {
    const { views, viewMs } = this.#limits;
    if (this.#views.size >= views) {
      throw errors.pg_views_taken({ views }, { retryAfterSeconds: 1 });
    }
    const view: PooledView = new PooledView({
      viewMs,
      client: this.#take(),
      ask: (client, sql, parameters) =>
        this.#ask(client, sql, parameters).catch((error: unknown) => {
          throw this.#told(error);
        }),
      onEnd: () => this.#views.delete(view),
    });
    this.#views.add(view);
    return view;
  }

  async close(): Promise<void> {
    this.#views.forEach((view) => view.end());
    await this.#pool.end();
  }

  async #take(): Promise<PoolClient> {
    if (this.#pool.waitingCount >= waitingAtMost) {
      throw errors.pg_readers({ waiting: waitingAtMost }, { retryAfterSeconds: 1 });
    }
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw errors.pg_gone({ cause: messageOf(error) }, { cause: error, retryAfterSeconds: 1 });
    }
  }

  /** A statement of which Postgres does not say in time that it was late is given up with its connection. */
  async #ask(client: PoolClient, sql: string, parameters: readonly unknown[]): Promise<Outcome> {
    if (!this.#texts.of(sql).isQuery) {
      throw errors.pg_reads_only();
    }
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(late), statementMs + 1_000).unref();
    });
    try {
      return await Promise.race([this.#texts.ask(client, sql, parameters), deadline]);
    } finally {
      clearTimeout(timer);
    }
  }

  #told(error: unknown): unknown {
    if (isPooler(error)) {
      this.#way.sessions = false;
    }
    return error === late || (error as { code?: unknown }).code === '57014'
      ? errors.pg_late({ seconds: statementMs / 1000 })
      : asKnown(error);
  }
}

const late = new Error('no answer in time');

interface ViewParts {
  readonly viewMs: number;
  readonly client: Promise<PoolClient>;
  readonly ask: (
    client: PoolClient,
    sql: string,
    parameters: readonly unknown[],
  ) => Promise<Outcome>;
  readonly onEnd: () => void;
}

/** One read transaction, until `end` or its deadline. */
class PooledView implements View {
  readonly #parts: ViewParts;
  readonly #timer: NodeJS.Timeout;
  readonly #begun: Promise<PoolClient>;
  #busy = 0;
  #ended = false;

  constructor(parts: ViewParts) {
    this.#parts = parts;
    this.#timer = setTimeout(() => this.end(), parts.viewMs).unref();
    this.#begun = parts.client.then(async (client) => {
      await client.query('begin isolation level repeatable read read only');
      return client;
    });
    // Whoever asks is told.
    this.#begun.catch(() => {});
  }

  async run(sql: string, parameters: readonly unknown[]): Promise<Outcome> {
    this.#assertOpen();
    this.#busy += 1;
    try {
      const client = await this.#begun;
      this.#assertOpen();
      return await this.#parts.ask(client, sql, parameters);
    } catch (error) {
      this.#assertOpen();
      throw error;
    } finally {
      this.#busy -= 1;
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    if (this.#ended) {
      return;
    }
    this.#ended = true;
    this.#parts.onEnd();
    this.#begun.then(
      (client) =>
        this.#busy > 0
          ? client.release(true)
          : client.query('rollback').then(
              () => client.release(),
              () => client.release(true),
            ),
      () =>
        void this.#parts.client.then(
          (client) => client.release(true),
          () => {},
        ),
    );
  }

  #assertOpen(): void {
    if (this.#ended) {
      throw errors.pg_view_ended({ seconds: this.#parts.viewMs / 1000 });
    }
  }
}
