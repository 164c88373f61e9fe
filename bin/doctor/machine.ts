import { statfs } from 'node:fs/promises';

import { assertSqlite, connect, sqliteVersion } from '../../core/storage/index.ts';
import { sizeOf } from '../cli/size.ts';
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
    ? warn(subject, `${process.version} is newer than what svc was tried on`, `use Node.js ${newestKnownNode} if svc misbehaves`)
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
      return fail(subject, `${detail}: svc writes nothing below ${sizeOf(readOnlyBelow)}`, `free space on the disk of ${folder}`);
    }
    return free < lowBelow || bavail < blocks / 10
      ? warn(subject, detail, `free space on the disk of ${folder}, or move the data folder`)
      : ok(subject, detail);
  };
