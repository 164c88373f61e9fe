import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Environment, pluginSources, boot } from '../../../core/boot/index.ts';
import { discover } from '../../../core/host/index.ts';
import { databaseName, onlyAdds } from '../../../core/storage/index.ts';
import { createBackup } from '../backup/backup.ts';
import { openDataFolder } from '../data-folder.ts';
import { bootOptionsOver } from '../../serve/small-svc.ts';
import { migrationsSince } from './data-since.ts';

export interface Rehearsed {
  readonly version: string;
  /** Migrations that this version applies to that folder, as `plugin 012-what.sql`. */
  readonly migrations: readonly string[];
  /** True if the previous version can use the tables, which were only added to. */
  readonly keepsWayBack: boolean;
}

/** Opens a copy of the database of a data folder, which may be served meanwhile, and makes all migrations of this version there. */
export async function rehearse(environment: Environment): Promise<Rehearsed> {
  const { dataDir, product, databaseUrl } = await openDataFolder(environment);
  if (databaseUrl === undefined && !existsSync(join(dataDir, databaseName))) {
    return { version: product.version, migrations: [], keepsWayBack: true };
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-rehearsal-'));
  try {
    const copy = join(folder, 'data');
    await createBackup(copy, { dataDir, product, databaseUrl });
    copyKeys(dataDir, copy);
    const began = Date.now();
    const core = await boot(await bootOptionsOver(copy, [], environment));
    try {
      for (const { id, sql } of migrationsOf(product, copy)) {
        await core.parts.storage.migrate(id, sql);
      }
    } finally {
      await core.stop('the rehearsal has ended');
    }
    const migrations = migrationsSince(copy, began, product.embedded?.nativeBinding);
    return {
      version: product.version,
      migrations,
      keepsWayBack: migrations.every((name) => onlyAdds(name.split(' ')[1]!)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function migrationsOf(...[product, dataDir]: Parameters<typeof pluginSources>) {
  return [...discover(pluginSources(product, dataDir)).values()]
    .filter((folder) => folder.origin === 'shipped')
    .map((folder) => {
      const manifest = JSON.parse(folder.read('plugin.json')!.toString('utf8')) as {
        readonly runs_on?: readonly string[];
      };
      const names = folder.files().filter((name) => /^migrations\/[^/]+\.sql$/.test(name));
      const sql = names.toSorted().map((name) => ({
        name: name.slice('migrations/'.length),
        sql: folder.read(name)!.toString('utf8'),
      }));
      return { id: folder.id, sql: manifest.runs_on?.includes('manager') === false ? [] : sql };
    })
    .filter(({ sql }) => sql.length > 0);
}

function copyKeys(from: string, to: string): void {
  const folder = join(from, 'keys');
  if (existsSync(folder)) {
    mkdirSync(join(to, 'keys'), { mode: 0o700 });
    readdirSync(folder).forEach((name) => copyFileSync(join(folder, name), join(to, 'keys', name)));
  }
}
