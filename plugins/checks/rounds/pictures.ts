import type { Tables } from 'svc/sdk';

import type { Check } from '../check/check.ts';
import type { CheckTables } from '../check/check-store.ts';
import type { Vote } from './verdict.ts';

/** Time and place of a picture. */
export interface PictureOf {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly place: string;
}

/** Pictures of pages on which a step failed, the last one of each check. */
export class Pictures {
  readonly #tables: Tables<CheckTables>;
  readonly #known = new Map<number, PictureOf>();

  constructor(tables: Tables<CheckTables>) {
    this.#tables = tables;
  }

  async load(): Promise<void> {
    const rows = await this.#tables.read
      .selectFrom('checks_pictures')
      .select(['check_id', 'at', 'place'])
      .execute();
    rows.forEach(({ check_id: id, at, place }) => this.#known.set(id, { at, place }));
  }

  of({ id }: Pick<Check, 'id'>): PictureOf | undefined {
    return this.#known.get(id);
  }

  async get({ id }: Pick<Check, 'id'>): Promise<Uint8Array | undefined> {
    const row = await this.#tables.read
      .selectFrom('checks_pictures')
      .select('picture')
      .where('check_id', '=', id)
      .executeTakeFirst();
    return row && Buffer.from(row.picture, 'base64');
  }

  /** Writes down the first picture of a round, and returns the votes without any: they stay in memory. */
  async keep({ id }: Pick<Check, 'id'>, votes: readonly Vote[]): Promise<readonly Vote[]> {
    const shot = votes.find(({ reading }) => reading?.facts.picture !== undefined);
    if (shot === undefined) {
      return votes;
    }
    const at = Math.floor(shot.at);
    const { place } = shot;
    const picture = shot.reading!.facts.picture!;
    await this.#tables.write(async (tx) => {
      await tx
        .insertInto('checks_pictures')
        .values({ check_id: id, at, place, picture })
        .onConflict((conflict) => conflict.column('check_id').doUpdateSet({ at, place, picture }))
        .execute();
    });
    this.#known.set(id, { at, place });
    return votes.map(withoutPicture);
  }

  forget({ id }: Pick<Check, 'id'>): void {
    this.#known.delete(id);
  }
}

function withoutPicture(vote: Vote): Vote {
  if (vote.reading === undefined) {
    return vote;
  }
  const { picture: _, ...facts } = vote.reading.facts;
  return { ...vote, reading: { ...vote.reading, facts } };
}
