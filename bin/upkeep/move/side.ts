import type { Table } from './shape.ts';

/** Value as both sides can compare it: numbers are written as the shortest text that means them. */
export type Cell = string | Buffer | null;
export type Row = readonly Cell[];

/** Rows of a table by its key: after one key, up to another, in order. */
export interface Range {
  readonly after: Row | undefined;
  readonly upTo: Row | undefined;
  readonly limit: number | undefined;
}

/** A database of svc whose rows can be read: a file of SQLite, or a schema of Postgres. */
export interface Side {
  /** Names it in sentences. */
  readonly place: string;
  /** Definitions of its tables, indexes and triggers in the words of SQLite, in an order in which they can be made. */
  definitions(): Promise<readonly string[]>;
  rows(table: Table, range: Range): Promise<readonly Row[]>;
  /** The highest number that a table has ever given to a row. */
  lastNumber(table: Table): Promise<bigint>;
}

/** Origin of the rows, as of one moment. */
export interface Source extends Side {
  /** Says that the data is elsewhere from now on, so that nobody goes on with this. */
  retire(to: string): Promise<void>;
  close(): Promise<void>;
}

/** A database under construction: it has its name only when it is complete. */
export interface Target extends Side {
  /** Removes what was made, and makes empty tables. */
  make(tables: readonly Table[], definitions: readonly string[]): Promise<void>;
  put(table: Table, rows: readonly Row[]): Promise<void>;
  remove(table: Table, keys: readonly Row[]): Promise<void>;
  setNumber(table: Table, last: bigint): Promise<void>;
  /** Gives it its name; triggers come last, because they refuse what a copy does. */
  complete(triggers: readonly string[]): Promise<void>;
  close(): Promise<void>;
}
