import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from '../sdk/index.ts';
import { errors } from './errors.ts';
import { rollsBackOthers, type SqlStatement, statements, wordsOf } from './engine/sql-text.ts';

export interface Migration {
  /** `001-init.sql`: numbered from 1 without gaps. */
  readonly name: string;
  readonly sql: string;
}

/** A migration that has been read and may be run. */
export interface Script {
  readonly number: number;
  readonly name: string;
  readonly sha256: string;
  readonly statements: readonly SqlStatement[];
}

/**
 * Returns whether a migration only adds, as its name promises: the previous version can use the
 * result.
 */
export const onlyAdds = (name: string): boolean => /^\d{3}-add-/.test(name);

/** The migrations of a folder, in order; none when there is no such folder. */
export function loadMigrations(dir: string): Migration[] {
  try {
    const names = existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith('.sql')) : [];
    return names.toSorted().map((name) => ({ name, sql: readFileSync(join(dir, name), 'utf8') }));
  } catch (error) {
    throw errors.migrations_unreadable({ folder: dir, cause: messageOf(error) }, { cause: error });
  }
}

/**
 * Parses migrations except the statements of those `applied`, refusing what would break the
 * previous version, which still runs next to the new one.
 */
export function scripts(owner: string, migrations: readonly Migration[], applied = 0): Script[] {
  return migrations.map(({ name, sql }, index) => {
    const number = index + 1;
    const where = `migration ${name} of ${owner}`;
    if (!/^\d{3}-[a-z0-9-]+\.sql$/.test(name) || Number(name.slice(0, 3)) !== number) {
      throw errors.migration_number({ where, number: String(number).padStart(3, '0') });
    }
    const found = index < applied ? [] : statements(sql);
    for (const statement of found) {
      const complaint =
        complaintAbout(statement) ?? (onlyAdds(name) && !adds(statement) ? doesMore : undefined);
      if (complaint !== undefined) {
        throw errors.migration_statement({
          where,
          statement: shortened(statement.text),
          problem: complaint,
        });
      }
    }
    return {
      number,
      name,
      sha256: createHash('sha256').update(sql).digest('hex'),
      statements: found,
    };
  });
}

const doesMore =
  'does more than add, against its file name: the previous version could not run with it';

/** A row of the version before must still be taken, and still go: so without triggers, and with no key that would hold it. */
function adds({ tokens }: SqlStatement): boolean {
  const words = wordsOf(tokens).join(' ');
  return (
    /^(create (table|index)|alter table .*\badd)\b/.test(words) &&
    (!words.includes('references') || /on delete (cascade|set null)/.test(words))
  );
}

const permitted =
  /^(create (table|virtual|view|trigger|index|unique)|alter table|drop (index|view|trigger)|insert|replace|update|delete|with)\b/;

function complaintAbout({ tokens }: SqlStatement): string | undefined {
  const words = wordsOf(tokens);
  const start = words.slice(0, 2).join(' ');
  if (
    start === 'drop table' ||
    (start === 'alter table' && words.some((word) => word === 'rename' || word === 'drop'))
  ) {
    return 'removes or renames a table or column that the previous version still uses: add a new one, and stop using the old';
  }
  if (!permitted.test(start)) {
    return 'is not for migrations, which create, extend and fill tables inside a transaction that is already open';
  }
  if (rollsBackOthers(tokens)) {
    return 'could roll back writes of others that share the commit: use ABORT';
  }
  if (words.join(' ').includes('initially deferred')) {
    return 'defers a check to the commit, which is shared with others: use an immediate foreign key';
  }
  return undefined;
}

const shortened = (text: string): string =>
  text.replace(/\s+/g, ' ').replace(/^(.{79}).{2,}$/, '$1…');
