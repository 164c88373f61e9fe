import { statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';

import { type Logger, messageOf } from '../../sdk/index.ts';
import { Reserve } from './reserve.ts';

export interface DiskLimits {
  /** Free bytes below which nothing is written; default 256 MiB. */
  readonly readOnlyBelowBytes?: number;
  /** Below this, or below a tenth of the disk, health says so; default 2 GiB. */
  readonly lowBelowBytes?: number;
  /** Space kept in reserve, given up when the disk is full; enough to fold the log in and to run deletes. Default 64 MiB. */
  readonly ballastBytes?: number;
  /** Space kept in reserve for a start that meets a full disk; default 8 MiB. */
  readonly startReserveBytes?: number;
  /** Interval of checking the disk; default 5 000. */
  readonly everyMs?: number;
}

const mebibyte = 1024 * 1024;
const examineEveryMs = 15_000;

/** Folds the log in and gives space back; `checked`: once every page has been read and is well. */
type Trim = (checked: boolean) => Promise<void>;

const ballastIn = (dataDir: string, bytes: number): Reserve =>
  new Reserve(join(dataDir, 'ballast'), bytes);
const startReserveIn = (dataDir: string, bytes: number): Reserve =>
  new Reserve(join(dataDir, 'start-reserve'), bytes);

/** A start on a full disk needs some space itself: to recover the log, and to say that it cannot write. */
export function makeRoomToStart(dataDir: string): void {
  const { bavail, bsize } = statfsSync(dataDir);
  if (bavail * bsize < 16 * mebibyte) {
    ballastIn(dataDir, 0).giveUp();
    startReserveIn(dataDir, 0).giveUp();
  }
}

/** Guard of the space under the data folder: stops writing in time, and resumes by itself. */
export class DiskGuard {
  readonly #dataDir: string;
  readonly #limits: Required<DiskLimits>;
  readonly #log: Logger;
  readonly #trim: Trim;
  readonly #ballast: Reserve;
  readonly #startReserve: Reserve;
  #timer: NodeJS.Timeout | undefined;
  #refusal: string | undefined;
  #warning: string | undefined;
  /** Damage that SQLite reported. */
  #broken: 'disk' | 'file' | undefined;
  /** When a file that looks damaged is read as a whole again. */
  #examineAt = 0;
  #looking: Promise<void> | undefined;
  #stopped = false;

  /** Opens a guard; it has checked once when this resolves. */
  static async open(
    dataDir: string,
    limits: DiskLimits,
    log: Logger,
    trim: Trim,
  ): Promise<DiskGuard> {
    const guard = new DiskGuard(dataDir, limits, log, trim);
    await guard.#look();
    guard.#timer = setInterval(() => void guard.check(), guard.#limits.everyMs).unref();
    return guard;
  }

  private constructor(dataDir: string, limits: DiskLimits, log: Logger, trim: Trim) {
    this.#dataDir = dataDir;
    this.#limits = {
      readOnlyBelowBytes: 256 * mebibyte,
      lowBelowBytes: 2_048 * mebibyte,
      ballastBytes: 64 * mebibyte,
      startReserveBytes: 8 * mebibyte,
      everyMs: 5_000,
      ...limits,
    };
    this.#ballast = ballastIn(dataDir, this.#limits.ballastBytes);
    this.#startReserve = startReserveIn(dataDir, this.#limits.startReserveBytes);
    this.#log = log;
    this.#trim = trim;
  }

  /** Why nothing may be written at this moment. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** Warning for health while writing is still possible. */
  get warning(): string | undefined {
    return this.#warning;
  }

  /** SQLite reported this; believed at once. */
  report(code: string): void {
    if (code.startsWith('SQLITE_FULL') && this.#refusal === undefined) {
      void this.#enterReadOnly('the disk is full').catch((error: unknown) =>
        this.#log.warn(
          { event: 'storage.trim_failed', cause: messageOf(error) },
          'failed to trim the database log on the full disk; retrying until there is space',
        ),
      );
    } else if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) {
      this.#break('file', code, 'then start svc again; "svc backup restore" restores a backup');
    } else if (code.startsWith('SQLITE_IOERR')) {
      this.#break('disk', code, 'writes resume by themselves once it works');
    }
  }

  #break(broken: 'disk' | 'file', code: string, remedy: string): void {
    if (this.#broken !== broken && this.#broken !== 'file') {
      this.#broken = broken;
      this.#refusal = `the data folder ${this.#dataDir} is read-only because SQLite reported ${code}: check the disk, ${remedy}`;
      this.#log.error({ event: 'storage.damaged', dataDir: this.#dataDir, code }, this.#refusal);
    }
  }

  /** One look at a time: a stuck disk holds one thread of the pool, not all of them. */
  check(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error: unknown) => {
        const cause = messageOf(error);
        // Figures of the look before say nothing about now.
        this.#warning = `the data folder ${this.#dataDir} cannot be checked: ${cause}`;
        this.#log.warn(
          { event: 'storage.disk_check_failed', dataDir: this.#dataDir, cause },
          "failed to check the data folder's free space",
        );
      })
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { readOnlyBelowBytes, lowBelowBytes, ballastBytes } = this.#limits;
    const { bavail, blocks, bsize } = await statfs(this.#dataDir);
    const free = bavail * bsize;
    this.#warning =
      free < lowBelowBytes || bavail < blocks / 10
        ? `${inMebibytes(free)} free under ${this.#dataDir}`
        : undefined;
    const now = performance.now();
    const isFile = this.#broken === 'file';
    if (this.#broken && !this.#stopped && (!isFile || now >= this.#examineAt)) {
      this.#examineAt = isFile ? now + examineEveryMs : 0;
      await this.#mend(isFile);
    }
    if (this.#broken || this.#stopped) {
      return;
    }
    if (this.#refusal === undefined && free < readOnlyBelowBytes) {
      await this.#enterReadOnly(`only ${inMebibytes(free)} are free`);
    } else if (this.#refusal === undefined) {
      await this.#layReserves(() => this.#refusal === undefined && !this.#stopped);
    } else if (free >= Math.max(readOnlyBelowBytes, ballastBytes) + ballastBytes) {
      await this.#leaveReadOnly();
    } else {
      // Not the figure of when it began: what is read is what has to be freed now.
      this.#refusal = this.#readOnlyBecause(`only ${inMebibytes(free)} are free`);
      await this.#trim(false);
    }
  }

  #readOnlyBecause(why: string): string {
    return `the data folder ${this.#dataDir} is read-only because ${why}: free some space there; writes then resume by themselves`;
  }

  async #enterReadOnly(why: string): Promise<void> {
    this.#refusal = this.#readOnlyBecause(why);
    this.#log.error({ event: 'storage.read_only', dataDir: this.#dataDir }, this.#refusal);
    this.#ballast.giveUp();
    await this.#trim(false);
  }

  /**
   * Takes writes again after an input/output error, once the disk stores a probe and all of the log is in the file: SQLite
   * has acknowledged nothing that the disk did not, and writes again what a failed sync may have lost. A read that failed looks
   * like damage: then the whole file has to be well as well.
   */
  async #mend(isFile: boolean): Promise<void> {
    const probe = new Reserve(join(this.#dataDir, 'probe'), 4_096);
    await probe.write(() => true);
    probe.giveUp();
    await this.#trim(isFile);
    // A read may have met damage meanwhile.
    if (isFile || this.#broken !== 'file') {
      this.#broken = undefined;
      this.#resume('data folder works again; writes resumed');
    }
  }

  /** The ballast is also the proof: space that can be set aside or filled can be written to. */
  async #leaveReadOnly(): Promise<void> {
    const wanted = (): boolean => !this.#stopped;
    if ((await this.#ballast.allocate()) || (await this.#ballast.write(wanted))) {
      await this.#layStartReserve(wanted);
      this.#resume('data folder has free space again; writes resumed');
    }
  }

  #resume(sentence: string): void {
    this.#refusal = undefined;
    this.#log.info({ event: 'storage.writable_again', dataDir: this.#dataDir }, sentence);
  }

  /** A ballast that has to be written waits until the disk fills: most disks never do, and each start would write it. */
  async #layReserves(wanted: () => boolean): Promise<void> {
    if (!(await this.#ballast.allocate()) && this.#warning !== undefined) {
      await this.#ballast.write(wanted);
    }
    await this.#layStartReserve(wanted);
  }

  /**
   * Writes the reserve of the next start if it cannot be allocated: a disk may fill unnoticed
   * before that.
   */
  async #layStartReserve(wanted: () => boolean): Promise<void> {
    if (!(await this.#startReserve.allocate())) {
      await this.#startReserve.write(wanted);
    }
  }
}

const inMebibytes = (bytes: number): string => `${Math.floor(bytes / mebibyte)} MiB`;
