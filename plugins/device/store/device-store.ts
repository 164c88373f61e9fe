import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { HostInfo } from 'svc/contracts/device';
import type { DeviceScope } from 'svc/query';
import { type Page, pageOf, type PageRequest } from 'svc/sdk';

import type { DeviceDb, DeviceRow, DeviceTables } from './tables.ts';

export interface DeviceFilter {
  readonly ids?: readonly number[] | undefined;
  readonly q?: string | undefined;
  /** A key with or without a value; all must be there. */
  readonly tags: readonly { readonly key: string; readonly value?: string | undefined }[];
  readonly roles: readonly string[];
  readonly online?: boolean | undefined;
  /** Limits to devices that the asker sees. */
  readonly scope?: DeviceScope | undefined;
}

/** Edges that are connected, and devices that a store reports as online. */
export interface OnlineIds {
  readonly edges: ReadonlySet<number>;
  readonly devices: ReadonlySet<number>;
}

type Where = (eb: ExpressionBuilder<DeviceTables, 'device_devices'>) => Expression<SqlBool>;

/** The only statements about devices, their tags and their roles. */
export class DeviceStore {
  readonly #db: DeviceDb;

  constructor(db: DeviceDb) {
    this.#db = db;
  }

  list(filter: DeviceFilter, online: OnlineIds, page: PageRequest): Promise<Page<DeviceRow>> {
    return pageOf(
      this.#db.selectFrom('device_devices').selectAll().where(fits(filter, online)),
      'id',
      page,
    );
  }

  async fitting(filter: DeviceFilter): Promise<number[]> {
    return (
      await this.#db
        .selectFrom('device_devices')
        .select('id')
        .where(fits(filter, { edges: new Set(), devices: new Set() }))
        .execute()
    ).map(({ id }) => id);
  }

  find(id: number): Promise<DeviceRow | undefined> {
    return this.#db
      .selectFrom('device_devices')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
  }

  many(ids: readonly number[]): Promise<DeviceRow[]> {
    return this.#db
      .selectFrom('device_devices')
      .selectAll()
      .where('id', 'in', among(ids))
      .orderBy('id')
      .execute();
  }

  page(after: number, limit: number): Promise<DeviceRow[]> {
    return this.#db
      .selectFrom('device_devices')
      .selectAll()
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit)
      .execute();
  }

  async count(): Promise<number> {
    const { total } = await this.#db
      .selectFrom('device_devices')
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    return total;
  }

  /** Other devices with this fingerprint. */
  async resembling(fingerprint: string | null, but: number): Promise<number[]> {
    if (fingerprint === null) {
      return [];
    }
    const rows = await this.#db
      .selectFrom('device_devices')
      .select('id')
      .where('fingerprint', '=', fingerprint)
      .where('id', '!=', but)
      .orderBy('id')
      .limit(20)
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Returns devices that may be meant by these names, in lower case, or addresses. */
  called(names: readonly string[], addresses: readonly string[]): Promise<DeviceRow[]> {
    const short = sql<string>`substr(lower(hostname) || '.', 1, instr(lower(hostname) || '.', '.') - 1)`;
    return this.#db
      .selectFrom('device_devices')
      .selectAll()
      .where((eb) =>
        eb.or([
          eb(sql<string>`lower(hostname)`, 'in', texts(names)),
          eb(short, 'in', texts(names)),
          eb(sql<string>`lower(display_name)`, 'in', texts(names)),
          eb('ip_address', 'in', texts(addresses)),
        ]),
      )
      .orderBy('id')
      .execute();
  }

  insert(
    machine: {
      machine_uuid: string | null;
      machine_key: string | null;
      fingerprint: string | null;
    } & HostInfo,
    now: number,
    seenAt = now,
  ): Promise<DeviceRow> {
    return this.#db
      .insertInto('device_devices')
      .values({ ...machine, last_seen_at: seenAt, created_at: now, updated_at: now })
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  /** `updated_at` grows with each change, also within a millisecond: it is the version that If-Match compares. */
  update(
    id: number,
    changes: Partial<Omit<DeviceRow, 'id' | 'updated_at'>>,
    now: number,
  ): Promise<DeviceRow> {
    return this.#db
      .updateTable('device_devices')
      .set({ ...changes, updated_at: sql<number>`max(${now}, updated_at + 1)` })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
  }

  async putTags(id: number, tags: Readonly<Record<string, string>>): Promise<void> {
    await this.#db.deleteFrom('device_tags').where('device_id', '=', id).execute();
    const rows = Object.entries(tags).map(([key, value]) => ({ device_id: id, key, value }));
    if (rows.length > 0) {
      await this.#db.insertInto('device_tags').values(rows).execute();
    }
  }

  async putRoles(id: number, roles: readonly string[]): Promise<void> {
    await this.#db.deleteFrom('device_roles').where('device_id', '=', id).execute();
    if (roles.length > 0) {
      await this.#db
        .insertInto('device_roles')
        .values(roles.map((role) => ({ device_id: id, role })))
        .execute();
    }
  }

  async remove(id: number): Promise<void> {
    await this.#db.deleteFrom('device_devices').where('id', '=', id).execute();
  }
}

/** Builds a list of any length as one parameter. */
export const among = (values: Iterable<number>) =>
  sql<number>`(select cast(value as integer) from json_each(${JSON.stringify([...values])}))`;

const texts = (values: readonly string[]) =>
  sql<string>`(select value from json_each(${JSON.stringify(values)}))`;

const fits =
  ({ ids, q, tags, roles, online, scope }: DeviceFilter, up: OnlineIds): Where =>
  (eb) => {
    const isUp = eb.or([
      eb('id', 'in', among(up.devices)),
      eb(
        'id',
        'in',
        eb
          .selectFrom('device_edges')
          .select('device_id')
          .where('device_id', 'is not', null)
          .where('rival_device_id', 'is', null)
          .where('edge_id', 'in', among(up.edges))
          .$castTo<{ device_id: number }>(),
      ),
    ]);
    return eb.and([
      ...(ids === undefined ? [] : [eb('id', 'in', among(ids))]),
      ...(q === undefined
        ? []
        : [
            eb.or([
              like(sql`coalesce(display_name, hostname)`, q),
              like(sql`hostname`, q),
              like(sql`ip_address`, q),
            ]),
          ]),
      ...tags.map(({ key, value }) =>
        eb(
          'id',
          'in',
          eb
            .selectFrom('device_tags')
            .select('device_id')
            .where('key', '=', key)
            .$if(value !== undefined, (query) => query.where('value', '=', value!)),
        ),
      ),
      ...roles.map((role) =>
        eb('id', 'in', eb.selectFrom('device_roles').select('device_id').where('role', '=', role)),
      ),
      ...(online === undefined ? [] : [online ? isUp : eb.not(isUp)]),
      ...(scope === undefined ? [] : [eb('id', 'in', among(scope.ids))]),
    ]);
  };

const like = (text: ReturnType<typeof sql>, part: string) =>
  sql<SqlBool>`${text} like ${`%${part.replace(/[\\%_]/g, '\\$&')}%`} escape '\\'`;
