import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { storedIn } from '../../kit/stored.ts';

/** Everything in a data folder: each row of each table, each file with its bytes, each folder. */
export function contentsOf(dataDir: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const name of readdirSync(dataDir, { recursive: true, encoding: 'utf8' })) {
    // The database itself is read by its rows; files that come and go are no residue.
    const stat = name.startsWith('svc.db')
      ? undefined
      : statSync(join(dataDir, name), { throwIfNoEntry: false });
    if (stat !== undefined) {
      const content = stat.isFile()
        ? createHash('sha256')
            .update(readFileSync(join(dataDir, name)))
            .digest('hex')
        : 'folder';
      found.add(`file ${name} ${content}`);
    }
  }
  const db = storedIn(dataDir, { readonly: true });
  try {
    for (const table of db
      .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
      .pluck()
      .all() as string[]) {
      (db.prepare(`select * from "${table}"`).all() as object[]).forEach((row) =>
        found.add(`row ${table} ${JSON.stringify(row)}`),
      );
    }
  } finally {
    db.close();
  }
  return found;
}

/** Returns what was added, as `+ …`, and what was removed, as `- …`. */
export const differences = (
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
): readonly string[] => [
  ...[...before].filter((one) => !after.has(one)).map((one) => `- ${one}`),
  ...[...after].filter((one) => !before.has(one)).map((one) => `+ ${one}`),
];
