import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { type Logger, messageOf } from 'svc/sdk';
import type { Wal } from '../wal/wal.ts';
import { mendBits } from '../blocks/block-file.ts';
import { problemsOf } from '../blocks/block-problems.ts';
import type { BlockRow } from '../blocks/block-table.ts';
import type { Catalogue } from './catalogue.ts';
import { descriptionOf } from '../blocks/describe-block.ts';
import { catalogueDamaged } from './end-if-damaged.ts';
import { describeRow } from './examine.ts';
import { beginning } from './rebuild.ts';
import { cataloguePart, type StoreReport } from './store-care.ts';
import { asideIn } from '../bytes/set-aside.ts';

const hourMs = 3_600_000;
/** The part of the log that is used here. */
type CaredWal = Pick<Wal, 'damage' | 'problems' | 'look' | 'accept'>;

export interface MendOptions {
  /** Returns whether a block is made again from others. */
  readonly isMadeAgain: (row: BlockRow) => boolean;
  /** Also drops what is lost for good. */
  readonly accept: boolean;
  /** Writes what is in memory to blocks, or to the log once more, so that older segments can go. */
  readonly secure: () => Promise<void>;
}

/**
 * Damage that a store has at the moment. It is what a read encountered, not a verdict: every query
 * tries again, so what is repaired or restored counts from the next query on, and its mark
 * disappears at the next look.
 */
export class DamageTracker {
  readonly #catalogue: Catalogue;
  readonly #wal: CaredWal;
  readonly #log: Logger;
  /** Fingerprint of each damaged file when it was last read in full, with the time. */
  readonly #looks = new Map<number, { readonly look: string; readonly at: number }>();

  constructor(catalogue: Catalogue, wal: CaredWal, log: Logger) {
    this.#catalogue = catalogue;
    this.#wal = wal;
    this.#log = log;
  }

  /** A part of a block could not be read. Answers the sentence that belongs into the answer. */
  block(
    row: Pick<BlockRow, 'id' | 'file' | 'mint' | 'maxt'>,
    error: unknown,
    what?: string,
  ): string {
    const cause = messageOf(error);
    const sentence = `${row.file} (${dayText(row.mint)} to ${dayText(row.maxt)}): ${what === undefined ? cause : `${what} cannot be read: ${cause}`}`;
    if (this.#catalogue.blocks.markDamaged(row.id, cause)) {
      this.#log.error(
        { event: 'store.block_damaged', file: row.file, cause },
        'block is damaged; affected query results carry a warning until the file is restored from a backup',
      );
    }
    return sentence;
  }

  /** Marks a block that was read in full with all of its problems, in place of what was known of it. */
  #describe(row: BlockRow, problems: readonly string[]): void {
    const cause = problems.join('; ');
    this.block(row, cause);
    this.#catalogue.blocks.setCause(row.id, cause);
  }

  /**
   * Notes what replay found to be gone from the log. It held something from a while before the
   * oldest that is left in memory, or before its segment was begun, until now.
   */
  lost(oldest: number, now: number): void {
    this.#wal.damage.forEach(({ segment, what, began = oldest }) => {
      const mint = oldest === Infinity ? -Infinity : Math.min(oldest, began) - hourMs;
      this.#catalogue.losses.add({ part: segment, cause: what, mint, maxt: now });
    });
  }

  /** Losses that answers about these times have to mention, as sentences. */
  touching(mint: number, maxt: number): string[] {
    const { doubt, losses } = this.#catalogue;
    return [
      ...(doubt === undefined ? [] : [`${cataloguePart}: ${doubt}`]),
      ...losses
        .list()
        .filter((loss) => loss.mint <= maxt && loss.maxt >= mint)
        .map(lossText),
    ];
  }

  /** All that is known, as sentences. */
  sentences(): string[] {
    const { doubt } = this.#catalogue;
    return [
      ...(doubt === undefined ? [] : [`${cataloguePart}, which mending rebuilds: ${doubt}`]),
      ...this.#wal.problems.map(
        ({ segment, what }) =>
          `${segment}: ${what}; its records are in memory: run "svc store mend" before svc stops`,
      ),
      ...this.#catalogue.losses.list().map(lossText),
      ...this.#damagedBlocks().map(blockText),
    ];
  }

  /** What accepting the loss drops, as the sentences above. */
  #acceptable(): string[] {
    return [
      ...this.#catalogue.losses.list().map(lossText),
      ...this.#damagedBlocks()
        .filter((row) => this.#isMissing(row))
        .map(blockText),
    ];
  }

  #damagedBlocks(): readonly BlockRow[] {
    return this.#catalogue.blocks.list().filter(({ damaged }) => damaged === 1);
  }

  /** Reads every block and every segment of the log, and marks them by the result. */
  async check(): Promise<StoreReport> {
    const { blocks, blocksFolder } = this.#catalogue;
    for (const row of blocks.list()) {
      const problems = await problemsOf(join(blocksFolder, row.file));
      if (problems.length === 0) {
        blocks.markSound(row.id);
      } else {
        this.#describe(row, problems);
      }
    }
    await this.#wal.look({ full: true });
    this.#catalogue.examine();
    return this.#report([], []);
  }

  /**
   * Brings back what can be brought back: flipped bits, where the checksums say which, descriptions
   * that the catalogue still knows, segments of the log whose records are in memory, and blocks made
   * of others, which are dropped here to be made again. What is lost for good stays reported until
   * somebody accepts that.
   */
  async mend({ isMadeAgain, accept, secure }: MendOptions): Promise<StoreReport> {
    const { blocks, losses } = this.#catalogue;
    await this.check();
    if (this.#catalogue.doubt !== undefined) {
      // The thread opens the store again, which rebuilds it.
      throw catalogueDamaged(this.#catalogue.doubt);
    }
    const mended = await this.#mendWal(secure);
    const gone: number[] = [];
    for (const row of this.#damagedBlocks()) {
      if (await this.#mendBlock(row)) {
        mended.push(row.file);
      } else if (isMadeAgain(row) || (accept && this.#isMissing(row))) {
        gone.push(row.id);
      }
    }
    const removed = blocks.remove(gone).map(({ file }) => file);
    if (accept) {
      removed.push(...losses.list().map(({ part }) => part));
      losses.forget(Infinity);
      await this.#wal.accept();
    }
    return this.#report(mended, removed);
  }

  /** Returns the segments that are not needed any more. */
  async #mendWal(secure: () => Promise<void>): Promise<string[]> {
    const before = this.#wal.problems.map(({ segment }) => segment);
    if (before.length === 0) {
      return [];
    }
    try {
      await secure();
    } catch (error) {
      this.#log.warn(
        { event: 'store.mend_wal_failed', segment: before[0], cause: messageOf(error) },
        'failed to repair the WAL; its records stay in memory',
      );
    }
    const left = new Set(this.#wal.problems.map(({ segment }) => segment));
    return before.filter((segment) => !left.has(segment));
  }

  async #mendBlock(row: BlockRow): Promise<boolean> {
    const { blocks, blocksFolder } = this.#catalogue;
    const path = join(blocksFolder, row.file);
    if (this.#isMissing(row)) {
      return false;
    }
    try {
      mendBits(path);
    } catch (error) {
      this.#log.warn(
        { event: 'store.mend_failed', file: row.file, cause: messageOf(error) },
        'failed to repair a block; its intact parts are still used',
      );
      return false;
    }
    const problems = await problemsOf(path);
    if (problems.length > 0) {
      this.#describe(row, problems);
      this.#describeBeside(row);
      return false;
    }
    blocks.markSound(row.id);
    this.#looks.delete(row.id);
    return true;
  }

  /** The catalogue knows what a block held that cannot say so any more; it may be lost as well. */
  #describeBeside(row: BlockRow): void {
    const { db, blocksFolder, place } = this.#catalogue;
    const path = join(blocksFolder, row.file);
    if (row.mint !== beginning && !isDescribed(path)) {
      describeRow(db, place.content, row, path);
    }
  }

  #isMissing({ file }: Pick<BlockRow, 'file'>): boolean {
    return lookOf(join(this.#catalogue.blocksFolder, file)) === '';
  }

  #report(mended: readonly string[], removed: readonly string[]): StoreReport {
    const { blocks, place } = this.#catalogue;
    const rows = blocks.list();
    return {
      blocks: rows.filter(({ damaged }) => damaged === 0).length,
      bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
      damage: this.sentences(),
      acceptable: this.#acceptable(),
      mended,
      removed,
      aside: asideIn(dirname(place.path)),
    };
  }

  /**
   * Looks for segments of the log that went missing, and reads marked blocks through whose files
   * changed since; answers those that are whole again.
   */
  async lookAgain(now: number): Promise<readonly BlockRow[]> {
    await this.#wal.look({ full: false });
    const sound: BlockRow[] = [];
    for (const row of this.#damagedBlocks()) {
      const path = join(this.#catalogue.blocksFolder, row.file);
      const look = lookOf(path);
      const before = this.#looks.get(row.id);
      if (before?.look === look && now - before.at < hourMs && now >= before.at) {
        continue;
      }
      this.#looks.set(row.id, { look, at: now });
      const problems = await problemsOf(path);
      if (problems.length > 0) {
        this.#catalogue.blocks.setCause(row.id, problems.join('; '));
      } else {
        this.#catalogue.blocks.markSound(row.id);
        this.#looks.delete(row.id);
        this.#log.info(
          { event: 'store.block_sound', file: row.file },
          'block is intact again; query results include its data again',
        );
        sound.push(row);
      }
    }
    return sound;
  }
}

const lossText = ({ part, cause }: { readonly part: string; readonly cause: string }): string =>
  `${part}: ${cause}`;

const blockText = ({ file, cause }: BlockRow): string => `${file}: ${cause ?? 'damaged'}`;

function isDescribed(path: string): boolean {
  try {
    return descriptionOf(path) !== undefined;
  } catch {
    return false;
  }
}

function lookOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
}

const dayText = (time: number): string =>
  Number.isFinite(time) && Math.abs(time) < 8.64e15
    ? new Date(time).toISOString().slice(0, 16) + 'Z'
    : '…';
