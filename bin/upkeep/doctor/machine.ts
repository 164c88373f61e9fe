import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  watch,
} from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { timestamp } from '../../../core/sdk/index.ts';
import { assertSqlite, connect, databaseName, sqliteVersion } from '../../../core/storage/index.ts';
import { type RunningSvc, sizeOf } from 'svc/cli';
import { type Examination, fail, ok, warn } from './finding.ts';

const oldestNode = [20, 19] as const;
const newestKnownNode = 24;
const mebibyte = 1024 * 1024;
/** The limits that the serving process goes by. */
const readOnlyBelow = 256 * mebibyte;
const lowBelow = 2_048 * mebibyte;

export const node: Examination = (subject) => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1])) {
    return fail(subject, process.version, `install Node.js ${oldestNode.join('.')} or newer`);
  }
  return major > newestKnownNode
    ? warn(
        subject,
        `${process.version} is newer than the versions that svc was tested with`,
        `use Node.js ${newestKnownNode} if svc misbehaves`,
      )
    : ok(subject, process.version);
};

export const sqlite =
  (nativeBinding: string | undefined): Examination =>
  (subject) => {
    const connection = connect(':memory:', { nativeBinding });
    try {
      assertSqlite(connection);
      return ok(subject, sqliteVersion(connection));
    } finally {
      connection.close();
    }
  };

export const freeDisk =
  (folder: string): Examination =>
  async (subject) => {
    const { bavail, blocks, bsize } = await statfs(folder);
    const free = bavail * bsize;
    const detail = `${sizeOf(free)} free of ${sizeOf(blocks * bsize)}`;
    if (free < readOnlyBelow) {
      return fail(
        subject,
        `${detail}: svc stops writing below ${sizeOf(readOnlyBelow)}`,
        `free space on the disk of ${folder}`,
      );
    }
    return free < lowBelow || bavail < blocks / 10
      ? warn(subject, detail, `free space on the disk of ${folder}, or move the data folder`)
      : ok(subject, detail);
  };

/** Files may be dated a little ahead, by another machine that shares the disk. */
const aheadMs = 60_000;

/** A clock that was set back stands behind what has been written. How it stands to those of the fleet, svc itself says. */
export const clock =
  (dataDir: string): Examination =>
  (subject) => {
    const now = Date.now();
    const files = [databaseName, `${databaseName}-wal`, 'run.json', 'svc.lock.json']
      .map((name) => join(dataDir, name))
      .filter((file) => existsSync(file));
    const later = files.find((file) => statSync(file).mtimeMs > now + aheadMs);
    return later === undefined
      ? ok(subject, timestamp(now))
      : fail(
          subject,
          `the clock shows ${timestamp(now)}, but ${later} was written at ${timestamp(statSync(later).mtimeMs)}: the clock is slow`,
          'set the clock and keep it in sync with NTP (systemd-timesyncd, chrony); until then new data is stored with wrong times',
        );
  };

/** An edge takes one, a browser some; below this a small fleet is refused. */
const fewestFiles = 4_096;
const nearly = 0.8;

export const openFiles =
  (running: RunningSvc | undefined): Examination =>
  (subject) => {
    const of = `/proc/${running?.pid ?? 'self'}`;
    if (!existsSync(`${of}/limits`)) {
      return ok(subject, 'not checked, because this system does not report it');
    }
    const most = Number(
      /^Max open files\s+(\d+)/m.exec(readFileSync(`${of}/limits`, 'utf8'))?.[1] ?? Infinity,
    );
    const used = running === undefined ? 0 : readdirSync(`${of}/fd`).length;
    const raise =
      'raise it: LimitNOFILE= in the unit, "ulimit -n 65536" before you start svc by hand, --ulimit nofile=65536 for a container';
    if (used > most * nearly) {
      return fail(
        subject,
        `svc has ${used} of ${most} files open: at the limit it refuses connections`,
        raise,
      );
    }
    return most < fewestFiles
      ? warn(
          subject,
          `the limit is ${most}; each edge, each browser and each block of a store needs one`,
          raise,
        )
      : ok(subject, running === undefined ? `the limit is ${most}` : `${used} of ${most}`);
  };

/** Tried, since nobody tells how many watches others of this user hold. */
export const fileWatching: Examination = (subject) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-doctor-'));
  try {
    watch(folder).close();
    return ok(subject, 'file changes are detected');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code !== 'EMFILE' && code !== 'ENOSPC') {
      throw error;
    }
    const limit = code === 'EMFILE' ? 'max_user_instances' : 'max_user_watches';
    return warn(
      subject,
      `this user has no inotify ${code === 'EMFILE' ? 'instance' : 'watch'} left (fs.inotify.${limit}): changes of plugins, personas and skills are not detected`,
      `raise it: "sysctl fs.inotify.${limit}=${code === 'EMFILE' ? 1_024 : 524_288}", and add it to /etc/sysctl.d to keep it`,
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
};
