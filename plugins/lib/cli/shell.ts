import type { Clock, Ids } from 'svc/sdk';
import type { ApiClient, Reachable } from './api-client.ts';
import type { ExitCode } from './failure.ts';
import type { RunningSvc } from './running.ts';

/**
 * Services that the running program provides to a command, for the data folder named in the call.
 */
export interface Shell {
  /** Version of the svc whose command this is. */
  readonly version: string;
  /** Program and first arguments that call this svc, before the words of a command. */
  readonly program: readonly string[];
  readonly clock: Clock;
  readonly ids: Ids;
  /** Returns the path of the data folder, whether or not it exists. */
  dataDir(): Promise<string>;
  /** The svc that serves the data folder, if one does. */
  running(): Promise<RunningSvc | undefined>;
  connect(svc: Reachable): ApiClient;
  /** Reports on standard error what takes so long, and its outcome. */
  progress<T>(what: string, work: () => Promise<T>): Promise<T>;
  /**
   * Asks a svc that has the named plugins, no data, and ends with the answer; it lives by the given
   * clock instead of the system's.
   */
  askEmpty<T>(
    plugins: readonly string[],
    ask: (client: ApiClient, at: Reachable) => Promise<T>,
    options?: { readonly clock?: Clock },
  ): Promise<T>;
  /**
   * Queries one plugin about a copy of the data folder that nobody serves; the folder itself stays
   * unchanged.
   */
  askCopy<T>(plugin: string, ask: (client: ApiClient) => Promise<T>): Promise<T>;
  /**
   * Reads these columns of tables of an SQLite file that another program wrote, without changing
   * it; tables and columns that the file does not have are absent.
   */
  readTables(
    file: string,
    wanted: Readonly<Record<string, readonly string[]>>,
  ): Promise<ReadonlyMap<string, SqliteTable>>;
  /** Starts all of svc in this process, with nothing but these variables of the environment. */
  serve(environment: Readonly<Record<string, string>>): Promise<Serving>;
  /** Starts something and keeps it until a signal stops it, in order; resolves with the exit code. */
  foreground<R extends Stoppable>(
    start: () => Promise<R>,
    opened: (running: R) => void,
  ): Promise<ExitCode>;
}

/** A table of a file that another program wrote. */
export interface SqliteTable {
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export interface Stoppable {
  stop(reason: string): Promise<void>;
}

/** A svc that was started by a command, and ends with it. */
export interface Serving extends Stoppable {
  readonly url: string;
  readonly dataDir: string;
  /** Token of the operator of its data folder. */
  readonly token: string;
}
