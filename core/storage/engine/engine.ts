import type { Database } from 'better-sqlite3';

import type { SqlStatement } from './sql-text.ts';

/** Result of one statement; the same on a read connection and across the writer's thread. */
export interface Outcome {
  readonly rows: readonly unknown[];
  readonly changes?: number;
  readonly insertId?: number | bigint;
}

export type Run = (sql: string, parameters: readonly unknown[]) => Outcome | Promise<Outcome>;

/**
 * Steps of the open group that need no answer: one that fails dooms the group, and its commit says so.
 * A savepoint is named by its depth, so that undoing one undoes all inside it, whatever their state.
 */
export type Step = 'begin' | 'save' | 'release' | 'undo' | 'rollback';

/** Carries out the statements of one group after another; a group is one transaction. */
export interface Writer {
  /** Why nothing can be written at this moment. */
  readonly down: string | undefined;
  /** Why the group that is open can no longer be committed. */
  readonly lost: Error | undefined;
  step(step: Step, depth?: number): void;
  /** A patient statement may take as long as it needs. */
  query(sql: string, parameters: readonly unknown[], patient?: boolean): Promise<Outcome>;
  /** Resolves when the group is on disk. */
  commit(): Promise<void>;
  /** Gives unused space back to the disk; only between groups. */
  trim(checked: boolean): Promise<void>;
}

/** Answers queries, each by itself or several over one unchanging view. */
export interface Readers {
  run(sql: string, parameters: readonly unknown[]): Outcome | Promise<Outcome>;
  view(): View;
}

export interface View {
  run(sql: string, parameters: readonly unknown[]): Outcome | Promise<Outcome>;
  end(): void;
}

export type Relation = { readonly name: string; readonly type: string; readonly strict: number };

/** The tables there are, as SQLite describes them. */
export interface Schema {
  /** Connection to ask about tables; about rows only those of `core_migrations`. */
  readonly connection: Database;
  /** Carries out a migration by `query`; returns what there is then. */
  carryOut(
    statements: readonly SqlStatement[],
    query: (sql: string, parameters?: readonly unknown[]) => Promise<Outcome>,
  ): Promise<readonly Relation[]>;
  /** A migration has been committed. */
  refresh(): Promise<void>;
}

/** Place of the data before it is opened: SQLite's file, or a database of Postgres. */
export interface Place {
  /** True if there was data before this start. */
  readonly existed: boolean;
  open(limits: EngineLimits): Promise<Engine>;
}

/** Right of this process to write where several could; a database that knows a later epoch refuses it. */
export interface Tenure {
  readonly node: string;
  readonly epoch: number;
}

export interface EngineLimits {
  readonly reads?: ReaderLimits;
  /** A writer that owes an answer for longer is replaced; default 30 000. */
  readonly stallMs?: number;
  /** Called with every failure of the store itself. */
  readonly onFailure: (code: string) => void;
}

export interface ReaderLimits {
  /** Views that may be open at once; default 4. */
  readonly views?: number;
  /** Deadline of a view, which keeps the store from being trimmed; default 5 000. */
  readonly viewMs?: number;
}

export interface Engine {
  readonly writer: Writer;
  readonly readers: Readers;
  readonly schema: Schema;
  /** Complaint for health while commits succeed. */
  complaint(): string | undefined;
  close(): Promise<void>;
}

export const relationsText =
  "select name, type, strict from pragma_table_list where schema = 'main'";
