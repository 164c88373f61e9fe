import { chmodSync, constants, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { Product } from '../../../core/boot/index.ts';
import { timestamp } from '../../../core/sdk/index.ts';
import {
  databaseName,
  DataLock,
  keyFile,
  readKeys,
  syncPath,
  writeDurably,
  writeKeys,
} from '../../../core/storage/index.ts';
import { keysIn, verifyBackup } from './backup.ts';
import { partOf, unitOf, unitsOf } from './contents.ts';
import { errors } from './errors.ts';
import { bringToPostgres } from './postgres-data.ts';
import { fingerprint, type Manifest } from './manifest.ts';
import { incomingName, journalName, type RestoreJournal, swapIn } from './swap.ts';

export interface Restored {
  readonly manifest: Manifest;
  /** Folder with the previous live data; undefined if there was none. */
  readonly aside: string | undefined;
  /** Why the live data could not be opened any more; it is kept aside as it was found. */
  readonly damage: string | undefined;
  /** Schema of Postgres with the previous database; undefined if there was none. */
  readonly asideSchema: string | undefined;
}

export interface RestoreOptions {
  readonly passphrase?: string | undefined;
  /** Leaves the key of the data folder as it is, whatever the backup brings. */
  readonly withoutKey?: boolean;
  /** The Postgres that takes the database; default: the data folder. What was there is kept in a schema of another name. */
  readonly databaseUrl?: string | undefined;
}

/**
 * Restores a backup over the live data. A crash at any line leaves the old data or the restored,
 * each complete: the moves are recorded before the first one, and the next start, or the next
 * restore, continues them. The previous data stays in a folder next to it.
 */
export async function restoreBackup(
  dir: string,
  dataDir: string,
  product: Product,
  options: RestoreOptions = {},
): Promise<Restored> {
  const nativeBinding = product.embedded?.nativeBinding;
  const lock = new DataLock(dataDir, { now: Date.now, nativeBinding });
  const incoming = join(dataDir, incomingName);
  const at = timestamp(Date.now()).replaceAll(':', '');
  let postgres: Awaited<ReturnType<typeof bringToPostgres>> | undefined;
  try {
    // SQLite leaves its files readable to all, and svc serves with a mask that a command has not.
    chmodSync(join(dataDir, 'svc.lock'), 0o600);
    swapIn(dataDir, nativeBinding);
    const manifest = await verifyBackup(dir, product);
    const keys =
      options.withoutKey === true ? undefined : keysIn(dir, manifest, options.passphrase);
    rmSync(incoming, { recursive: true, force: true });
    mkdirSync(incoming, { mode: 0o700 });
    await copyIn(dir, incoming, manifest);
    takeKeysIn(dataDir, incoming, keys);
    const { databaseUrl } = options;
    if (databaseUrl !== undefined) {
      const database = join(incoming, databaseName);
      postgres = await bringToPostgres(database, databaseUrl, asideSchema(at), product);
      rmSync(database);
    }
    const journal: RestoreJournal = {
      aside: `before-restore-${at}`,
      units: replacedUnits(dataDir, manifest),
    };
    writeDurably(join(dataDir, journalName), JSON.stringify(journal));
    const swapped = swapIn(dataDir, nativeBinding)!;
    await postgres?.swap();
    return {
      manifest,
      ...swapped,
      asideSchema: postgres?.hadData === true ? asideSchema(at) : undefined,
    };
  } finally {
    await postgres?.close();
    if (!existsSync(join(dataDir, journalName))) {
      rmSync(incoming, { recursive: true, force: true });
    }
    lock.release();
  }
}

/** A name that Postgres takes without quotes. */
const asideSchema = (at: string): string =>
  `svc_before_${at.replaceAll(/[^0-9TZ]/g, '').toLowerCase()}`;

async function copyIn(dir: string, incoming: string, { files }: Manifest): Promise<void> {
  const folders = new Set<string>([incoming]);
  for (const { name, sha256 } of files.filter((file) => partOf(file.name) !== 'key')) {
    const copy = join(incoming, name);
    mkdirSync(dirname(copy), { recursive: true, mode: 0o700 });
    await copyFile(join(dir, name), copy, constants.COPYFILE_FICLONE);
    syncPath(copy);
    folders.add(dirname(copy));
    if ((await fingerprint(copy)).sha256 !== sha256) {
      throw errors.changed_midway({ dir });
    }
  }
  folders.forEach(syncPath);
}

/**
 * Returns the units to be replaced: those in the backup and, if it is a full one, those that it
 * does not contain.
 */
function replacedUnits(
  dataDir: string,
  { files, left_out: leftOut }: Manifest,
): RestoreJournal['units'] {
  const brought = new Set(
    files
      .map(({ name }) => unitOf(name))
      .filter((unit) => unit !== databaseName && partOf(unit) !== 'key'),
  );
  const strangers =
    leftOut === undefined
      ? []
      : unitsOf(dataDir).filter((unit) => !brought.has(unit) && !leftOut.includes(partOf(unit)));
  return [
    ...[...brought].map((unit) => ({ unit, brought: true })),
    ...strangers.map((unit) => ({ unit, brought: false })),
  ];
}

/** Adds the keys of a backup to the ring: secrets of both sides stay readable, the restored one seals. */
function takeKeysIn(dataDir: string, incoming: string, keys: Buffer | undefined): void {
  if (keys === undefined) {
    return;
  }
  const file = join(incoming, 'secret.key');
  writeFileSync(file, keys, { mode: 0o600 });
  const brought = readKeys(file);
  rmSync(file);
  const present = existsSync(keyFile(dataDir)) ? readKeys(keyFile(dataDir)) : [];
  writeKeys(dataDir, [
    ...present.filter((key) => !brought.some((other) => other.equals(key))),
    ...brought,
  ]);
}
