import { type Kysely, sql } from 'kysely';
import type { Principal } from 'svc/sdk';

import type { GapRow, KnowledgeTables } from '../documents/tables.ts';

/** Search whose results nobody took. */
export interface Gap {
  readonly question: string;
  readonly asker: Asker;
  readonly kind: 'found_nothing' | 'not_opened';
  readonly at: number;
}

/** Asker of a question, which only they and everyone who sees at least as much may know of. */
export interface Asker {
  readonly scope: string;
  /** Empty for those who see all devices. */
  readonly name: string;
}

export const nameOf = ({ kind, id }: Principal): string => `${kind} ${id}`;

export const askerOf = (principal: Principal): Asker => ({
  scope: JSON.stringify(principal.orgs?.toSorted((a, b) => a - b) ?? null),
  name: principal.selectors === undefined ? '' : nameOf(principal),
});

/** Max stored questions; those that were not asked for longest go first. */
export const maxGaps = 1_000;

/** The only SQL of searches without a result. */
export class GapStore {
  readonly #db: Kysely<KnowledgeTables>;

  constructor(db: Kysely<KnowledgeTables>) {
    this.#db = db;
  }

  /** Returns the gaps that the reader may know of, most frequent first. */
  async all(reader: Principal): Promise<readonly GapRow[]> {
    const rows = await this.#db.selectFrom('knowledge_gaps').selectAll().execute();
    return rows
      .filter((row) => isSeen(row, reader))
      .toSorted(
        (a, b) =>
          b.found_nothing + b.not_opened - (a.found_nothing + a.not_opened) ||
          b.last_at - a.last_at ||
          b.id - a.id,
      );
  }

  async find(id: number, reader: Principal): Promise<GapRow | undefined> {
    const row = await this.#db
      .selectFrom('knowledge_gaps')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row !== undefined && isSeen(row, reader) ? row : undefined;
  }

  async add(gaps: readonly Gap[]): Promise<void> {
    for (const { question, asker, kind, at } of gaps) {
      const counts = {
        found_nothing: Number(kind === 'found_nothing'),
        not_opened: Number(kind === 'not_opened'),
      };
      await this.#db
        .insertInto('knowledge_gaps')
        .values({ question, scope: asker.scope, asker: asker.name, ...counts, last_at: at })
        .onConflict((conflict) =>
          conflict.columns(['question', 'scope', 'asker']).doUpdateSet({
            found_nothing: sql<number>`knowledge_gaps.found_nothing + excluded.found_nothing`,
            not_opened: sql<number>`knowledge_gaps.not_opened + excluded.not_opened`,
            last_at: at,
          }),
        )
        .execute();
    }
    await this.#db
      .deleteFrom('knowledge_gaps')
      .where(
        'id',
        'in',
        sql<number>`(select id from knowledge_gaps order by last_at desc, id desc limit ${sql.lit(Number.MAX_SAFE_INTEGER)} offset ${sql.lit(maxGaps)})`,
      )
      .execute();
  }

  async remove(id: number): Promise<void> {
    await this.#db.deleteFrom('knowledge_gaps').where('id', '=', id).execute();
  }
}

/** Returns whether the reader sees all that the asker sees. */
function isSeen({ scope, asker }: GapRow, reader: Principal): boolean {
  if (reader.selectors !== undefined) {
    return asker === nameOf(reader);
  }
  const orgs = JSON.parse(scope) as readonly number[] | null;
  return (
    reader.orgs === undefined || (orgs !== null && orgs.every((org) => reader.orgs!.includes(org)))
  );
}
