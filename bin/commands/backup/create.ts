import { join, resolve } from 'node:path';

import { timestamp } from '../../../core/sdk/index.ts';
import { createBackup } from '../../backup/backup.ts';
import type { Command } from '../../cli/command.ts';
import { assertHasData, openDataFolder } from '../../cli/data-folder.ts';
import { withProgress } from '../../cli/progress.ts';
import { sizeOf } from '../../cli/size.ts';

export const command: Command = {
  operands: ['[dir]'],
  options: { 'with-key': { about: 'put the secret key in too: such a backup opens every secret, so keep it like one' } },
  about: 'The copy is read back before the folder gets its name, so a folder with that name is a good backup. Default: backups/<time> in the data folder.',
  example: 'svc backup create /mnt/backup/svc-today --with-key',

  async run(call) {
    const { dataDir, product } = await openDataFolder(call.environment);
    assertHasData(dataDir);
    const dir = resolve(call.optionalOperand(0) ?? join(dataDir, 'backups', timestamp(Date.now()).replaceAll(':', '')));
    const withKey = call.has('with-key');
    const manifest = await withProgress(`Backing up ${dataDir}`, () => createBackup(dir, { dataDir, product, withKey }));
    const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
    return { data: { dir, ...manifest }, text: () => `${dir} (${sizeOf(bytes)}${withKey ? ', with the secret key' : ''})` };
  },
};
