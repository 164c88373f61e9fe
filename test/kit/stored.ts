import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import Database from 'better-sqlite3';

import { nameOf, overPostgres } from './database.ts';

/** Opens what a house stores past the house: its file, or its database in Postgres, of which the same is asked in the same words. */
export const storedIn = (dataDir: string, options: Database.Options = {}): Database.Database =>
  overPostgres
    ? (new Cluster(nameOf(dataDir)) as unknown as Database.Database)
    : new Database(join(dataDir, 'svc.db'), options);

interface Column {
  readonly table: string;
  readonly column: string;
}

/** Every column of every table. */
export const columnsIn = (database: Database.Database): readonly Column[] =>
  database
    .prepare(
      overPostgres
        ? `select table_name as "table", column_name as "column" from information_schema.columns
            join information_schema.tables using (table_schema, table_name) where table_schema = 'svc' and table_type = 'BASE TABLE'`
        : `select list.name as "table", info.name as "column" from pragma_table_list as list, pragma_table_info(list.name) as info
            where list.schema = 'main' and list.type = 'table' and list.name not like 'sqlite_%'`,
    )
    .all() as Column[];

/** All that is stored of a house, as somebody has it who got hold of the disk or of a dump. */
export function everythingStored(dataDir: string): string {
  if (overPostgres) {
    return execFileSync('pg_dump', ['-d', nameOf(dataDir)], {
      encoding: 'latin1',
      env: clusterOf(process.env),
      maxBuffer: 1e9,
    });
  }
  return ['svc.db', 'svc.db-wal']
    .map((file) => join(dataDir, file))
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'latin1'))
    .join('');
}

/** Copies the data folder of a house that has stopped. */
export function copyStored(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  if (overPostgres) {
    const env = clusterOf(process.env);
    // Sessions of a house that was killed end when Postgres notices.
    const others = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${nameOf(from)}'`;
    execFileSync('psql', ['-XqAt', '-d', 'postgres', '-c', others], { env });
    execFileSync('createdb', ['-T', nameOf(from), nameOf(to)], { env });
  }
}

const clusterOf = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...environment,
  PGHOST: '127.0.0.1',
  PGUSER: 'svc',
  PGPORT: environment['SVC_TEST_POSTGRES_PORT'],
});

/** The part of better-sqlite3 that tests use, over psql: each call is a session. */
class Cluster {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  prepare(text: string): Question {
    return new Question(text, (words) => this.exec(words));
  }

  exec(text: string): string {
    return execFileSync(
      'psql',
      ['-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', this.#name, '-c', `set search_path = svc; ${text}`],
      {
        encoding: 'utf8',
        env: clusterOf(process.env),
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
  }

  transaction<T>(work: () => T): { immediate: () => T } {
    return { immediate: work };
  }

  close(): void {
    // Nothing stays open between two calls.
  }
}

class Question {
  readonly #text: string;
  readonly #ask: (text: string) => string;
  #isPlucked = false;

  constructor(text: string, ask: (text: string) => string) {
    this.#text = text;
    this.#ask = ask;
  }

  pluck(): this {
    this.#isPlucked = true;
    return this;
  }

  all(...values: readonly unknown[]): unknown[] {
    const rows = JSON.parse(
      this.#ask(
        `select coalesce(json_agg(asked), '[]') from (${filled(this.#text, values)}) as asked`,
      ),
    ) as Record<string, unknown>[];
    return this.#isPlucked ? rows.map((row) => Object.values(row)[0]) : rows;
  }

  get(...values: readonly unknown[]): unknown {
    return this.all(...values)[0];
  }

  run(...values: readonly unknown[]): { readonly lastInsertRowid: number } {
    const isInsert = /^\s*insert/i.test(this.#text);
    const told = this.#ask(
      `${filled(this.#text, values)}${isInsert ? '; select case when exists (select from pg_sequences where last_value is not null) then lastval() end' : ''}`,
    );
    return { lastInsertRowid: Number(told.trim()) };
  }
}

/** Puts values in the place of question marks outside of quotes. */
function filled(text: string, values: readonly unknown[]): string {
  let index = 0;
  return text.replaceAll(/'(?:[^']|'')*'|\?/g, (part) =>
    part === '?' ? literal(values[index++]) : part,
  );
}

function literal(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') {
    return String(value);
  }
  if (typeof value === 'string') {
    return `'${value.replaceAll("'", "''")}'`;
  }
  assert.ok(value === null || value === undefined, 'a value is a number, a text or null');
  return 'null';
}
