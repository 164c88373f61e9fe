import { rmSync } from 'node:fs';
import { join } from 'node:path';

import type { GonePack } from 'svc/contracts/marketplace';
import { type Logger, messageOf } from 'svc/sdk';

import type { PackStore } from './pack-store.ts';
import type { ChangeRow } from './tables.ts';

export interface LeftoversParts {
  readonly store: PackStore;
  /** Data folders of plugins, by id. */
  readonly data: string;
  /** Folders of versions that were kept, by pack. */
  readonly kept: string;
  /** Asks all areas to delete what they keep of a pack. */
  readonly forget: (pack: GonePack) => Promise<void>;
  /** Work that nobody waits for. */
  readonly behind: (label: string, work: () => Promise<void>) => void;
  readonly log: Logger;
}

/** Leftovers of uninstalled packs: a row says what is still to be cleaned, until everything is. */
export class Leftovers {
  readonly #parts: LeftoversParts;
  /** Cleanings by pack. */
  readonly #cleanings = new Map<string, Promise<void>>();

  constructor(parts: LeftoversParts) {
    this.#parts = parts;
  }

  /**
   * Cleans after the requester got an answer: their request still holds the generation whose end is
   * awaited.
   */
  cleanBehind(change: ChangeRow): void {
    this.#parts.behind(`clean up after ${change.pack_id}`, () => this.tryToClean(change));
  }

  /** Resolves when nothing is left of an uninstall: a later install must not find it. */
  async cleaned(packId: string): Promise<void> {
    await this.#cleanings.get(packId)?.catch(() => undefined);
    const left = (await this.#parts.store.changes()).find(
      (change) => change.pack_id === packId && change.step === 'cleaning',
    );
    if (left !== undefined) {
      await this.#clean(left);
    }
  }

  /** Retries failed cleanings. */
  async cleanAgain(): Promise<void> {
    for (const change of await this.#parts.store.changes()) {
      if (change.step === 'cleaning' && !this.#cleanings.has(change.pack_id)) {
        await this.tryToClean(change);
      }
    }
  }

  async tryToClean(change: ChangeRow): Promise<void> {
    try {
      await this.#clean(change);
    } catch (error) {
      this.#parts.log.error(
        { event: 'marketplace.not_cleaned', pack: change.pack_id, cause: messageOf(error) },
        "failed to remove a pack's leftovers; will retry",
      );
    }
  }

  #clean(change: ChangeRow): Promise<void> {
    const { pack_id: packId } = change;
    const cleaning =
      this.#cleanings.get(packId) ??
      this.#cleanNow(change).finally(() => this.#cleanings.delete(packId));
    this.#cleanings.set(packId, cleaning);
    return cleaning;
  }

  async #cleanNow({
    pack_id: packId,
    keep_data: keepData,
    personas,
    tools,
  }: ChangeRow): Promise<void> {
    const { store, data, kept, forget } = this.#parts;
    await forget({
      packId,
      keepData: keepData !== 0,
      personas: JSON.parse(personas) as string[],
      tools: JSON.parse(tools) as string[],
    });
    if (keepData === 0) {
      rmSync(join(data, packId), { recursive: true, force: true });
    }
    rmSync(join(kept, packId), { recursive: true, force: true });
    await store.endChange(packId);
  }
}
