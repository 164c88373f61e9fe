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
  'Next: keep a copy of the secret key in another place than this backup, or make the backup with --with-key; without the key no secret in it can be opened.';

export const command: Command = {
  operands: ['[dir]'],
  options: {
    'with-key': {
      about: 'put the secret key in too: such a backup opens every secret, so keep it like one',
    },
    'passphrase-file': {
      about: 'seal the key that is put in with the passphrase in this file',
      value: 'file',
    },
    'without-telemetry': { about: 'leave metrics, logs and traces out' },
    in: {
      about:
        'a folder of backups: the new one is named by the time, and the newest there is its base',
      value: 'dir',
    },
    keep: {
      about: 'with --in: how many stay there; older ones are removed once the new one is good',
      value: 'n',
    },
    base: {
      about: 'an earlier backup on the same disk: files that have not changed since take no room',
      value: 'dir',
    },
  },
  about:
    'Database, metrics, logs, traces, recordings and packs, also while svc serves. The copy is read back before the folder gets its name, so a folder with that name is a good backup. Default: backups/<time> in the data folder.',
  example: 'svc backup create /mnt/backup/svc-today --with-key',

  async run(call) {
    const { dataDir, product } = await openDataFolder(call.environment);
    assertHasData(dataDir);
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
      dataDir,
      product,
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
    `The base ${base} is damaged: what was taken from the live data instead is ${names.join(', ')}. Do not keep it, and look at its disk.`,
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
    throw usageFailure('--keep goes with --in, the folder of the backups that it counts');
  }
  if (!/^[1-9]\d{0,3}$/.test(text)) {
    throw usageFailure('--keep is how many backups stay: a whole number from 1');
  }
  return Number(text);
}
