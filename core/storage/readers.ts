import { SvcError } from '../sdk/index.ts';
import { type Connection, type ConnectOptions, connectReader } from './connection.ts';
import { type Execute, executor, type Outcome } from './statements.ts';
import { asUnavailable, sqliteCode } from './trouble.ts';

export interface View {
  run(sql: string, parameters: readonly unknown[]): Outcome;
  end(): void;
}

/** Read connections on the main thread: a query runs at once, whoever is writing. */
export interface Readers {
  /** Outside of every transaction, for looking at the schema. */
  readonly connection: Connection;
  run(sql: string, parameters: readonly unknown[]): Outcome;
  /** A connection of one's own whose queries all see the same commit, until `end` or the deadline. */
  view(): View;
  close(): void;
}

export interface ReaderLimits {
  /** Views that may be open at once; default 4. */
  readonly views?: number;
  /** An open view keeps the log from being trimmed, hence its deadline; default 5 000. */
  readonly viewMs?: number;
  /** Told of every failure of the store itself. */
  readonly onFailure?: (code: string) => void;
}

interface Pooled {
  readonly connection: Connection;
  readonly execute: Execute;
}

export function openReaders(file: string, options: ConnectOptions, { views: mayOpen = 4, viewMs = 5_000, onFailure }: ReaderLimits = {}): Readers {
  const shared = pooled();
  const idle: Pooled[] = [];
  const busy = new Set<Pooled>();

  function pooled(): Pooled {
    const connection = connectReader(file, options);
    return { connection, execute: executor(connection) };
  }

  function run(execute: Execute, sql: string, parameters: readonly unknown[]): Outcome {
    try {
      return execute(sql, parameters);
    } catch (error) {
      const code = sqliteCode(error);
      if (code !== undefined) {
        onFailure?.(code);
      }
      throw asUnavailable(error);
    }
  }

  return {
    connection: shared.connection,
    run: (sql, parameters) => run(shared.execute, sql, parameters),
    view() {
      if (busy.size >= mayOpen) {
        throw new SvcError('unavailable', `${mayOpen} read transactions are open already; try again in a moment`, { retryAfterSeconds: 1 });
      }
      const member = idle.pop() ?? pooled();
      busy.add(member);
      member.execute('BEGIN', []);
      const timer = setTimeout(end, viewMs);
      timer.unref();

      function end(): void {
        clearTimeout(timer);
        if (busy.delete(member)) {
          member.execute('ROLLBACK', []);
          idle.push(member);
        }
        open = false;
      }

      let open = true;
      return {
        run(sql, parameters) {
          if (!open) {
            throw new SvcError('unavailable', `this read transaction has ended; one lasts at most ${viewMs / 1000} s`);
          }
          return run(member.execute, sql, parameters);
        },
        end,
      };
    },
    close() {
      for (const { connection } of [shared, ...idle, ...busy]) {
        connection.close();
      }
      busy.clear();
    },
  };
}
