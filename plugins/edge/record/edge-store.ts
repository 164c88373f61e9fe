import {
  type Expression,
  type ExpressionBuilder,
  type Insertable,
  type SqlBool,
  sql,
  type Updateable,
} from 'kysely';
import type { SeenDevices } from 'svc/query';
import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import { errors } from './errors.ts';
import type { EdgeDb, EdgeRow, EdgeTables } from './tables.ts';

export interface EdgeFilter {
  readonly q?: string | undefined;
  /** A key with or without a value; all must be there. */
  readonly labels: readonly { readonly key: string; readonly value?: string | undefined }[];
  readonly deviceId?: number | undefined;
  /** Limit to these devices, which the asker may see. */
  readonly deviceIds?: Iterable<number> | undefined;
  /** Limit to these ids. */
  readonly ids?: Iterable<number> | undefined;
}

type Where = (eb: ExpressionBuilder<EdgeTables, 'edge_edges'>) => Expression<SqlBool>;

/** The only statements about edges. */
export const edgeStore = (db: EdgeDb) => ({
  list: (filter: EdgeFilter, page: PageRequest): Promise<Page<EdgeRow>> =>
    pageOf(db.selectFrom('edge_edges').selectAll().where(fits(filter)), 'id', page),

  find: (id: number): Promise<EdgeRow | undefined> =>
    db.selectFrom('edge_edges').selectAll().where('id', '=', id).executeTakeFirst(),

  all: (): Promise<EdgeRow[]> => db.selectFrom('edge_edges').selectAll().orderBy('id').execute(),

  enrolledFrom: (enrolmentId: number, machine: string): Promise<EdgeRow | undefined> =>
    db
      .selectFrom('edge_edges')
      .selectAll()
      .where('enrolment_id', '=', enrolmentId)
      .where('enrolled_machine', '=', machine)
      .executeTakeFirst(),

  madeBy: (who: string): Promise<EdgeRow[]> =>
    db.selectFrom('edge_edges').selectAll().where('created_by', '=', who).orderBy('id').execute(),

  insert: (values: Insertable<EdgeTables['edge_edges']>): Promise<EdgeRow> =>
    db.insertInto('edge_edges').values(values).returningAll().executeTakeFirstOrThrow(),

  /** `updated_at` grows with each change, also within a millisecond: it is the version that If-Match compares. */
  update: (
    id: number,
    values: Updateable<EdgeTables['edge_edges']>,
    now: number,
  ): Promise<EdgeRow> =>
    db
      .updateTable('edge_edges')
      .set({ ...values, updated_at: sql<number>`max(${now}, updated_at + 1)` })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),

  /** Stores what the host reports and its state, as opposed to a change by a person. */
  async observe(id: number, values: Updateable<EdgeTables['edge_edges']>): Promise<void> {
    await db.updateTable('edge_edges').set(values).where('id', '=', id).execute();
  },

  async leaveDevice(deviceId: number, reason: string): Promise<void> {
    await db
      .updateTable('edge_edges')
      .set({ device_id: null, device_reason: reason })
      .where('device_id', '=', deviceId)
      .execute();
  },

  async remove(id: number): Promise<void> {
    await db.deleteFrom('edge_edges').where('id', '=', id).execute();
  },
});

export const found = async (id: number, db: EdgeDb): Promise<EdgeRow> =>
  assertFound(await edgeStore(db).find(id), id);

/**
 * Returns an edge for an asker: one out of their scope counts as not found, and so does one without
 * a device.
 */
export async function foundFor(seen: SeenDevices, id: number, db: EdgeDb): Promise<EdgeRow> {
  const row = await edgeStore(db).find(id);
  return assertFound(
    seen === undefined ||
      (row !== undefined && row.device_id !== null && seen.ids.has(row.device_id))
      ? row
      : undefined,
    id,
  );
}

export function assertFound<T>(edge: T | undefined, id: number): T {
  if (edge === undefined) {
    throw errors.no_edge({ id });
  }
  return edge;
}

/** Builds a list of any length as one parameter. */
export const among = (values: Iterable<number>) =>
  sql<number>`(select cast(value as integer) from json_each(${JSON.stringify([...values])}))`;

const like = (text: ReturnType<typeof sql>, part: string) =>
  sql<SqlBool>`${text} like ${`%${part.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`;

const fits =
  ({ q, labels, deviceId, deviceIds, ids }: EdgeFilter): Where =>
  (eb) =>
    eb.and([
      ...(q === undefined
        ? []
        : [
            eb.or([
              like(sql`name`, q),
              like(sql`description`, q),
              like(sql`coalesce(host_info ->> 'hostname', '')`, q),
            ]),
          ]),
      ...labels.map(({ key, value }) =>
        value === undefined
          ? sql<SqlBool>`exists (select 1 from json_each(labels) where key = ${key})`
          : sql<SqlBool>`exists (select 1 from json_each(labels) where key = ${key} and value = ${value})`,
      ),
      ...(deviceId === undefined ? [] : [eb('device_id', '=', deviceId)]),
      ...(deviceIds === undefined ? [] : [eb('device_id', 'in', among(deviceIds))]),
      ...(ids === undefined ? [] : [eb('id', 'in', among(ids))]),
    ]);
