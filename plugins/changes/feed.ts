import type { Change, ChangeDraft, ChangeFeed, ChangesNear } from 'svc/contracts/changes';
import type { SeenDevices } from 'svc/query';
import type { Clock, Page, PageRequest, Tables } from 'svc/sdk';

import { type ChangeFilter, ChangeStore, type ChangeTables } from './change-store.ts';

export interface FeedParts {
  readonly tables: Tables<ChangeTables>;
  readonly clock: Clock;
  /** Called after the commit. */
  readonly noted: (change: Change) => void;
}

const longestSummary = 500;
const longestLabel = 200;

/** Feed of changes, each stored once, before it is announced. */
export class Feed implements ChangeFeed {
  readonly #parts: FeedParts;
  readonly #read: ChangeStore;

  constructor(parts: FeedParts) {
    this.#parts = parts;
    this.#read = new ChangeStore(parts.tables.read);
  }

  near(asked: ChangesNear, seen: SeenDevices): Promise<readonly Change[]> {
    return this.#read.near(asked, seen);
  }

  page(filter: ChangeFilter, page: PageRequest, seen: SeenDevices): Promise<Page<Change>> {
    return this.#read.page(filter, page, seen);
  }

  async note(draft: ChangeDraft): Promise<void> {
    await this.put([draft], new Map());
  }

  /** Stores a change unless it exists, and returns it as it is in the feed. */
  async post(draft: ChangeDraft): Promise<Change> {
    await this.note(draft);
    return (await this.#read.byRef(draft.ref))!;
  }

  /**
   * Stores changes together with the observed state of their subjects, in one transaction: no
   * change is lost or reported twice.
   */
  async put(drafts: readonly ChangeDraft[], seen: ReadonlyMap<string, string>): Promise<void> {
    const { tables, clock, noted } = this.#parts;
    const now = clock.now();
    const added = await tables.write(async (tx) => {
      const store = new ChangeStore(tx);
      const kept: Change[] = [];
      for (const draft of drafts) {
        const change = await store.insert(bounded(draft), now);
        kept.push(...(change === undefined ? [] : [change]));
      }
      if (seen.size > 0) {
        await store.see(seen, now);
      }
      return kept;
    });
    added.forEach(noted);
  }

  seen(prefix: string): Promise<ReadonlyMap<string, string>> {
    return this.#read.seen(prefix);
  }

  /** Removes what may not stay; resolves with how many that were. */
  async tidy({
    keepMs,
    most,
  }: {
    readonly keepMs: number;
    readonly most: number;
  }): Promise<number> {
    const { tables, clock } = this.#parts;
    let removed = 0;
    for (;;) {
      const some = await tables.write((tx) =>
        new ChangeStore(tx).removeOld(clock.now() - keepMs, most),
      );
      removed += some;
      if (some === 0) {
        return removed;
      }
    }
  }
}

/** Words from outside, on one line and no longer than a person reads. */
const bounded = (draft: ChangeDraft): ChangeDraft => ({
  ...draft,
  summary: plain(draft.summary, longestSummary),
  actor: draft.actor === undefined ? undefined : plain(draft.actor, longestLabel),
});

const plain = (text: string, most: number): string =>
  Array.from(text.slice(0, 2 * most).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' '))
    .slice(0, most)
    .join('')
    .trim();
