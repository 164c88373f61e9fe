import type { Filter } from './filter.ts';
import type { Store } from './store.ts';

interface Known {
  readonly first: number;
  readonly upTo: number;
  readonly total: number;
}

const mostKnown = 100;
/** Beyond this, walking through an index again is quicker than through the rows. */
const mostNew = 5_000;

/**
 * Sizes of filtered sets. Rows are only added at the end and removed at the beginning, so while the beginning
 * stands, a size once known needs nothing but what came since.
 */
export function totals(store: Store): (filter: Filter) => Promise<number> {
  const known = new Map<string, Known>();
  return async (filter) => {
    const { first, last } = await store.span();
    if (Object.keys(filter).length === 0) {
      return last === 0 ? 0 : last - first + 1;
    }
    const key = JSON.stringify(filter);
    const earlier = known.get(key);
    const isFresh = earlier !== undefined && earlier.first === first && last - earlier.upTo <= mostNew;
    const total = isFresh ? earlier.total + (await store.countIn(filter, { after: earlier.upTo, upTo: last })) : await store.count(filter, last);
    known.delete(key);
    known.set(key, { first, upTo: last, total });
    if (known.size > mostKnown) {
      known.delete(known.keys().next().value!);
    }
    return total;
  };
}
