import { join, resolve } from 'node:path';

import { timestamp } from '../../../core/sdk/index.ts';
import { createBackup, partsOf } from '../../backup/backup.ts';
import { partsText, passphraseOf } from '../../cli/backup-text.ts';
import type { Command } from '../../cli/command.ts';
import { assertHasData, openDataFolder } from '../../cli/data-folder.ts';
import { withProgress } from '../../cli/progress.ts';
import { sizeOf } from '../../cli/size.ts';

export const command: Command = {
  operands: ['[dir]'],
  options: {
    'with-key': { about: 'put the secret key in too: such a backup opens every secret, so keep it like one' },
    'passphrase-file': { about: 'seal the key that is put in with the passphrase in this file', value: 'file' },
    'without-telemetry': { about: 'leave metrics, logs and traces out' },
    base: { about: 'an earlier backup on the same disk: files that have not changed since take no room', value: 'dir' },
  },
  about:
    'Database, metrics, logs, traces, recordings and packs, also while svc serves. The copy is read back before the folder gets its name, so a folder with that name is a good backup. Default: backups/<time> in the data folder.',
  example: 'svc backup create /mnt/backup/svc-today --with-key',

  async run(call) {
    const { dataDir, product } = await openDataFolder(call.environment);
    assertHasData(dataDir);
    const dir = resolve(call.optionalOperand(0) ?? join(dataDir, 'backups', timestamp(Date.now()).replaceAll(':', '')));
    const passphrase = passphraseOf(call);
    const withKey = call.has('with-key') || passphrase !== undefined;
    const files = call.has('without-telemetry') ? 'no telemetry' : 'all';
    const base = call.value('base');
    const options = { dataDir, product, withKey, passphrase, files, ...(base !== undefined && { base: resolve(base) }) } as const;
    const manifest = await withProgress(`Backing up ${dataDir}`, () => createBackup(dir, options));
    const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
    const parts = partsOf(manifest);
    return { data: { dir, ...manifest, parts }, text: () => `${dir} (${sizeOf(bytes)})\n${partsText(manifest)}` };
  },
};
