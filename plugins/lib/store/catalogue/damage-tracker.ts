import { statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dirname, join } from 'node:path';

import { type Logger, messageOf, type ThreadHandle } from 'svc/sdk';
import type { WalDamage } from '../wal/wal-replay.ts';
import { mendBits, openBlock } from '../blocks/block-file.ts';
import type { BlockRow } from '../blocks/block-table.ts';
import type { Catalogue } from './catalogue.ts';
import { descriptionOf } from '../blocks/describe-block.ts';
import { describeRow } from './examine.ts';
import { beginning } from './rebuild.ts';
import { asideIn } from './set-aside.ts';

const hourMs = 3_600_000;

/**
 * Damage that a store has at the moment. It is what a read encountered, not a verdict: every query
 * tries again, so what is repaired or restored counts from the next query on, and its mark
 * disappears at the next look.
 */
export class DamageTracker {
  readonly #catalogue: Catalogue;
  readonly #log: Logger;
  /** Fingerprint of each damaged file when it was last read in full, with the time. */
  readonly #looks = new Map<number, { readonly look: string; readonly at: number }>();

  constructor(catalogue: Catalogue, log: Logger) {
    this.#catalogue = catalogue;
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
        'block is damaged; affected answers carry a warning, restore the file from a backup',
      );
    }
    return sentence;
  }

  /** Records of the log are gone, which held something between the oldest that is left in memory, if any is, and now. */
  lost(damage: readonly WalDamage[], oldest: number, now: number): void {
    const mint = oldest === Infinity ? -Infinity : oldest - hourMs;
    damage.forEach(({ segment, what }) =>
      this.#catalogue.losses.add({ part: segment, cause: what, mint, maxt: now }),
    );
  }

  /** Losses that answers about these times have to mention, as sentences. */
  touching(mint: number, maxt: number): string[] {
    const { doubt, losses } = this.#catalogue;
    return [
      ...(doubt === undefined ? [] : [`the catalogue of blocks: ${doubt}`]),
      ...losses
        .list()
        .filter((loss) => loss.mint <= maxt && loss.maxt >= mint)
        .map(({ part, cause }) => `${part}: ${cause}`),
    ];
  }

  /** All that is known, as sentences. */
  sentences(): string[] {
    const blocks = this.#catalogue.blocks.list().filter(({ damaged }) => damaged === 1);
    const { doubt } = this.#catalogue;
    return [
      ...(doubt === undefined ? [] : [`the catalogue, which the next start rebuilds: ${doubt}`]),
      ...this.#catalogue.losses.list().map(({ part, cause }) => `${part}: ${cause}`),
      ...blocks.map(({ file, cause }) => `${file}: ${cause ?? 'damaged'}`),
    ];
  }

  /** Reads every block, and marks it by the result. */
  async check(): Promise<StoreReport> {
    const { blocks, blocksFolder } = this.#catalogue;
    for (const row of blocks.list()) {
      const [problem] = await problemsOf(join(blocksFolder, row.file));
      if (problem === undefined) {
        blocks.markSound(row.id);
      } else {
        this.block(row, problem);
      }
    }
    this.#catalogue.examine();
    return this.#report([], []);
  }

  /**
   * Brings back what can be brought back: flipped bits, where the checksums say which, descriptions
   * that the catalogue still knows, and blocks made of others, which are dropped here to be made
   * again. What is lost for good stays reported until somebody accepts that.
   */
  async mend(isMadeAgain: (row: BlockRow) => boolean, accept: boolean): Promise<StoreReport> {
    const { blocks, losses } = this.#catalogue;
    await this.check();
    const mended: string[] = [];
    const gone: number[] = [];
    for (const row of blocks.list().filter(({ damaged }) => damaged === 1)) {
      if (await this.#mendBlock(row)) {
        mended.push(row.file);
      } else if (isMadeAgain(row) || (accept && this.#lookOf(row) === '')) {
        gone.push(row.id);
      }
    }
    const removed = blocks.remove(gone).map(({ file }) => file);
    if (accept) {
      removed.push(...losses.list().map(({ part }) => part));
      losses.forget(Infinity);
    }
    return this.#report(mended, removed);
  }

  async #mendBlock(row: BlockRow): Promise<boolean> {
    const { blocks, blocksFolder } = this.#catalogue;
    const path = join(blocksFolder, row.file);
    if (this.#lookOf(row) === '') {
      return false;
    }
    try {
      mendBits(path);
    } catch (error) {
      this.#log.warn(
        { event: 'store.mend_failed', file: row.file, cause: messageOf(error) },
        'mending a block failed; its intact parts are still used',
      );
      return false;
    }
    if ((await problemsOf(path)).length > 0) {
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

  #lookOf({ file }: Pick<BlockRow, 'file'>): string {
    return lookOf(join(this.#catalogue.blocksFolder, file));
  }

  #report(mended: readonly string[], removed: readonly string[]): StoreReport {
    const { blocks, place } = this.#catalogue;
    const rows = blocks.list();
    return {
      blocks: rows.filter(({ damaged }) => damaged === 0).length,
      bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
      damage: this.sentences(),
      mended,
      removed,
      aside: asideIn(dirname(place.path)),
    };
  }

  /** Reads marked blocks through whose files changed since; answers those that are whole again. */
  async lookAgain(now: number): Promise<readonly BlockRow[]> {
    const sound: BlockRow[] = [];
    for (const row of this.#catalogue.blocks.list().filter(({ damaged }) => damaged === 1)) {
      const path = join(this.#catalogue.blocksFolder, row.file);
      const look = lookOf(path);
      const before = this.#looks.get(row.id);
      if (before?.look === look && now - before.at < hourMs && now >= before.at) {
        continue;
      }
      this.#looks.set(row.id, { look, at: now });
      if (look !== '' && (await problemsOf(path)).length === 0) {
        this.#catalogue.blocks.markSound(row.id);
        this.#looks.delete(row.id);
        this.#log.info(
          { event: 'store.block_sound', file: row.file },
          'block is intact again; answers include its data',
        );
        sound.push(row);
      }
    }
    return sound;
  }
}

/** Result of examining a whole store. */
export interface StoreReport {
  readonly blocks: number;
  readonly bytes: number;
  /** Descriptions of what cannot be read. */
  readonly damage: readonly string[];
  /** Blocks that `mend` brought back. */
  readonly mended: readonly string[];
  /** Descriptions of what `mend` removed from the store. */
  readonly removed: readonly string[];
  /** Damaged files that were replaced and kept, for somebody to look into. */
  readonly aside: readonly string[];
}

/** Maintenance of a store by an operator. */
export interface StoreCare {
  /** Reads every block; marks damaged ones, and unmarks those that are intact again. */
  check(): Promise<StoreReport>;
  /**
   * Brings back, after a check, what can be brought back. `accept`: also drops what is lost for
   * good, so that answers stop reporting it.
   */
  mend(accept: boolean): Promise<StoreReport>;
}

/** Request of an operator to a store. */
export type CareRequest = 'check' | 'mend' | 'accept';

const careMs = 30 * 60_000;

/** Report of a store whose data another server keeps. */
const nothing: StoreReport = {
  blocks: 0,
  bytes: 0,
  damage: [],
  mended: [],
  removed: [],
  aside: [],
};

/** The same from outside the thread, which answers it as `care`, unless it has no store. */
export const careOf = (
  thread: Pick<ThreadHandle, 'call'>,
  hasStore: () => boolean = () => true,
): StoreCare => {
  const care = (request: CareRequest): Promise<StoreReport> =>
    hasStore() ? thread.call('care', request, { timeoutMs: careMs }) : Promise.resolve(nothing);
  return {
    check: () => care('check'),
    mend: (accept) => care(accept ? 'accept' : 'mend'),
  };
};

/** Returns every section with wrong content, as sentences; empty for an intact file. */
export async function problemsOf(path: string): Promise<string[]> {
  const problems: string[] = [];
  try {
    const block = openBlock(path);
    try {
      if (block.flipped !== undefined) {
        problems.push(
          `its index has a flipped bit at byte ${block.flipped.at}, and is read as it was written`,
        );
      }
      for (let section = 0; section < block.sections; section++) {
        try {
          block.read(section);
        } catch (error) {
          problems.push(messageOf(error));
        }
        await nextTurn();
      }
    } finally {
      block.close();
    }
  } catch (error) {
    problems.push(messageOf(error));
  }
  return problems;
}

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
