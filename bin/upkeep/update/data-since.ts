import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { timestamp } from '../../../core/sdk/index.ts';
import { connect, databaseName, onlyAdds } from '../../../core/storage/index.ts';
import { readManifest } from '../backup/manifest.ts';
import { errors } from './errors.ts';
import type { UpdatePlan } from './files.ts';
import { runAsOwner } from './owner.ts';

/** Returns true if migrations that the version before cannot go on with were made since the update began. */
export function changedTables(
  { dataDir, beganAt }: Pick<UpdatePlan, 'dataDir' | 'beganAt'>,
  nativeBinding: string | undefined,
): boolean {
  return migrationsSince(dataDir, beganAt, nativeBinding).some(
    (name) => !onlyAdds(name.split(' ')[1]!),
  );
}

/** Returns the migrations made since a moment, `plugin 012-what.sql` of each. */
export function migrationsSince(
  dataDir: string,
  since: number,
  nativeBinding: string | undefined,
): readonly string[] {
  if (!existsSync(join(dataDir, databaseName))) {
    return [];
  }
  const connection = connect(join(dataDir, databaseName), {
    nativeBinding,
    readonly: true,
    mustExist: true,
  });
  try {
    const text =
      "select plugin || ' ' || name from core_migrations where applied_at >= ? order by applied_at";
    return connection.prepare(text).pluck().all(since) as string[];
  } finally {
    connection.close();
  }
}

/** Returns the backup that the new version has made before it changed anything. */
export function backupBefore({
  dataDir,
  beganAt,
  to,
}: Pick<UpdatePlan, 'dataDir' | 'beganAt' | 'to'>): string {
  const folder = join(dataDir, 'backups');
  const found = (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith(`-before-${to}`))
    .map((name) => join(folder, name))
    .find((dir) => readManifest(dir).created_at >= timestamp(beganAt));
  if (found === undefined) {
    throw errors.no_backup({ to, folder });
  }
  return found;
}

/** Puts a backup in the place of the data, with `program` as the user that the folder belongs to. */
export function restoreBackup(program: string, dataDir: string, dir: string): void {
  const { code, stderr } = runAsOwner(
    program,
    ['backup', 'restore', dir, '--without-key'],
    dataDir,
  );
  if (code !== 0) {
    throw errors.restore_failed({ dir, stderr: stderr.trim().slice(-500) });
  }
}
