import type { Outcome, ReaderLimits, Readers, View } from '../engine/engine.ts';
import { type Connection, type ConnectOptions, connectReader } from './connection.ts';
import { errors } from './errors.ts';
import { type Execute, executor } from './statements.ts';
import { asUnavailable, sqliteCode } from './trouble.ts';

interface ConnectionLimits extends ReaderLimits {
  /** Called with every failure of the store itself. */
  readonly onFailure?: (code: string) => void;
}

interface Pooled {
  readonly connection: Connection;
  readonly execute: Execute;
}

/** Read connections on the main thread: a query runs immediately, whoever is writing. */
export class ReadConnections implements Readers {
  readonly #open: () => Pooled;
  readonly #limits: Required<ReaderLimits>;
  readonly #onFailure: ConnectionLimits['onFailure'];
  readonly #shared: Pooled;
  readonly #idle: Pooled[] = [];
  readonly #busy = new Set<Pooled>();

  constructor(
    file: string,
    options: ConnectOptions,
    { views = 4, viewMs = 5_000, onFailure }: ConnectionLimits = {},
  ) {
    this.#open = () => {
      const connection = connectReader(file, options);
      return { connection, execute: executor(connection) };
    };
    this.#limits = { views, viewMs };
    this.#onFailure = onFailure;
    this.#shared = this.#open();
  }

  /** Outside of every transaction, for looking at the schema. */
  get connection(): Connection {
    return this.#shared.connection;
  }

  run(sql: string, parameters: readonly unknown[]): Outcome {
    return this.#run(this.#shared.execute, sql, parameters);
  }

  /** A connection of one's own whose queries all see the same commit, until it is closed or late. */
  view(): ConnectionView {
    const { views, viewMs } = this.#limits;
    if (this.#busy.size >= views) {
      throw errors.views_taken(
        { views },
        {
          retryAfterSeconds: 1,
        },
      );
    }
    const member = this.#idle.pop() ?? this.#open();
    this.#busy.add(member);
    member.execute('BEGIN', []);
    return new ConnectionView(
      viewMs,
      (sql, parameters) => this.#run(member.execute, sql, parameters),
      () => this.#giveBack(member),
    );
  }

  close(): void {
    for (const { connection } of [this.#shared, ...this.#idle, ...this.#busy]) {
      connection.close();
    }
    this.#busy.clear();
  }

  #giveBack(member: Pooled): void {
    if (this.#busy.delete(member)) {
      member.execute('ROLLBACK', []);
      this.#idle.push(member);
    }
  }

  #run(execute: Execute, sql: string, parameters: readonly unknown[]): Outcome {
    try {
      return execute(sql, parameters);
    } catch (error) {
      const code = sqliteCode(error);
      if (code !== undefined) {
        this.#onFailure?.(code);
      }
      throw asUnavailable(error);
    }
  }
}

/** One read transaction, until `end` or its deadline. */
class ConnectionView implements View {
  readonly #viewMs: number;
  readonly #execute: Execute;
  readonly #timer: NodeJS.Timeout;
  #giveBack: (() => void) | undefined;

  constructor(viewMs: number, execute: Execute, giveBack: () => void) {
    this.#viewMs = viewMs;
    this.#execute = execute;
    this.#giveBack = giveBack;
    this.#timer = setTimeout(() => this.end(), viewMs).unref();
  }

  run(sql: string, parameters: readonly unknown[]): Outcome {
    if (this.#giveBack === undefined) {
      throw errors.view_ended({ seconds: this.#viewMs / 1000 });
    }
    return this.#execute(sql, parameters);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#giveBack?.();
    this.#giveBack = undefined;
  }
}
