import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { filesOf } from './contents.ts';
import { errors } from './errors.ts';

const tries = 6;

export interface SnapshotOptions {
  readonly dataDir: string;
  /** A folder of the same disk, where files are held by a second name while they are copied. */
  readonly shelter: string;
  readonly draft: string;
  readonly copyDatabase: (from: string, to: string) => Promise<void>;
  /** An earlier backup, whose file is taken where it is the same. */
  readonly base:
    | { readonly take: (name: string, live: string, copy: string) => Promise<boolean> }
    | undefined;
}

/**
 * Copies the files of one plugin as of one moment, while it keeps writing. The log is first, then
 * the catalogue, and the blocks are last: what moves from the log into a block meanwhile is in the
 * log of the copy, and a block that the catalogue names is there or everything is repeated. Returns
 * the names of what was copied.
 */
export async function snapshotUnit(
  unit: string,
  options: SnapshotOptions,
): Promise<readonly string[]> {
  for (let attempt = 1; ; attempt++) {
    const copied = await copyOnce(unit, options);
    if (copied !== undefined) {
      return copied;
    }
    if (attempt === tries) {
      throw errors.changes_too_fast({ unit, tries });
    }
  }
}

async function copyOnce(
  unit: string,
  { dataDir, shelter, draft, copyDatabase, base }: SnapshotOptions,
): Promise<readonly string[] | undefined> {
  [shelter, draft].forEach((folder) =>
    rmSync(join(folder, unit), { recursive: true, force: true }),
  );
  const hold = (name: string): boolean => holdFile(join(dataDir, name), join(shelter, name));
  const before = filesOf(dataDir, unit);
  const logs = before.filter(isLog);
  if (!logs.every(hold) || !same(filesOf(dataDir, unit).filter(isLog), logs)) {
    return undefined;
  }
  const databases = before.filter((name) => name.endsWith('.db'));
  for (const name of databases) {
    mkdirSync(dirname(join(draft, name)), { recursive: true, mode: 0o700 });
    await copyDatabase(join(dataDir, name), join(draft, name));
  }
  const others = filesOf(dataDir, unit).filter((name) => !isLog(name) && !name.endsWith('.db'));
  // A block that went meanwhile may be one that the copied catalogue names.
  if (
    !others.every(hold) ||
    !before.filter((name) => !isLog(name)).every((name) => existsSync(join(dataDir, name)))
  ) {
    return undefined;
  }
  for (const name of [...logs, ...others]) {
    mkdirSync(dirname(join(draft, name)), { recursive: true, mode: 0o700 });
    if (isLog(name) || (await base?.take(name, join(shelter, name), join(draft, name))) !== true) {
      await copyFile(join(shelter, name), join(draft, name), constants.COPYFILE_FICLONE);
      keepTimes(join(shelter, name), join(draft, name));
    }
  }
  rmSync(join(shelter, unit), { recursive: true, force: true });
  return [...databases, ...logs, ...others];
}

/** Copies the times, by which a later backup recognizes an unchanged file. */
function keepTimes(from: string, to: string): void {
  const { atime, mtime } = statSync(from);
  utimesSync(to, atime, mtime);
}

/** Keeps the content of a file reachable although its owner removes it; false when it has gone already. */
export function holdFile(file: string, held: string): boolean {
  mkdirSync(dirname(held), { recursive: true, mode: 0o700 });
  try {
    linkSync(file, held);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      return false;
    }
    if (code !== 'EPERM' && code !== 'EXDEV' && code !== 'ENOTSUP' && code !== 'EMLINK') {
      throw error;
    }
  }
  // A file system without second names.
  return copyIfThere(file, held);
}

function copyIfThere(file: string, held: string): boolean {
  try {
    copyFileSync(file, held);
    return statSync(held).isFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return false;
    }
    throw error;
  }
}

/** A segment of the log, or the list of them, which by its name is copied first. */
const isLog = (name: string): boolean =>
  name.split('/').includes('wal') || name.endsWith('/wal.segments');

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name, index) => name === b[index]);
