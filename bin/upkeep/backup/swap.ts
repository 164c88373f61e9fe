import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { messageOf } from '../../../core/sdk/index.ts';
import {
  connectWriter,
  DataLock,
  databaseName,
  forgetCleanStop,
  syncPath,
} from '../../../core/storage/index.ts';
import { isUnit } from './contents.ts';
import { errors } from './errors.ts';

export const incomingName = 'restore.incoming';
export const journalName = 'restore.json';

/** Journal of a restore's moves, written when everything incoming is complete and on disk. */
export interface RestoreJournal {
  readonly aside: string;
  /** Folders that give way; `brought` if one of the same name comes in. */
  readonly units: readonly { readonly unit: string; readonly brought: boolean }[];
}

export interface Swapped {
  readonly aside: string | undefined;
  readonly damage: string | undefined;
}

/**
 * Completes a restore that was interrupted after its point of no return; called before a start,
 * which must not see half of it.
 */
export function finishRestore(dataDir: string, nativeBinding: string | undefined): void {
  if (existsSync(join(dataDir, journalName))) {
    const lock = new DataLock(dataDir, { now: Date.now, nativeBinding });
    try {
      swapIn(dataDir, nativeBinding);
    } finally {
      lock.release();
    }
  }
}

/** Makes the moves of the journal that are still to be made; each is one rename, and done twice it does no harm. */
export function swapIn(dataDir: string, nativeBinding: string | undefined): Swapped | undefined {
  const journal = join(dataDir, journalName);
  if (!existsSync(journal)) {
    return undefined;
  }
  const { aside: name, units } = checked(
    JSON.parse(readFileSync(journal, 'utf8')) as RestoreJournal,
    journal,
  );
  const [incoming, aside] = [join(dataDir, incomingName), join(dataDir, name)];
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  units.forEach(({ unit, brought }) => swapFolder(unit, brought, { dataDir, incoming, aside }));
  const copy = join(incoming, databaseName);
  const damage = existsSync(copy) ? setDatabaseAside(dataDir, aside, nativeBinding) : undefined;
  if (existsSync(copy)) {
    // Before the rename: what the last stop noted is true of the database that goes.
    forgetCleanStop(dataDir);
    renameSync(copy, join(dataDir, databaseName));
  }
  syncPath(dataDir);
  const isEmpty = readdirSync(aside).length === 0;
  if (isEmpty) {
    rmSync(aside, { recursive: true });
  }
  rmSync(incoming, { recursive: true, force: true });
  rmSync(journal);
  syncPath(dataDir);
  return { aside: isEmpty ? undefined : aside, damage };
}

/** Checks the journal: write access to the data folder must not allow moving files elsewhere. */
function checked(journal: RestoreJournal, file: string): RestoreJournal {
  if (
    !isAside(journal.aside) ||
    !Array.isArray(journal.units) ||
    !journal.units.every(({ unit }) => isUnit(unit))
  ) {
    throw errors.foreign_journal({ file });
  }
  return journal;
}

const isAside = (name: unknown): boolean =>
  typeof name === 'string' && /^before-restore-[0-9TZ.-]{10,40}$/.test(name);

function swapFolder(
  unit: string,
  brought: boolean,
  { dataDir, incoming, aside }: { dataDir: string; incoming: string; aside: string },
): void {
  const [live, comes, kept] = [dataDir, incoming, aside].map((folder) => join(folder, unit)) as [
    string,
    string,
    string,
  ];
  if (brought && !existsSync(comes)) {
    // It came in before the crash.
    return;
  }
  if (existsSync(live)) {
    mkdirSync(dirname(kept), { recursive: true, mode: 0o700 });
    renameSync(live, kept);
    syncPath(dirname(kept));
  }
  if (existsSync(comes)) {
    mkdirSync(dirname(live), { recursive: true, mode: 0o700 });
    renameSync(comes, live);
  }
  if (existsSync(dirname(live))) {
    syncPath(dirname(live));
  }
}

/** Leaves a complete `svc.db` in place for the rename to replace: a log that stayed behind would be replayed into the new one. */
function setDatabaseAside(
  dataDir: string,
  aside: string,
  nativeBinding: string | undefined,
): string | undefined {
  const live = join(dataDir, databaseName);
  if (!existsSync(live)) {
    return undefined;
  }
  let damage: string | undefined;
  // The database is kept last: with it there, all of it is.
  if (!existsSync(join(aside, databaseName))) {
    damage = complete(live, nativeBinding);
    for (const suffix of ['-shm', '-wal', ''].filter((end) => existsSync(live + end))) {
      rmSync(join(aside, databaseName + suffix), { force: true });
      linkSync(live + suffix, join(aside, databaseName + suffix));
    }
    syncPath(aside);
  }
  ['-shm', '-wal']
    .filter((suffix) => existsSync(live + suffix))
    .forEach((suffix) => unlinkSync(live + suffix));
  return damage;
}

/** Brings what is in the log into the file. */
function complete(live: string, nativeBinding: string | undefined): string | undefined {
  try {
    connectWriter(live, { nativeBinding }).close();
    return undefined;
  } catch (error) {
    // Damaged live data is a reason to restore, not to stop; what there is of it is kept as it is.
    return messageOf(error);
  }
}
