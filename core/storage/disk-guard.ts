import { rmSync, statfsSync } from 'node:fs';
import { type FileHandle, open, statfs } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import { type Logger, messageOf } from '../sdk/index.ts';

export interface DiskLimits {
  /** Below this nothing is written; default 256 MiB. */
  readonly readOnlyBelowBytes?: number;
  /** Below this, or below a tenth of the disk, health says so; default 2 GiB. */
  readonly lowBelowBytes?: number;
  /** Space kept in reserve, given up when the disk is full; enough to fold the log in and to run deletes. Default 64 MiB. */
  readonly ballastBytes?: number;
  /** How often the disk is looked at; default 5 000. */
  readonly everyMs?: number;
}

export interface DiskGuard {
  /** Why nothing may be written at this moment. */
  refusal(): string | undefined;
  /** What health adds while writing still goes on. */
  warning(): string | undefined;
  /** SQLite reported this; believed at once. */
  report(code: string): void;
  /** Looks at the disk now. */
  check(): Promise<void>;
  stop(): Promise<void>;
}

const mebibyte = 1024 * 1024;
const ballastIn = (dataDir: string): string => join(dataDir, 'ballast');

/** A start on a full disk needs some space itself: to recover the log, and to say that it cannot write. */
export function makeRoomToStart(dataDir: string): void {
  const { bavail, bsize } = statfsSync(dataDir);
  if (bavail * bsize < 16 * mebibyte) {
    rmSync(ballastIn(dataDir), { force: true });
  }
}

/** Watches the space under the data folder: stops writing in time, and goes on by itself. */
export async function openDiskGuard(
  dataDir: string,
  { readOnlyBelowBytes = 256 * mebibyte, lowBelowBytes = 2_048 * mebibyte, ballastBytes = 64 * mebibyte, everyMs = 5_000 }: DiskLimits,
  log: Logger,
  trim: () => Promise<void>,
): Promise<DiskGuard> {
  const ballast = ballastIn(dataDir);
  let refusal: string | undefined;
  let warning: string | undefined;
  let broken = false;
  let looking: Promise<void> | undefined;
  let stopped = false;

  /** One look at a time: a stuck disk holds one thread of the pool, not all of them. */
  function check(): Promise<void> {
    looking ??= look()
      .catch((error: unknown) => log.warn({ cause: messageOf(error) }, 'the disk under the data folder could not be looked at'))
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  async function look(): Promise<void> {
    const { bavail, blocks, bsize } = await statfs(dataDir);
    const free = bavail * bsize;
    warning = free < lowBelowBytes || bavail < blocks / 10 ? `${inMebibytes(free)} free under ${dataDir}` : undefined;
    if (broken || stopped) {
      return;
    }
    if (refusal === undefined && free < readOnlyBelowBytes) {
      await enterReadOnly(`only ${inMebibytes(free)} are free`);
    } else if (refusal === undefined) {
      await fill(ballast, ballastBytes, () => refusal === undefined && !stopped);
    } else if (free >= Math.max(readOnlyBelowBytes, ballastBytes) + ballastBytes) {
      await leaveReadOnly();
    } else {
      await trim();
    }
  }

  async function enterReadOnly(why: string): Promise<void> {
    refusal = `the data folder ${dataDir} is read-only because ${why}: free some space there, writing goes on by itself`;
    log.error({ dataDir }, refusal);
    rmSync(ballast, { force: true });
    await trim();
  }

  /** The ballast is also the proof: space that can be filled with it can be written to. */
  async function leaveReadOnly(): Promise<void> {
    if (await fill(ballast, ballastBytes, () => !stopped)) {
      refusal = undefined;
      log.info({ dataDir }, 'the disk has space again; writing goes on');
    }
  }

  await look();
  const timer = setInterval(() => void check(), everyMs);
  timer.unref();

  return {
    refusal: () => refusal,
    warning: () => warning,
    report(code) {
      if (code.startsWith('SQLITE_FULL') && refusal === undefined) {
        void enterReadOnly('the disk is full').catch((error: unknown) =>
          log.warn({ cause: messageOf(error) }, 'the log could not be trimmed on the full disk'),
        );
      } else if (/^SQLITE_(IOERR|CORRUPT|NOTADB)/.test(code) && !broken) {
        broken = true;
        refusal = `the data folder ${dataDir} is read-only because SQLite reported ${code}: check the disk, then start svc again; "svc backup restore" brings a backup back`;
        log.error({ dataDir, code }, refusal);
      }
    },
    check,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await looking;
    },
  };
}

/** Tells whether the file has its size. Random bytes, because a file system that compresses would make nothing of zeros. */
async function fill(file: string, bytes: number, wanted: () => boolean): Promise<boolean> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, 'a', 0o600);
    let { size } = await handle.stat();
    if (size >= bytes) {
      return true;
    }
    const chunk = randomBytes(Math.min(bytes, mebibyte));
    while (size < bytes && wanted()) {
      const { bytesWritten } = await handle.write(chunk, 0, Math.min(chunk.length, bytes - size));
      size += bytesWritten;
    }
    await handle.sync();
    return size >= bytes;
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    await handle?.close();
  }
}

const inMebibytes = (bytes: number): string => `${Math.floor(bytes / mebibyte)} MiB`;
