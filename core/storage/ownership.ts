import type { SvcError } from '../sdk/index.ts';
import type { Connection } from './sqlite/connection.ts';
import { errors } from './errors.ts';
import { names, rollsBackOthers, tokens, wordsOf } from './engine/sql-text.ts';

/** Throws unless every table that `sql` reads or changes belongs to the guard's owner. */
type Guard = (sql: string, parameters: readonly unknown[]) => void;

interface Catalogue {
  /** Root page of a table or index to its table. */
  readonly roots: ReadonlyMap<number, string>;
  readonly relations: ReadonlySet<string>;
  readonly virtual: ReadonlySet<string>;
  readonly prefixes: readonly string[];
}

interface Opcode {
  readonly opcode: string;
  readonly p1: number;
  readonly p2: number;
}

export const prefixOf = (owner: string): string => `${owner.replaceAll('-', '_')}_`;

const allowed = new Set(['select', 'with', 'values', 'insert', 'replace', 'update', 'delete']);
const rememberedTexts = 2_048;

/**
 * Check of who may access which table. SQLite itself is asked: the compiled program of a statement
 * opens its tables by root page, whatever views, triggers or quoting the text uses. Each text is
 * checked once.
 */
export class Ownership {
  readonly #connection: Connection;
  #known: Catalogue | undefined;
  #generation = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  guard(owner: string): Guard {
    let passed = new Set<string>();
    let asOf = this.#generation;
    return (sql, parameters) => {
      if (asOf !== this.#generation || passed.size >= rememberedTexts) {
        passed = new Set();
        asOf = this.#generation;
      }
      if (!passed.has(sql)) {
        this.#inspect(owner, sql, parameters);
        passed.add(sql);
      }
    };
  }

  /** Tables of others that a text could mean; for scripts, whose tables do not exist yet. */
  foreign(owner: string, sql: string): string | undefined {
    const { relations } = this.#catalogue();
    return [...names(sql)].find(
      (name) => relations.has(name) && !this.isOwn(owner, name) && !name.startsWith('sqlite_'),
    );
  }

  /** `alert_extra_x` is not of `alert` when there is an `alert-extra`. */
  isOwn(owner: string, table: string): boolean {
    const prefix = prefixOf(owner);
    return (
      table.startsWith(prefix) &&
      !this.#catalogue().prefixes.some(
        (other) => other.length > prefix.length && table.startsWith(other),
      )
    );
  }

  /** The schema has changed. */
  refresh(): void {
    this.#known = undefined;
    this.#generation += 1;
  }

  #inspect(owner: string, sql: string, parameters: readonly unknown[]): void {
    const text = [...tokens(sql)];
    if (!allowed.has(wordsOf(text)[0] ?? '')) {
      throw refusal(
        owner,
        'only select, insert, update and delete are for plugins; a schema changes by migrations, a transaction is write()',
      );
    }
    if (rollsBackOthers(text)) {
      throw refusal(
        owner,
        '"or rollback" would undo writes of others that share the commit; use "or abort"',
      );
    }
    const program = this.#connection.prepare(`EXPLAIN ${sql}`).all(parameters) as Opcode[];
    for (const operation of program) {
      const table = this.#tableOf(operation);
      // SQLite keeps its own books while it serves a statement; nobody else writes in them.
      const isServed =
        table?.startsWith('sqlite_') &&
        (operation.opcode === 'OpenRead' || ![...names(sql)].includes(table));
      if (table !== undefined && !this.isOwn(owner, table) && !isServed) {
        throw refusal(owner, `the statement touches ${table}`);
      }
    }
    // A virtual table has no page to go by; its name is in the text, or in a script that was searched for it.
    const { virtual } = this.#catalogue();
    const hidden =
      program.some(({ opcode }) => /^V[A-Z]/.test(opcode)) &&
      [...names(sql)].find((name) => virtual.has(name) && !this.isOwn(owner, name));
    if (typeof hidden === 'string') {
      throw refusal(owner, `the statement touches ${hidden}`);
    }
  }

  #tableOf({ opcode, p1, p2 }: Opcode): string | undefined {
    const root =
      opcode === 'Clear' ? p1 : /^(OpenRead|OpenWrite|ReopenIdx)$/.test(opcode) ? p2 : undefined;
    return root === undefined
      ? undefined
      : root === 1
        ? 'sqlite_schema'
        : (this.#catalogue().roots.get(root) ?? `an unknown table (page ${root})`);
  }

  #catalogue(): Catalogue {
    return (this.#known ??= readCatalogue(this.#connection));
  }
}

function readCatalogue(connection: Connection): Catalogue {
  const rows = connection
    .prepare("select type, name, tbl_name, rootpage, coalesce(sql, '') as sql from sqlite_schema")
    .all() as {
    type: string;
    name: string;
    tbl_name: string;
    rootpage: number;
    sql: string;
  }[];
  const relations = rows.filter(({ type }) => type === 'table' || type === 'view');
  const known = relations.some(({ name }) => name === 'core_migrations')
    ? (connection.prepare('select distinct plugin from core_migrations').pluck().all() as string[])
    : [];
  return {
    roots: new Map(
      rows
        .filter(({ rootpage }) => rootpage > 0)
        .map((row) => [row.rootpage, row.tbl_name.toLowerCase()]),
    ),
    relations: new Set(relations.map(({ name }) => name.toLowerCase())),
    virtual: new Set(
      relations
        .filter(({ sql }) => /^create\s+virtual/i.test(sql))
        .map(({ name }) => name.toLowerCase()),
    ),
    prefixes: known.map(prefixOf),
  };
}

function refusal(owner: string, why: string): SvcError {
  return errors.foreign_table({ owner, prefix: prefixOf(owner), cause: why });
}
