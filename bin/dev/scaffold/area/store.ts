import type { Generated, Kysely } from 'kysely';
import { type Page, pageOf, type PageRequest, type Tables } from 'svc/sdk';

import type { Entry } from 'svc/contracts/plugin-id';

export interface EntryTables {
  plugin_id_entries: {
    id: Generated<number>;
    text: string;
    words: number | null;
    at: number;
  };
}

const table = 'plugin_id_entries';

/** The only SQL of entries. */
export class EntryStore {
  readonly #tables: Tables<EntryTables>;

  constructor(tables: Tables<EntryTables>) {
    this.#tables = tables;
  }

  page(page: PageRequest): Promise<Page<Entry>> {
    return pageOf(this.#tables.read.selectFrom(table).selectAll(), 'id', page);
  }

  latest(): Promise<Entry | undefined> {
    return this.#tables.read
      .selectFrom(table)
      .selectAll()
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
  }

  async count(tx: Kysely<EntryTables>): Promise<number> {
    const { count } = await tx
      .selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  add(tx: Kysely<EntryTables>, text: string, at: number): Promise<Entry> {
    return tx
      .insertInto(table)
      .values({ text, at, words: null })
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  setWords(tx: Kysely<EntryTables>, id: number, words: number): Promise<unknown> {
    return tx.updateTable(table).set({ words }).where('id', '=', id).execute();
  }
}
