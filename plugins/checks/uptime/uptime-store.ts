import type { Selectable } from 'kysely';
import type { Tables } from 'svc/sdk';

import type { CheckTables } from '../check/check-store.ts';

export type UptimeRow = Selectable<CheckTables['checks_uptime']>;

/** SQL of the time that checks spent in each state. */
export const uptimeStore = (db: Tables<CheckTables>['read']) => ({
  of: (checkId: number, span: UptimeRow['span'], after: number): Promise<UptimeRow[]> =>
    db
      .selectFrom('checks_uptime')
      .selectAll()
      .where('check_id', '=', checkId)
      .where('span', '=', span)
      .where('begins_at', '>=', after)
      .orderBy('begins_at')
      .execute(),

  hoursOf: (checkIds: readonly number[], after: number): Promise<UptimeRow[]> =>
    db
      .selectFrom('checks_uptime')
      .selectAll()
      .where('check_id', 'in', checkIds)
      .where('span', '=', 'hour')
      .where('begins_at', '>=', after)
      .execute(),

  /** Sums by check since a time, of all checks or of some. */
  sums: (
    span: UptimeRow['span'],
    after: number,
    checkIds?: readonly number[],
  ): Promise<{ readonly check_id: number; readonly up_ms: number; readonly down_ms: number }[]> =>
    checkIds?.length === 0
      ? Promise.resolve([])
      : db
          .selectFrom('checks_uptime')
          .select(({ fn }) => [
            'check_id',
            fn.sum<number>('up_ms').as('up_ms'),
            fn.sum<number>('down_ms').as('down_ms'),
          ])
          .where('span', '=', span)
          .where('begins_at', '>=', after)
          .$if(checkIds !== undefined, (sums) => sums.where('check_id', 'in', checkIds!))
          .groupBy('check_id')
          .execute(),

  /** Adds to what is known; spans of checks that are gone are left out. */
  add: async (rows: readonly UptimeRow[]): Promise<void> => {
    const known = new Set(
      (await db.selectFrom('checks_checks').select('id').execute()).map(({ id }) => id),
    );
    for (const row of rows.filter(({ check_id: id }) => known.has(id))) {
      await db
        .insertInto('checks_uptime')
        .values(row)
        .onConflict((conflict) =>
          conflict.columns(['check_id', 'span', 'begins_at']).doUpdateSet((now) => ({
            up_ms: now('checks_uptime.up_ms', '+', row.up_ms),
            down_ms: now('checks_uptime.down_ms', '+', row.down_ms),
            stale_ms: now('checks_uptime.stale_ms', '+', row.stale_ms),
            maintenance_ms: now('checks_uptime.maintenance_ms', '+', row.maintenance_ms),
          })),
        )
        .execute();
    }
  },

  forget: (span: UptimeRow['span'], before: number) =>
    db
      .deleteFrom('checks_uptime')
      .where('span', '=', span)
      .where('begins_at', '<', before)
      .execute(),
});
