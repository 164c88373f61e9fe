import { endOf } from './anchors.ts';
import { genesis, type Link } from './chain.ts';
import type { Store } from './store.ts';

/** How far this process has seen the trail on disk; what is cut off later cannot make it forget. */
export interface Memory {
  /** The newest link that was committed, or the last one known before somebody cut the trail off or replaced its end. */
  look(): Promise<Link>;
}

/** Only a reader tells: it sees nothing that may still be rolled back. */
export function memory(store: Store): Memory {
  let seen = genesis;

  /** Only retention takes the row that was seen, and leaves an anchor. */
  async function isArchived(seq: number): Promise<boolean> {
    return endOf(await store.anchors()).seq >= seq;
  }

  return {
    async look() {
      const known = seen;
      const { there, last } = await store.around(known.seq);
      const holds = known.seq === 0 || (there === undefined ? await isArchived(known.seq) : there.hash === known.hash);
      if (holds && last.seq > seen.seq) {
        seen = last;
      }
      return seen;
    },
  };
}
