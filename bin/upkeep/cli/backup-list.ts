import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf } from '../../../core/sdk/index.ts';
import { readManifest } from '../backup/manifest.ts';
import { type Command, printable, table, sizeOf } from 'svc/cli';
import { openDataFolder } from '../data-folder.ts';

export const command: Command = {
  operands: [],
  options: {},
  about:
    'Includes the backups that svc makes before upgrades. To check a backup, use "svc backup verify".',
  example: 'svc backup list',

  async run(call) {
    const { dataDir } = await openDataFolder(call.environment);
    const folder = join(dataDir, 'backups');
    const items = existsSync(folder)
      ? readdirSync(folder, { withFileTypes: true }).filter(
          (entry) => entry.isDirectory() && !entry.name.startsWith('.'),
        )
      : [];
    const backups = items
      .map(({ name }) => lookAt(join(folder, name)))
      .sort((a, b) => (a.dir < b.dir ? 1 : -1));
    return {
      data: { items: backups },
      text: (paint) => {
        if (backups.length === 0) {
          return `No backups in ${folder}; "svc backup create" makes one`;
        }
        const rows = backups.map((backup) =>
          backup.problem === null
            ? [
                backup.dir,
                printable(backup.created_at),
                printable(backup.app_version),
                sizeOf(backup.bytes),
              ]
            : [backup.dir, paint.bad('unreadable'), '', '', printable(backup.problem)],
        );
        return table([['BACKUP', 'MADE', 'VERSION', 'SIZE', ''], ...rows]);
      },
    };
  },
};

/** Reads a backup's manifest, which only "svc backup verify" verifies. */
function lookAt(dir: string) {
  try {
    const { created_at, app_version, files } = readManifest(dir);
    return {
      dir,
      created_at: String(created_at),
      app_version: String(app_version),
      bytes: files.reduce((sum, file) => sum + file.bytes, 0),
      problem: null,
    };
  } catch (error) {
    return { dir, created_at: null, app_version: null, bytes: null, problem: messageOf(error) };
  }
}
