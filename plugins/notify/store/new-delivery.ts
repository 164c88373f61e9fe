import { type Insertable, sql } from 'kysely';

import type { Notify, NotifyTables } from './tables.ts';

export type NewDelivery = Insertable<NotifyTables['notify_deliveries']>;

const maxAtOnce = 500;

/** Columns of a new row; all others have their defaults. */
const columns = [
  ...([
    'id',
    'notice_id',
    'channel_id',
    'channel_name',
    'incident_id',
    'fire_seq',
    'kind',
    'severity',
    'state',
  ] as const),
  ...(['due_at', 'wait_ms', 'accepted_at', 'group_key', 'recorded', 'announced'] as const),
];

/** Inserts many rows by one statement whose text is constant: they come as one JSON parameter. */
export async function insertDeliveries(
  db: Notify,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  const values = columns.map((column, at) => {
    const value = integers.has(column) ? `cast(value ->> ${at} as integer)` : `value ->> ${at}`;
    return usual.has(column) ? `coalesce(${value}, ${usual.get(column)})` : value;
  });
  for (let from = 0; from < deliveries.length; from += maxAtOnce) {
    const rows = deliveries
      .slice(from, from + maxAtOnce)
      .map((row) => columns.map((column) => row[column] ?? null));
    await sql`insert into notify_deliveries (${sql.raw(columns.join(', '))}) select ${sql.raw(values.join(', '))} from json_each(${JSON.stringify(rows)}) order by cast(key as integer)`.execute(
      db,
    );
  }
}

const integers: ReadonlySet<keyof NewDelivery> = new Set([
  ...(['channel_id', 'incident_id', 'fire_seq', 'severity', 'due_at', 'wait_ms'] as const),
  ...(['accepted_at', 'recorded', 'announced'] as const),
]);

/** Default values of columns, as in the table. */
const usual: ReadonlyMap<string, string> = new Map([
  ['wait_ms', '0'],
  ['recorded', '0'],
  ['announced', '0'],
  ['group_key', "''"],
]);
