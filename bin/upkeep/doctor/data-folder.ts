import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';

import type { Environment } from '../../../core/boot/index.ts';
import { timestamp } from '../../../core/sdk/index.ts';
import { progressFile, readProgress } from '../update/files.ts';
import type { RunningSvc } from 'svc/cli';
import { readApplied } from '../config-files/watched-folder.ts';
import {
  changesSinceStop,
  cleanStopFile,
  databaseName,
  connect,
  keyFile,
  lossReport,
  lossSentence,
  readKeys,
  sqliteCode,
} from '../../../core/storage/index.ts';
import { type Examination, fail, ok, warn } from './finding.ts';

export const rights =
  (dataDir: string): Examination =>
  (subject) => {
    const { uid, mode } = statSync(dataDir);
    const me = process.getuid?.();
    try {
      accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    } catch {
      return fail(
        subject,
        `${dataDir} cannot be written by this user`,
        `run svc as the owner of the folder (uid ${uid}), or give it to this user with chown`,
      );
    }
    if (me !== undefined && uid !== me && me !== 0) {
      return warn(
        subject,
        `${dataDir} belongs to another user (uid ${uid})`,
        'give the folder to the user that svc runs as, with chown',
      );
    }
    return (mode & 0o077) === 0
      ? ok(subject, dataDir)
      : warn(
          subject,
          `other users can read ${dataDir} (mode ${(mode & 0o777).toString(8)})`,
          `run "chmod 700 ${dataDir}"`,
          closing(dataDir, 0o700),
        );
  };

/** Keys, which nobody but the owner of the folder may read. */
export const privateFiles =
  (dataDir: string, tlsKey: string): Examination =>
  (subject) => {
    const folder = join(dataDir, 'keys');
    const own = existsSync(folder)
      ? [folder, ...readdirSync(folder).map((name) => join(folder, name))].filter(isOwnPath)
      : [];
    const open = [
      ...own.filter((path) => (lstatSync(path).mode & 0o077) !== 0),
      ...(isReadByAll(tlsKey) ? [tlsKey] : []),
    ];
    if (open.length === 0) {
      return ok(
        subject,
        own.length === 0 ? 'there are none yet' : 'keys are readable by their owner only',
      );
    }
    return fail(
      subject,
      `other users can read ${open.join(', ')}`,
      `run "chmod go-rwx ${open.join(' ')}"`,
      {
        about: `remove access for other users from ${open.join(', ')} (chmod go-rwx)`,
        run: () => open.forEach((path) => takeFromOthers(path, path === tlsKey)),
      },
    );
  };

/** Returns whether a path belongs to the folder; the target of a link does not. */
const isOwnPath = (path: string): boolean => !lstatSync(path).isSymbolicLink();

/**
 * Removes the access of others via the opened file: between a check and a change its name might be
 * redirected. Only a path given by hand may be a link.
 */
function takeFromOthers(path: string, mayBeLink: boolean): void {
  const file = openSync(
    path,
    constants.O_RDONLY | constants.O_NONBLOCK | (mayBeLink ? 0 : constants.O_NOFOLLOW),
  );
  try {
    fchmodSync(file, fstatSync(file).mode & 0o700);
  } finally {
    closeSync(file);
  }
}

const isReadByAll = (file: string): boolean =>
  file !== '' && existsSync(file) && (statSync(file).mode & 0o007) !== 0;

const closing = (path: string, mode: number) => ({
  about: `chmod ${mode.toString(8)} ${path}`,
  run: () => chmodSync(path, mode),
});

export const secretKey =
  (dataDir: string, environment: Environment): Examination =>
  (subject) => {
    const file = keyFile(dataDir);
    if (existsSync(file)) {
      return ok(
        subject,
        `${file}, ${readKeys(file).length === 1 ? 'one key' : 'several keys'}, readable by its owner only`,
      );
    }
    const given = environment['SVC_SECRET_KEY'] ?? environment['SVC_SECRET_KEY_FILE'];
    if (given !== undefined) {
      return ok(subject, 'from the environment');
    }
    return existsSync(join(dataDir, databaseName))
      ? fail(
          subject,
          `${file} is missing, but the data was created with it`,
          'restore the file from a backup made --with-key; svc does not start without this key. A new key makes all secrets in the data unreadable (openssl rand -base64 32)',
        )
      : ok(subject, 'created by the first start');
  };

export const lock =
  (
    dataDir: string,
    running: RunningSvc | undefined,
    nativeBinding: string | undefined,
  ): Examination =>
  (subject) => {
    const held = isHeld(join(dataDir, 'svc.lock'), nativeBinding);
    if (running) {
      return held
        ? ok(subject, `held by the svc process ${running.pid} at ${running.url}`)
        : fail(
            subject,
            `svc process ${running.pid} uses ${dataDir} without holding its lock`,
            'restart svc',
          );
    }
    return held
      ? warn(
          subject,
          'held by a process that cannot be reached: svc in a container, or one that is just starting',
          'stop that process before you start another with this folder',
        )
      : ok(subject, 'free');
  };

export const database =
  (dataDir: string, nativeBinding: string | undefined): Examination =>
  (subject) => {
    const file = join(dataDir, databaseName);
    if (!existsSync(file)) {
      return ok(subject, 'created by the first start');
    }
    // Of a database that is in use, the pages and the log change while they are read.
    const isStopped = !isHeld(join(dataDir, 'svc.lock'), nativeBinding);
    const loss = isStopped ? lossSentence(file) : undefined;
    if (loss !== undefined) {
      return fail(
        subject,
        `${loss}; the next start drops them`,
        `copy ${dataDir} before you start svc; then check the disk and ${restoreAdvice}`,
      );
    }
    const where = isStopped ? changesSinceStop(dataDir, file, { nativeBinding }) : undefined;
    if (where !== undefined) {
      return fail(
        subject,
        `${file} has changed since svc stopped (${where})`,
        `if the disk has damaged it, ${restoreAdvice}; if a program of yours changed it, delete ${cleanStopFile(dataDir)}`,
      );
    }
    return structure(subject, file, nativeBinding);
  };

function structure(subject: string, file: string, nativeBinding: string | undefined) {
  const connection = connect(file, { nativeBinding, readonly: true, mustExist: true });
  try {
    const problems = (connection.prepare('PRAGMA quick_check(5)').pluck().all() as string[]).filter(
      (line) => line !== 'ok',
    );
    if (problems.length > 0) {
      return fail(subject, `${file} is damaged: ${problems.join('; ')}`, restoreAdvice);
    }
    const lost = lossReport(file, undefined);
    return lost === undefined
      ? ok(subject, `${file} has no damage that SQLite can find`)
      : warn(subject, lost, restoreAdvice);
  } catch (error) {
    if (!/^SQLITE_(CORRUPT|NOTADB)/.test(sqliteCode(error) ?? '')) {
      throw error;
    }
    return fail(subject, `${file} is damaged`, restoreAdvice);
  } finally {
    connection.close();
  }
}

export const update =
  (dataDir: string): Examination =>
  (subject) => {
    const mark = readProgress(dataDir);
    if (mark?.takenBack !== undefined) {
      const { from, to, reason, at } = mark.takenBack;
      return warn(
        subject,
        `svc ${to} was rolled back to ${from} on ${timestamp(at)}, because ${reason}`,
        'check the log of that time before you upgrade again',
        {
          about: `clear the record that ${to} was rolled back (${progressFile(dataDir)})`,
          run: () => rmSync(progressFile(dataDir)),
        },
      );
    }
    return mark === undefined || mark.heldAt !== undefined
      ? ok(subject, 'none in progress')
      : warn(
          subject,
          'a version is on trial',
          'wait until it is final; "svc update" reports how it ended',
        );
  };

/** Files for git that svc is brought in line with. */
export const configFolder =
  (dataDir: string): Examination =>
  (subject) => {
    const applied = readApplied(dataDir);
    if (applied === undefined) {
      return ok(subject, 'no watched folder');
    }
    const { folder, at, changes, problem } = applied;
    return problem === undefined
      ? ok(subject, `${folder} was applied on ${at}: ${changes} changes`)
      : warn(
          subject,
          `the files of ${folder} differ from svc: ${problem}`,
          'correct the file that is named; it is applied within a second',
        );
  };

const restoreAdvice = 'stop svc and restore a backup with "svc backup restore"';

/** A look, not a try: taking the lock, even for a moment, could keep a starting svc from it. */
function isHeld(file: string, nativeBinding: string | undefined): boolean {
  if (!existsSync(file)) {
    return false;
  }
  const connection = connect(file, {
    nativeBinding,
    readonly: true,
    mustExist: true,
    timeoutMs: 0,
  });
  try {
    connection.prepare('select count(*) from sqlite_schema').get();
    return false;
  } catch (error) {
    if (sqliteCode(error) === 'SQLITE_BUSY') {
      return true;
    }
    throw error;
  } finally {
    connection.close();
  }
}
