import type { Page, PageRequest } from 'svc/sdk';

/** One page of a short list that is held in memory, in the order of its keys. */
export function pageOf<T>(all: readonly T[], keyOf: (item: T) => string, { limit, after }: PageRequest): Page<T> {
  const sorted = [...all].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const from = after === undefined ? sorted : sorted.filter((item) => keyOf(item) > String(after[0]));
  const items = from.slice(0, limit);
  const last = items.at(-1);
  return { items, total: all.length, next: from.length > items.length && last !== undefined ? [keyOf(last)] : undefined };
}
