import { SvcError } from '../sdk/index.ts';
import type { Connection } from './connection.ts';
import { names, rollsBackOthers, tokens, wordsOf } from './sql-text.ts';

/** Throws unless every table that `sql` reads or changes belongs to the guard's owner. */
export type Guard = (sql: string, parameters: readonly unknown[]) => void;

export interface Ownership {
  guard(owner: string): Guard;
  /** Tables of others that a text could mean; for scripts, whose tables do not exist yet. */
  foreign(owner: string, sql: string): string | undefined;
  isOwn(owner: string, table: string): boolean;
  /** The schema has changed. */
  refresh(): void;
}

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
 * Who may touch which table. The question is put to SQLite itself: the compiled program of a
 * statement opens its tables by root page, whatever views, triggers or quoting the text uses.
 * Each text is asked about once.
 */
export function openOwnership(connection: Connection): Ownership {
  let catalogue: Catalogue | undefined;
  let generation = 0;

  function read(): Catalogue {
    const rows = connection.prepare("select type, name, tbl_name, rootpage, coalesce(sql, '') as sql from sqlite_schema").all() as {
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
      roots: new Map(rows.filter(({ rootpage }) => rootpage > 0).map((row) => [row.rootpage, row.tbl_name.toLowerCase()])),
      relations: new Set(relations.map(({ name }) => name.toLowerCase())),
      virtual: new Set(relations.filter(({ sql }) => /^create\s+virtual/i.test(sql)).map(({ name }) => name.toLowerCase())),
      prefixes: known.map(prefixOf),
    };
  }

  const current = (): Catalogue => (catalogue ??= read());

  /** `alert_extra_x` is not of `alert` when there is an `alert-extra`. */
  function isOwn(owner: string, table: string): boolean {
    const prefix = prefixOf(owner);
    return table.startsWith(prefix) && !current().prefixes.some((other) => other.length > prefix.length && table.startsWith(other));
  }

  function foreign(owner: string, sql: string): string | undefined {
    const { relations } = current();
    return [...names(sql)].find((name) => relations.has(name) && !isOwn(owner, name) && !name.startsWith('sqlite_'));
  }

  function inspect(owner: string, sql: string, parameters: readonly unknown[]): void {
    const text = [...tokens(sql)];
    if (!allowed.has(wordsOf(text)[0] ?? '')) {
      throw refusal(owner, 'only select, insert, update and delete are for plugins; a schema changes by migrations, a transaction is write()');
    }
    if (rollsBackOthers(text)) {
      throw refusal(owner, '"or rollback" would undo writes of others that share the commit; use "or abort"');
    }
    const program = connection.prepare(`EXPLAIN ${sql}`).all(parameters) as Opcode[];
    for (const operation of program) {
      const table = tableOf(operation);
      // SQLite keeps its own books while it serves a statement; nobody else writes in them.
      const isServed = table?.startsWith('sqlite_') && (operation.opcode === 'OpenRead' || ![...names(sql)].includes(table));
      if (table !== undefined && !isOwn(owner, table) && !isServed) {
        throw refusal(owner, `the statement touches ${table}`);
      }
    }
    // A virtual table has no page to go by; its name is in the text, or in a script that was searched for it.
    const hidden = program.some(({ opcode }) => /^V[A-Z]/.test(opcode)) && [...names(sql)].find((name) => current().virtual.has(name) && !isOwn(owner, name));
    if (typeof hidden === 'string') {
      throw refusal(owner, `the statement touches ${hidden}`);
    }
  }

  function tableOf({ opcode, p1, p2 }: Opcode): string | undefined {
    const root = opcode === 'Clear' ? p1 : /^(OpenRead|OpenWrite|ReopenIdx)$/.test(opcode) ? p2 : undefined;
    return root === undefined ? undefined : root === 1 ? 'sqlite_schema' : (current().roots.get(root) ?? `an unknown table (page ${root})`);
  }

  return {
    guard(owner) {
      let passed = new Set<string>();
      let asOf = generation;
      return (sql, parameters) => {
        if (asOf !== generation || passed.size >= rememberedTexts) {
          passed = new Set();
          asOf = generation;
        }
        if (!passed.has(sql)) {
          inspect(owner, sql, parameters);
          passed.add(sql);
        }
      };
    },
    foreign,
    isOwn,
    refresh() {
      catalogue = undefined;
      generation += 1;
    },
  };
}

function refusal(owner: string, why: string): SvcError {
  return new SvcError('internal', `plugin ${owner} may use only its own tables, ${prefixOf(owner)}*: ${why}`);
}
