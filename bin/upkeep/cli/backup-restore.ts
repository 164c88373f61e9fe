import { resolve } from 'node:path';

import { partsOf } from '../backup/manifest.ts';
import { restoreBackup } from '../backup/restore.ts';
import { partsText, passphraseOf } from './backup-text.ts';
import type { Command } from 'svc/cli';
import { openDataFolder } from '../data-folder.ts';
import { withProgress } from '../../product/with-progress.ts';

export const command: Command = {
  operands: ['<dir>'],
  options: {
    'passphrase-file': { about: 'file with the passphrase of an encrypted key', value: 'file' },
    'without-key': {
      about:
        "keep the data folder's current key; secrets encrypted with another key stay unreadable",
    },
  },
  about:
    'Stop svc first. The backup is verified before anything is changed, and the current data is kept in a folder next to the restored data.',
  example: 'svc backup restore /mnt/backup/svc-today --data /var/lib/svc',

  async run(call) {
    const dir = resolve(call.operand(0));
    const { dataDir, product, databaseUrl } = await openDataFolder(call.environment);
    const options = {
      passphrase: passphraseOf(call),
      withoutKey: call.has('without-key'),
      databaseUrl,
    };
    const { manifest, aside, asideSchema } = await withProgress(`Restoring ${dir}`, () =>
      restoreBackup(dir, dataDir, product, options),
    );
    const places = [
      ...(aside === undefined ? [] : [aside]),
      ...(asideSchema === undefined ? [] : [`the schema ${asideSchema} of Postgres`]),
    ];
    const kept =
      places.length === 0 ? '' : `; the previous data is kept in ${places.join(' and ')}`;
    return {
      data: {
        data_dir: dataDir,
        aside: aside ?? null,
        aside_schema: asideSchema ?? null,
        created_at: manifest.created_at,
        app_version: manifest.app_version,
        parts: partsOf(manifest),
      },
      text: () =>
        `${dataDir} holds the data of ${manifest.created_at} (svc ${manifest.app_version})${kept}\n${partsText(manifest)}`,
    };
  },
};
