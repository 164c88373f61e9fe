import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';

import { errors } from './errors.ts';
import type { Run } from '../engine/engine.ts';

/** Line of queries: each separately, or — for reading — several over one unchanging view. */
export interface Line {
  readonly run: Run;
  view?(): { readonly run: Run; end(): void };
}

/** Creates Kysely over a line; a forbidden statement throws a sentence. */
export function kyselyOver<T>(line: Line): Kysely<T> {
  return new Kysely<T>({
    dialect: {
      createAdapter: () => adapter,
      createDriver: () => new LineDriver(line),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => compiler,
    },
  });
}

const adapter = new SqliteAdapter();
const compiler = new SqliteQueryCompiler();

class LineDriver implements Driver {
  readonly #line: Line;

  constructor(line: Line) {
    this.#line = line;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<LineConnection> {
    return new LineConnection(this.#line);
  }

  async beginTransaction(connection: LineConnection): Promise<void> {
    connection.begin();
  }

  async commitTransaction(connection: LineConnection): Promise<void> {
    connection.end();
  }

  async rollbackTransaction(connection: LineConnection): Promise<void> {
    connection.end();
  }

  async releaseConnection(connection: LineConnection): Promise<void> {
    connection.end();
  }

  async destroy(): Promise<void> {}
}

class LineConnection implements DatabaseConnection {
  readonly #line: Line;
  #view: { readonly run: Run; end(): void } | undefined;

  constructor(line: Line) {
    this.#line = line;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { rows, changes, insertId } = await (this.#view ?? this.#line).run(sql, parameters);
    return {
      rows: rows as R[],
      ...(changes !== undefined && { numAffectedRows: BigInt(changes) }),
      ...(insertId !== undefined && { insertId: BigInt(insertId) }),
    };
  }

  // eslint-disable-next-line require-yield -- an open iterator would hold the read connection
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw errors.no_streaming();
  }

  begin(): void {
    if (this.#line.view === undefined) {
      throw errors.in_transaction();
    }
    this.#view = this.#line.view();
  }

  end(): void {
    this.#view?.end();
    this.#view = undefined;
  }
}
