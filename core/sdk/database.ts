import type { Kysely, SelectQueryBuilder } from 'kysely';

import type { Page, PageRequest } from './route.ts';

/** The tables of one plugin: reads never wait for a writer, a write resolves once it is on disk. */
export interface Tables<T> {
  readonly read: Kysely<T>;
  /**
   * Runs `work` in one transaction and resolves after its fsync, which concurrent writes share. Throwing rolls back this work only. A write
   * inside a write joins it. No I/O belongs inside: work that outlives the deadline is rolled back.
   */
  write<R>(work: (tx: Kysely<T>) => Promise<R>): Promise<R>;
}

/** Place of a secret; sealing binds it to that place, so swapped ciphertexts do not open. */
export interface SealPlace {
  readonly table: string;
  readonly row: string;
  readonly column: string;
}

export interface Secrets {
  seal(place: SealPlace, plain: string): string;
  open(place: SealPlace, sealed: string): string;
}

/** One page of a list that is held in memory, in the order of a key that no two of its items share. */
export function pageOfList<T>(
  all: readonly T[],
  keyOf: (item: T) => string,
  { limit, after }: PageRequest,
): Page<T> {
  const sorted = all.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const rest =
    after === undefined ? sorted : sorted.filter((item) => keyOf(item) > String(after[0]));
  const items = rest.slice(0, limit);
  return {
    items,
    total: all.length,
    next: rest.length > items.length ? [keyOf(items.at(-1)!)] : undefined,
  };
}

/** One page of a query's rows, in the order of a column that no two of them share: of ids, newest first. */
export async function pageOf<D, T extends keyof D, R>(
  rows: SelectQueryBuilder<D, T, R>,
  column: keyof R & string,
  { limit, after }: PageRequest,
  order: 'asc' | 'desc' = 'desc',
): Promise<Page<R>> {
  // That a column of the answer is one of a table, types of tables in general do not say.
  const query = rows as unknown as SelectQueryBuilder<
    Record<string, Record<string, string | number>>,
    string,
    R
  >;
  const by: string = column;
  const { total } = await query
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const found: R[] = await query
    .$if(after !== undefined, (further) =>
      further.where(by, order === 'asc' ? '>' : '<', after![0]!),
    )
    .orderBy(by, order)
    .limit(limit + 1)
    .execute();
  const items = found.slice(0, limit);
  return {
    items,
    total,
    next: found.length > limit ? [items.at(-1)![column] as string | number] : undefined,
  };
}
