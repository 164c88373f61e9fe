import { copyFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

import type { Product } from '../../core/boot/index.ts';
import { messageOf, SvcError, timestamp } from '../../core/sdk/index.ts';
import { DataLock, connectWriter, databaseName, keyFile, readKeys, syncPath, writeKeys } from '../../core/storage/index.ts';
import { fingerprint, keyIn, type Manifest, verifyBackup } from './backup.ts';

export interface Restored {
  readonly manifest: Manifest;
  /** Where the data that was live is kept; undefined when there was none. */
  readonly aside: string | undefined;
  /** Why the live data could not be opened any more; it is kept aside as it was found. */
  readonly damage: string | undefined;
}

/**
 * Puts a backup in the place of the live data. A crash at any line leaves the old data or the
 * restored, each complete; what was live stays in a folder beside it.
 */
export async function restoreBackup(dir: string, dataDir: string, product: Product): Promise<Restored> {
  const nativeBinding = product.embedded?.nativeBinding;
  const lock = new DataLock(dataDir, { now: Date.now, nativeBinding });
  const incoming = join(dataDir, 'restore.incoming');
  try {
    const manifest = await verifyBackup(dir, product);
    rmSync(incoming, { recursive: true, force: true });
    mkdirSync(incoming, { mode: 0o700 });
    const copy = await copied(dir, incoming, manifest);
    takeKeysIn(dataDir, keyIn(dir, manifest));
    const { aside, damage } = setAside(dataDir, join(dataDir, `before-restore-${timestamp(Date.now()).replaceAll(':', '')}`), nativeBinding);
    renameSync(copy, join(dataDir, databaseName));
    syncPath(dataDir);
    return { manifest, aside, damage };
  } finally {
    rmSync(incoming, { recursive: true, force: true });
    lock.release();
  }
}

async function copied(dir: string, incoming: string, manifest: Manifest): Promise<string> {
  const copy = join(incoming, databaseName);
  copyFileSync(join(dir, databaseName), copy);
  syncPath(copy);
  if ((await fingerprint(copy)).sha256 !== manifest.files.find(({ name }) => name === databaseName)!.sha256) {
    throw new SvcError('conflict', `the backup ${dir} changed while it was copied: nothing was changed; try again`);
  }
  return copy;
}

/** Adds the keys of a backup to the ring: secrets of both sides stay readable, the restored one seals. */
function takeKeysIn(dataDir: string, file: string | undefined): void {
  if (file === undefined) {
    return;
  }
  const incoming = readKeys(file);
  const present = existsSync(keyFile(dataDir)) ? readKeys(keyFile(dataDir)) : [];
  writeKeys(dataDir, [...present.filter((key) => !incoming.some((other) => other.equals(key))), ...incoming]);
}

/** Leaves a complete `svc.db` in place for the rename to replace: a log that stayed behind would be replayed into the new one. */
function setAside(dataDir: string, aside: string, nativeBinding: string | undefined): Omit<Restored, 'manifest'> {
  const live = join(dataDir, databaseName);
  if (!existsSync(live)) {
    return { aside: undefined, damage: undefined };
  }
  mkdirSync(aside, { mode: 0o700 });
  let damage: string | undefined;
  try {
    connectWriter(live, { nativeBinding }).close();
  } catch (error) {
    // Damaged live data is a reason to restore, not to stop; what there is of it is kept as it is.
    damage = messageOf(error);
  }
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(live + suffix)) {
      linkSync(live + suffix, join(aside, databaseName + suffix));
    }
  }
  syncPath(aside);
  for (const suffix of ['-wal', '-shm']) {
    if (existsSync(live + suffix)) {
      unlinkSync(live + suffix);
    }
  }
  return { aside, damage };
}
