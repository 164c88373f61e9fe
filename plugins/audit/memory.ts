import { endOf } from './anchors.ts';
import { genesis, type Link } from './rows/chain.ts';
import type { Store } from './rows/store.ts';

/**
 * Record of how far svc has seen the trail on disk, which a later truncation cannot undo.
 */
export class Memory {
  readonly #store: Store;
  #seen: Link;

  /** `seen` is the row that an earlier process has noted last. */
  constructor(store: Store, seen: Link = genesis) {
    this.#store = store;
    this.#seen = seen;
  }

  /** Returns the row up to which the trail was seen if it is no longer there. */
  async missing(): Promise<Link | undefined> {
    const seen = await this.look();
    const { there } = await this.#store.around(seen.seq);
    const isThere =
      seen.seq === 0 ||
      (there === undefined ? await this.#isArchived(seen.seq) : there.hash === seen.hash);
    return isThere ? undefined : seen;
  }

  /**
   * The newest link that was committed, or the last one known before the trail was cut off or its end replaced. Only a reader
   * tells: it sees nothing that may still be rolled back.
   */
  async look(): Promise<Link> {
    const known = this.#seen;
    const { there, last } = await this.#store.around(known.seq);
    const holds =
      known.seq === 0 ||
      (there === undefined ? await this.#isArchived(known.seq) : there.hash === known.hash);
    if (holds && last.seq > this.#seen.seq) {
      this.#seen = last;
    }
    return this.#seen;
  }

  /** Returns whether a seen row was archived: only retention removes it, and leaves an anchor. */
  async #isArchived(seq: number): Promise<boolean> {
    return endOf(await this.#store.anchors()).seq >= seq;
  }
}
