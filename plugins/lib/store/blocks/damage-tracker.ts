import { statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { join } from 'node:path';

import { type Logger, messageOf, type ThreadHandle } from 'svc/sdk';
import type { WalDamage } from '../wal/wal-replay.ts';
import { openBlock } from './block-file.ts';
import type { BlockRow } from './block-table.ts';
import type { Catalogue } from './catalogue.ts';

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
        'block is damaged; affected answers say so, restore the file from a backup',
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
    return this.#catalogue.losses
      .list()
      .filter((loss) => loss.mint <= maxt && loss.maxt >= mint)
      .map(({ part, cause }) => `${part}: ${cause}`);
  }

  /** All that is known, as sentences. */
  sentences(): string[] {
    const blocks = this.#catalogue.blocks.list().filter(({ damaged }) => damaged === 1);
    return [
      ...this.#catalogue.losses.list().map(({ part, cause }) => `${part}: ${cause}`),
      ...blocks.map(({ file, cause }) => `${file}: ${cause ?? 'damaged'}`),
    ];
  }

  /** Reads every block, and marks it by the result. */
  async check(): Promise<StoreReport> {
    const { blocks, blocksFolder } = this.#catalogue;
    const rows = blocks.list();
    for (const row of rows) {
      const [problem] = await problemsOf(join(blocksFolder, row.file));
      if (problem === undefined) {
        blocks.markSound(row.id);
      } else {
        this.block(row, problem);
      }
    }
    return {
      blocks: rows.length,
      bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
      damage: this.sentences(),
      removed: [],
    };
  }

  /** Drops lost records, blocks whose file is gone, and damaged ones that are rebuilt. */
  async mend(isMadeAgain: (row: BlockRow) => boolean): Promise<StoreReport> {
    const { blocks, blocksFolder, losses } = this.#catalogue;
    await this.check();
    const gone = blocks
      .list()
      .filter(
        (row) =>
          row.damaged === 1 && (isMadeAgain(row) || lookOf(join(blocksFolder, row.file)) === ''),
      );
    const removed = [
      ...losses.list().map(({ part }) => part),
      ...blocks.remove(gone.map(({ id }) => id)).map(({ file }) => file),
    ];
    losses.forget(Infinity);
    const rows = blocks.list();
    return {
      blocks: rows.length,
      bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
      damage: this.sentences(),
      removed,
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
          'block intact again; its data is back in answers',
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
  /** Descriptions of what `mend` removed from the store. */
  readonly removed: readonly string[];
}

/** Maintenance of a store by an operator. */
export interface StoreCare {
  /** Reads every block; marks damaged ones, and unmarks those that are intact again. */
  check(): Promise<StoreReport>;
  /**
   * Removes, after a check, what is rebuilt anyway, and accepts what is lost for good, so that
   * answers stop reporting it.
   */
  mend(): Promise<StoreReport>;
}

const careMs = 30 * 60_000;

/** The same from outside the thread, which answers it as `care`. */
export const careOf = (thread: Pick<ThreadHandle, 'call'>): StoreCare => ({
  check: () => thread.call('care', 'check', { timeoutMs: careMs }),
  mend: () => thread.call('care', 'mend', { timeoutMs: careMs }),
});

/** Returns every section with wrong content, as sentences; empty for an intact file. */
export async function problemsOf(path: string): Promise<string[]> {
  const problems: string[] = [];
  try {
    const block = openBlock(path);
    try {
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

function lookOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
}

const dayText = (time: number): string =>
  Number.isFinite(time) && Math.abs(time) < 8.64e15
    ? new Date(time).toISOString().slice(0, 16) + 'Z'
    : '…';
