import { type Kysely, sql } from 'kysely';

import type { KnowledgeTables } from '../documents/tables.ts';

/** Owner of a document, and the time when it has to be reviewed. */
export interface Care {
  readonly owner: string;
  readonly review_by: number | null;
}

export interface Votes {
  readonly helpful: number;
  readonly not_helpful: number;
}

/** Document that somebody should look at. */
export interface DueDoc extends Care, Votes {
  readonly id: number;
  readonly path: string;
  readonly title: string;
  readonly version: number;
}

const nobody: Care = { owner: '', review_by: null };
const maxDue = 1_000;

/** The only SQL of the care for documents. */
export class CareStore {
  readonly #db: Kysely<KnowledgeTables>;

  constructor(db: Kysely<KnowledgeTables>) {
    this.#db = db;
  }

  async of(doc: number): Promise<Care> {
    const row = await this.#db
      .selectFrom('knowledge_care')
      .select(['owner', 'review_by'])
      .where('doc_id', '=', doc)
      .executeTakeFirst();
    return row ?? nobody;
  }

  async set(doc: number, care: Care): Promise<void> {
    await this.#db
      .insertInto('knowledge_care')
      .values({ doc_id: doc, ...care })
      .onConflict((conflict) => conflict.column('doc_id').doUpdateSet(care))
      .execute();
  }

  async votes(doc: number): Promise<Votes> {
    const row = await this.#db
      .selectFrom('knowledge_votes')
      .select([
        sql<number>`coalesce(sum(helpful), 0)`.as('helpful'),
        sql<number>`coalesce(sum(1 - helpful), 0)`.as('not_helpful'),
      ])
      .where('doc_id', '=', doc)
      .executeTakeFirstOrThrow();
    return row;
  }

  async vote(doc: number, voter: string): Promise<boolean | null> {
    const row = await this.#db
      .selectFrom('knowledge_votes')
      .select('helpful')
      .where('doc_id', '=', doc)
      .where('voter', '=', voter)
      .executeTakeFirst();
    return row === undefined ? null : row.helpful === 1;
  }

  async cast(
    doc: number,
    voter: string,
    vote: { readonly helpful: boolean; readonly version: number; readonly at: number },
  ): Promise<void> {
    const values = { helpful: Number(vote.helpful), version: vote.version, voted_at: vote.at };
    await this.#db
      .insertInto('knowledge_votes')
      .values({ doc_id: doc, voter, ...values })
      .onConflict((conflict) => conflict.columns(['doc_id', 'voter']).doUpdateSet(values))
      .execute();
  }

  /** Returns documents past their review date, and those that helped fewer readers than not. */
  async due(now: number): Promise<readonly DueDoc[]> {
    return await this.#db
      .selectFrom('knowledge_docs as d')
      .leftJoin('knowledge_care as c', 'c.doc_id', 'd.id')
      .leftJoin(
        (eb) =>
          eb
            .selectFrom('knowledge_votes')
            .select([
              'doc_id',
              sql<number>`sum(helpful)`.as('helpful'),
              sql<number>`sum(1 - helpful)`.as('not_helpful'),
            ])
            .groupBy('doc_id')
            .as('v'),
        (join) => join.onRef('v.doc_id', '=', 'd.id'),
      )
      .select([
        'd.id',
        'd.path',
        'd.title',
        'd.version',
        sql<string>`coalesce(c.owner, '')`.as('owner'),
        'c.review_by',
        sql<number>`coalesce(v.helpful, 0)`.as('helpful'),
        sql<number>`coalesce(v.not_helpful, 0)`.as('not_helpful'),
      ])
      .where((eb) =>
        eb.or([eb('c.review_by', '<', now), eb('v.not_helpful', '>', eb.ref('v.helpful'))]),
      )
      .orderBy('d.path')
      .limit(maxDue)
      .execute();
  }
}
