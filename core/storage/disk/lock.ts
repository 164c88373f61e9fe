import { mkdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

import { messageOf, timestamp } from '../../sdk/index.ts';
import { type Connection, type ConnectOptions, connect } from '../sqlite/connection.ts';
import { makeRoomToStart } from './disk-guard.ts';
import { writeDurably } from './durable.ts';
import { errors } from './errors.ts';
import { sqliteCode } from '../sqlite/trouble.ts';

/** Holder of a data folder, for a second process that wants it. */
export interface Holder {
  readonly pid: number;
  /** Identity of this boot of the machine and of the process in it: a pid alone is soon somebody else's. */
  readonly boot_id: string;
  readonly started: string;
  readonly since: string;
  readonly address?: string;
}

interface LockOptions extends ConnectOptions {
  readonly address?: string;
  readonly now: () => number;
  /** Use a network file system all the same. */
  readonly forceNetworkFolder?: boolean;
  /** Type of the file system under a folder, as statfs(2) numbers it. */
  readonly fileSystemType?: (folder: string) => number;
}

const networkTypes = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x517b, 'SMB'],
  [0x01021997, '9p'],
]);

/** A lock ends with its connection; nothing but `release` may end that, the garbage collector least of all. */
const held = new Set<Connection>();

/**
 * One process per data folder. The lock is the kernel's (SQLite's own file lock on `svc.lock`), so it ends
 * with its process however that ends, holds between containers that share a volume, and is never stale.
 * `svc.lock.json` only tells who it is.
 */
export class DataLock {
  readonly #connection: Connection;
  readonly #card: string;
  readonly #holder: Holder;

  constructor(dataDir: string, options: LockOptions) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    refuseNetworkFolder(dataDir, options);
    this.#connection = hold(dataDir, options);
    held.add(this.#connection);
    makeRoomToStart(dataDir);
    this.#card = join(dataDir, 'svc.lock.json');
    this.#holder = {
      pid: process.pid,
      boot_id: bootId(),
      started: startOf(process.pid) ?? '',
      since: timestamp(options.now()),
    };
    this.announce(options.address);
  }

  /** Tells those who come second where this process listens. */
  announce(address?: string): void {
    writeDurably(
      this.#card,
      `${JSON.stringify({ ...this.#holder, ...(address !== undefined && { address }) })}\n`,
    );
  }

  release(): void {
    rmSync(this.#card, { force: true });
    held.delete(this.#connection);
    this.#connection.close();
  }
}

function hold(dataDir: string, options: LockOptions): Connection {
  const connection = connect(join(dataDir, 'svc.lock'), {
    nativeBinding: options.nativeBinding,
    timeoutMs: 0,
  });
  try {
    connection.pragma('journal_mode = MEMORY');
    connection.exec('BEGIN EXCLUSIVE');
    return connection;
  } catch (error) {
    connection.close();
    if (sqliteCode(error) !== 'SQLITE_BUSY') {
      throw errors.folder_unlockable(
        { folder: dataDir, cause: messageOf(error) },
        { cause: error },
      );
    }
    throw errors.folder_in_use({ folder: dataDir, holder: nameOf(readHolder(dataDir)) });
  }
}

/** Reads the holder from its card, if the process is alive. */
function readHolder(dataDir: string): Holder | undefined {
  try {
    const holder = JSON.parse(readFileSync(join(dataDir, 'svc.lock.json'), 'utf8')) as Holder;
    return holder.boot_id === bootId() && holder.started === startOf(holder.pid)
      ? holder
      : undefined;
  } catch {
    // The holder has the lock but has not written its card yet, or runs in a container we cannot look into.
    return undefined;
  }
}

function nameOf(holder: Holder | undefined): string {
  if (holder === undefined) {
    return 'another svc process (in a container, or one that has only just started)';
  }
  return `the svc process ${holder.pid}${holder.address === undefined ? '' : ` at ${holder.address}`}, which holds it since ${holder.since}`;
}

function refuseNetworkFolder(
  dataDir: string,
  { forceNetworkFolder = false, fileSystemType = (folder) => statfsSync(folder).type }: LockOptions,
): void {
  const network = networkTypes.get(fileSystemType(dataDir) >>> 0);
  if (network !== undefined && !forceNetworkFolder) {
    throw errors.folder_remote({ folder: dataDir, network });
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    // Not Linux: the pid and its start have to do.
    return '';
  }
}

/** When a process started, in ticks since boot; undefined when there is no such process. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
