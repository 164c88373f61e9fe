import type { Tables } from 'svc/sdk';

import type { CheckTables } from '../check/check-store.ts';

/** Dismissals that are kept; the oldest make room. */
const kept = 10_000;

/** SQL of dismissed proposals. */
export const dismissalStore = (db: Tables<CheckTables>['read']) => ({
  all: async (): Promise<string[]> =>
    (await db.selectFrom('checks_dismissals').select('id').execute()).map(({ id }) => id),

  add: async (id: string, at: number): Promise<void> => {
    await db
      .insertInto('checks_dismissals')
      .values({ id, at })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ at }))
      .execute();
    await db
      .deleteFrom('checks_dismissals')
      .where(
        'at',
        '<',
        db.selectFrom('checks_dismissals').select('at').orderBy('at', 'desc').limit(1).offset(kept),
      )
      .execute();
  },
});
