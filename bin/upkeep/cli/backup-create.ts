import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { timestamp } from '../../../core/sdk/index.ts';
import { createBackup } from '../backup/backup.ts';
import { partsOf } from '../backup/manifest.ts';
import { partsText, passphraseOf } from './backup-text.ts';
import { type Call, type Command, usageFailure, printable, sizeOf } from 'svc/cli';
import { assertHasData, openDataFolder } from '../data-folder.ts';
import { withProgress } from '../../product/with-progress.ts';

const keyApart =
  'Next: store a copy of the secret key away from this backup, or back up with --with-key; without the key, the secrets in the backup cannot be decrypted.';

export const command: Command = {
  operands: ['[dir]'],
  options: {
    'with-key': {
      about:
        'include the secret key; a backup with the key can decrypt every secret, so store the backup safely',
    },
    'passphrase-file': {
      about: 'file with a passphrase that encrypts the included key',
      value: 'file',
    },
    'without-telemetry': { about: 'leave out metrics, logs and traces' },
    in: {
      about:
        'folder for backups; the new backup is named after the current time and uses the newest backup there as its base',
      value: 'dir',
    },
    keep: {
      about:
        'with --in: number of backups to keep; older backups are removed once the new one is verified',
      value: 'n',
    },
    base: {
      about:
        'earlier backup on the same disk to use as the base; unchanged files take no extra space',
      value: 'dir',
    },
  },
  about:
    'Copies the database, metrics, logs, traces, recordings and packs, even while svc is running. The copy is verified before its folder is renamed to the final name, so a folder with that name is always a complete backup. Default: backups/<time> in the data folder.',
  example: 'svc backup create /mnt/backup/svc-today --with-key',

  async run(call) {
    const opened = await openDataFolder(call.environment);
    const { dataDir } = opened;
    assertHasData(opened);
    const folder = resolve(call.value('in') ?? join(dataDir, 'backups'));
    const keep = keptOf(call);
    const dir = resolve(
      call.optionalOperand(0) ?? join(folder, timestamp(Date.now()).replaceAll(':', '')),
    );
    const passphrase = passphraseOf(call);
    const withKey = call.has('with-key') || passphrase !== undefined;
    const files = call.has('without-telemetry') ? 'no telemetry' : 'all';
    const base =
      call.value('base') ?? (call.value('in') === undefined ? undefined : backupsIn(folder).at(-1));
    const options = {
      ...opened,
      withKey,
      passphrase,
      files,
      ...(base !== undefined && { base: resolve(base) }),
    } as const;
    let rotten: readonly string[] = [];
    const onDamagedBase = (names: readonly string[]): void => void (rotten = names);
    const manifest = await withProgress(`Backing up ${dataDir}`, () =>
      createBackup(dir, { ...options, onDamagedBase }),
    );
    const removed = keep === undefined ? [] : backupsIn(folder).slice(0, -keep);
    removed.forEach((old) => rmSync(old, { recursive: true }));
    const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
    const parts = partsOf(manifest);
    return {
      data: { dir, ...manifest, parts, removed, damaged_in_base: rotten },
      text: () =>
        [
          `${dir} (${sizeOf(bytes)})`,
          partsText(manifest),
          ...(rotten.length === 0 ? [] : ['', rottenText(base!, rotten)]),
          ...(withKey ? [] : ['', keyApart]),
        ].join('\n'),
    };
  },
};

/** The new backup is good; who restores the old one is to know that it is not. */
const rottenText = (base: string, names: readonly string[]): string =>
  printable(
    `The base ${base} is damaged: these files were copied from the live data instead: ${names.join(', ')}. Delete the base, and check its disk.`,
  );

/** Returns the backups that this command has made there, oldest first. */
function backupsIn(folder: string): readonly string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter(
      (name) =>
        /^\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z$/.test(name) &&
        existsSync(join(folder, name, 'manifest.json')),
    )
    .toSorted()
    .map((name) => join(folder, name));
}

function keptOf(call: Call): number | undefined {
  const text = call.value('keep');
  if (text === undefined) {
    return undefined;
  }
  if (call.value('in') === undefined || call.optionalOperand(0) !== undefined) {
    throw usageFailure('--keep needs --in, the folder of the backups to count');
  }
  if (!/^[1-9]\d{0,3}$/.test(text)) {
    throw usageFailure('--keep must be a whole number from 1');
  }
  return Number(text);
}
