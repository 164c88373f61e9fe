import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { Change, ChangeDraft, ChangeKind, ChangesNear } from 'svc/contracts/changes';
import { type DeviceScope, idTexts, type SeenDevices } from 'svc/query';
import type { Page, PageRequest } from 'svc/sdk';

export interface ChangeRow {
  id: number;
  ref: string;
  at: number;
  kind: ChangeKind;
  source: string;
  summary: string;
  actor: string | null;
  device_id: string | null;
  edge_id: string | null;
  service: string | null;
  link: string | null;
  labels: string;
  noted_at: number;
}

export interface ChangeTables {
  changes_feed: Omit<ChangeRow, 'id'> & { id: number };
  changes_seen: { key: string; value: string; at: number };
}

export interface ChangeFilter {
  readonly kinds?: readonly ChangeKind[] | undefined;
  readonly device_id?: string | undefined;
  readonly service?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly q?: string | undefined;
}

type Db = Kysely<ChangeTables>;
type Query<O> = SelectQueryBuilder<ChangeTables, 'changes_feed', O>;

const mostNear = 1_000;
const removedAtOnce = 1_000;

/** All SQL of the feed, over what may be read or one transaction. */
export class ChangeStore {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Inserts a change and returns it with its number; undefined if it exists. */
  async insert(draft: ChangeDraft, now: number): Promise<Change | undefined> {
    const { ref, at, kind, source, summary, labels = {} } = draft;
    const { rows } = await sql<{ id: number }>`
      insert into changes_feed (ref, at, kind, source, summary, actor, device_id, edge_id, service, link, labels, noted_at)
      values (${ref}, ${Math.round(at)}, ${kind}, ${source}, ${summary}, ${draft.actor ?? null}, ${draft.device_id ?? null}, ${draft.edge_id ?? null},
        ${draft.service ?? null}, ${draft.link ?? null}, ${JSON.stringify(labels)}, ${Math.round(now)})
      on conflict (ref) do nothing returning id`.execute(this.#db);
    return rows[0] && { ...draft, at: Math.round(at), labels, id: rows[0].id };
  }

  async byRef(ref: string): Promise<Change | undefined> {
    const row = await this.#db
      .selectFrom('changes_feed')
      .selectAll()
      .where('ref', '=', ref)
      .executeTakeFirst();
    return row && changeOf(row);
  }

  /**
   * Returns a page; a user with access to some devices sees changes of these: what names no device
   * may concern any.
   */
  async page(
    filter: ChangeFilter,
    { limit, after }: PageRequest,
    seen: SeenDevices,
  ): Promise<Page<Change>> {
    const matching = filtered(this.#db.selectFrom('changes_feed'), filter).$if(
      seen !== undefined,
      (query) => query.where(ofSeen(seen!)),
    );
    const rows = await matching
      .selectAll()
      .$if(after !== undefined, (query) =>
        query.where(sql<boolean>`(at, id) < (${after![0]}, ${after![1]})`),
      )
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit + 1)
      .execute();
    const { total } = await matching
      .select((is) => is.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    const last = rows[limit - 1];
    return {
      items: rows.slice(0, limit).map(changeOf),
      total,
      next: rows.length > limit && last !== undefined ? [last.at, last.id] : undefined,
    };
  }

  async near(
    { start, end, device_ids: devices, services, limit = 200 }: ChangesNear,
    seen: SeenDevices,
  ): Promise<readonly Change[]> {
    const places = devices !== undefined || services !== undefined;
    const rows = await this.#db
      .selectFrom('changes_feed')
      .selectAll()
      .where('at', '>=', start)
      .where('at', '<', end)
      .$if(seen !== undefined, (query) => query.where(ofSeen(seen!)))
      .$if(places, (query) =>
        query.where((is) =>
          is.or([
            is.and([is('device_id', 'is', null), is('service', 'is', null)]),
            sql<boolean>`device_id in (select value from json_each(${JSON.stringify(devices ?? [])}))`,
            sql<boolean>`service in (select value from json_each(${JSON.stringify(services ?? [])}))`,
          ]),
        ),
      )
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .limit(Math.min(limit, mostNear))
      .execute();
    return rows.map(changeOf);
  }

  /** Deletes what is too old, and what exceeds the max number; a part at a time. */
  async removeOld(before: number, most: number): Promise<number> {
    const { rows } = await sql<{ id: number }>`
      delete from changes_feed where id in (
        select id from (
          select id from changes_feed where at < ${before}
          union select id from (select id from changes_feed order by at desc, id desc limit ${Number.MAX_SAFE_INTEGER} offset ${most}) as surplus
        ) as old limit ${removedAtOnce}) returning id`.execute(this.#db);
    return rows.length;
  }

  async seen(prefix: string): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#db
      .selectFrom('changes_seen')
      .select(['key', 'value'])
      .where('key', '>=', prefix)
      .where('key', '<', `${prefix}\u{10ffff}`)
      .execute();
    return new Map(rows.map(({ key, value }) => [key, value]));
  }

  async see(seen: ReadonlyMap<string, string>, now: number): Promise<void> {
    const json = JSON.stringify([...seen]);
    await sql`insert into changes_seen (key, value, at) select value ->> 0, value ->> 1, ${Math.round(now)} from json_each(${json}) where true
      on conflict (key) do update set value = excluded.value, at = excluded.at`.execute(this.#db);
  }
}

const ofSeen = (scope: DeviceScope) =>
  sql<boolean>`device_id in (select value from json_each(${idTexts(scope)}))`;

const changeOf = ({ noted_at: _noted, ...row }: ChangeRow): Change => ({
  ...row,
  actor: row.actor ?? undefined,
  device_id: row.device_id ?? undefined,
  edge_id: row.edge_id ?? undefined,
  service: row.service ?? undefined,
  link: row.link ?? undefined,
  labels: JSON.parse(row.labels) as Change['labels'],
});

function filtered<O>(
  query: Query<O>,
  { kinds, device_id: device, service, from, to, q }: ChangeFilter,
): Query<O> {
  return query
    .$if(kinds !== undefined, (is) => is.where('kind', 'in', kinds!))
    .$if(device !== undefined, (is) => is.where('device_id', '=', device!))
    .$if(service !== undefined, (is) => is.where('service', '=', service!))
    .$if(from !== undefined, (is) => is.where('at', '>=', from!))
    .$if(to !== undefined, (is) => is.where('at', '<', to!))
    .$if(q !== undefined && q !== '', (is) =>
      is.where(sql<boolean>`instr(lower(summary), ${q!.toLowerCase()}) > 0`),
    );
}
