import { type Kysely, type RawBuilder, sql, type SqlBool } from 'kysely';
import type { Tables } from 'svc/sdk';

import { genesis, type Link } from './chain.ts';
import type { Filter } from './filter.ts';
import type { Anchor, AuditTables, Checkpoint, KeyRow, Row, Shipped } from './tables.ts';

/** A stretch of the trail: later than `after`, up to and with `upTo`. */
export interface Stretch {
  readonly after: number;
  readonly upTo: number;
}

type Trail = Kysely<AuditTables>;
type Condition = RawBuilder<SqlBool>;

const columns = ['seq', 'key_id', 'record', 'prev_hash', 'hash'] as const;
/** Triggers that 001-init.sql creates on the tables. */
const guards = [
  'audit_log_gapless',
  'audit_log_fixed',
  'audit_log_kept',
  'audit_checkpoints_fixed',
  'audit_checkpoints_kept',
  'audit_anchors_fixed',
  'audit_anchors_kept',
] as const;
export const beforeAll = Number.MIN_SAFE_INTEGER;

/** All SQL of the trail. */
export class Store {
  readonly #read: Trail;
  readonly #write: Tables<AuditTables>['write'];

  constructor({ read, write }: Tables<AuditTables>) {
    this.#read = read;
    this.#write = write;
  }

  /** Adds the row that `make` links to the last one, as it is within this write. */
  append(make: (last: Link) => Row): Promise<void> {
    return this.#write(async (tx) => {
      await tx
        .insertInto('audit_log')
        .values(make(await lastOf(tx)))
        .execute();
    });
  }

  /** Returns the row with this number and the last one, as of one moment. */
  async around(seq: number): Promise<{ there: Link | undefined; last: Link }> {
    const { rows } = await sql<Link>`
      select seq, hash from audit_log where seq = ${seq} or seq = (select max(seq) from audit_log) order by seq`.execute(
      this.#read,
    );
    return { there: rows.find((row) => row.seq === seq), last: rows.at(-1) ?? genesis };
  }

  /** The triggers that refuse changes of the trail, as far as they are gone. */
  async unguarded(): Promise<readonly string[]> {
    const { rows } = await sql<{
      name: string;
    }>`select name from sqlite_schema where type = 'trigger'`.execute(this.#read);
    const present = new Set(rows.map(({ name }) => name));
    return guards.filter((name) => !present.has(name));
  }

  /** First and last number; the last one is 0 while there is no row. */
  async span(): Promise<{ first: number; last: number }> {
    const { rows } = await sql<{ first: number | null; last: number | null }>`
      select (select min(seq) from audit_log) as first, (select max(seq) from audit_log) as last`.execute(
      this.#read,
    );
    return { first: rows[0]?.first ?? 1, last: rows[0]?.last ?? 0 };
  }

  /** The newest rows that fit, from below `before` on. */
  async page(
    filter: Filter,
    limit: number,
    before?: readonly (string | number)[],
  ): Promise<readonly (Row & { occurred_at: number })[]> {
    const conditions = [
      ...conditionsOf(filter),
      ...(before ? [sql<SqlBool>`(occurred_at, seq) < (${before[0]}, ${before[1]})`] : []),
    ];
    const { rows } = await sql<Row & { occurred_at: number }>`
      select row.seq, row.key_id, row.record, row.prev_hash, row.hash, place.occurred_at
      from (
        select seq, occurred_at from audit_log indexed by ${sql.raw(leadOf(filter))} where ${every(conditions)}
        order by occurred_at desc, seq desc limit ${limit}
      ) as place join audit_log as row on row.seq = place.seq
      order by place.occurred_at desc, place.seq desc`.execute(this.#read);
    return rows;
  }

  /** Counts matching rows up to `upTo`: walks one index, which contains everything needed. */
  count(filter: Filter, upTo: number): Promise<number> {
    return this.#counted(sql`indexed by ${sql.raw(leadOf(filter, filter.without !== undefined))}`, [
      ...conditionsOf(filter),
      sql<SqlBool>`seq <= ${upTo}`,
    ]);
  }

  /** Counts matching rows in a range: walks its rows. */
  countIn(filter: Filter, { after, upTo }: Stretch): Promise<number> {
    return this.#counted(sql`not indexed`, [
      sql<SqlBool>`seq > ${after}`,
      sql<SqlBool>`seq <= ${upTo}`,
      ...conditionsOf(filter),
    ]);
  }

  /** Rows of a stretch that fit, in the order of the chain. */
  async rows({ after, upTo }: Stretch, filter: Filter = {}): Promise<readonly Row[]> {
    const conditions = [
      sql<SqlBool>`seq > ${after}`,
      sql<SqlBool>`seq <= ${upTo}`,
      ...conditionsOf(filter),
    ];
    const { rows } =
      await sql<Row>`select ${sql.join(columns.map((name) => sql.ref(name)))} from audit_log not indexed where ${every(conditions)} order by seq`.execute(
        this.#read,
      );
    return rows;
  }

  /** The next rows of the chain, whatever their numbers are. */
  next(after: number, limit: number): Promise<readonly Row[]> {
    return this.#read
      .selectFrom('audit_log')
      .select(columns)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(limit)
      .execute();
  }

  /** Every actor that ever acted under an e-mail address, as `kind:id`. */
  async actorsOf(email: string): Promise<readonly string[]> {
    const rows = await this.#read
      .selectFrom('audit_log')
      .select('actor')
      .distinct()
      .where('actor_email', '=', email)
      .execute();
    return rows.map(({ actor }) => actor);
  }

  /** When the first row was written. */
  async oldest(): Promise<number | undefined> {
    const row = await this.#read
      .selectFrom('audit_log')
      .select('occurred_at')
      .orderBy('seq')
      .limit(1)
      .executeTakeFirst();
    return row?.occurred_at;
  }

  /** The first row of a stretch that is not older than `moment`. */
  async firstSince(moment: number, { after, upTo }: Stretch): Promise<number | undefined> {
    const { rows } = await sql<{ seq: number | null }>`
      select min(seq) as seq from audit_log not indexed where seq > ${after} and seq <= ${upTo} and occurred_at >= ${moment}`.execute(
      this.#read,
    );
    return rows[0]?.seq ?? undefined;
  }

  /** Replaces rows by their anchor. */
  cut(anchor: Anchor): Promise<void> {
    return this.#write(async (tx) => {
      await tx.insertInto('audit_anchors').values(anchor).execute();
      await tx.deleteFrom('audit_log').where('seq', '<=', anchor.to_seq).execute();
    });
  }

  anchors(): Promise<readonly Anchor[]> {
    return this.#read.selectFrom('audit_anchors').selectAll().orderBy('to_seq').execute();
  }

  checkpoints(after = beforeAll): Promise<readonly Checkpoint[]> {
    return this.#read
      .selectFrom('audit_checkpoints')
      .selectAll()
      .where('seq', '>', after)
      .orderBy('seq')
      .execute();
  }

  addCheckpoint(checkpoint: Checkpoint): Promise<void> {
    return this.#write(async (tx) => {
      await tx
        .insertInto('audit_checkpoints')
        .values(checkpoint)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    });
  }

  shipped(place: string): Promise<Shipped | undefined> {
    return this.#read
      .selectFrom('audit_sinks')
      .selectAll()
      .where('place', '=', place)
      .executeTakeFirst();
  }

  ship({ place, ...reached }: Shipped): Promise<void> {
    return this.#write(async (tx) => {
      await tx
        .insertInto('audit_sinks')
        .values({ place, ...reached })
        .onConflict((conflict) => conflict.column('place').doUpdateSet(reached))
        .execute();
    });
  }

  keys(): Promise<readonly KeyRow[]> {
    return this.#read.selectFrom('audit_keys').selectAll().orderBy('id').execute();
  }

  addKey(key: KeyRow): Promise<void> {
    return this.#write(async (tx) => {
      await tx.insertInto('audit_keys').values(key).execute();
    });
  }

  async #counted(access: RawBuilder<unknown>, conditions: readonly Condition[]): Promise<number> {
    const { rows } = await sql<{
      count: number;
    }>`select count(*) as count from audit_log ${access} where ${every(conditions)}`.execute(
      this.#read,
    );
    return rows[0]!.count;
  }
}

/**
 * Returns the end of the chain; it is never removed, so there is none only before the first row.
 */
async function lastOf(tx: Trail): Promise<Link> {
  return (
    (await tx
      .selectFrom('audit_log')
      .select(['seq', 'hash'])
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirst()) ?? genesis
  );
}

/** The index that knows everything a filter may ask besides what leads it; `byAction` where rows are not wanted in the order of time and actions are asked for. */
function leadOf(
  { resourceId, actors, ip, resourceType, action, area, status }: Filter,
  byAction = false,
): string {
  const lead =
    resourceId !== undefined
      ? 'resource_id'
      : actors !== undefined
        ? 'actor'
        : ip !== undefined
          ? 'ip'
          : resourceType !== undefined
            ? 'resource_type'
            : byAction || action !== undefined || area !== undefined
              ? 'action'
              : status !== undefined
                ? 'status'
                : 'time';
  return `audit_log_${lead}`;
}

function conditionsOf(filter: Filter): Condition[] {
  const { resourceId, actors, ip, resourceType, without = [], status, from, to } = filter;
  return [
    resourceId !== undefined && sql<SqlBool>`resource_id = ${resourceId}`,
    actors !== undefined && sql<SqlBool>`actor in (${sql.join(actors)})`,
    ip !== undefined && sql<SqlBool>`ip = ${ip}`,
    resourceType !== undefined && sql<SqlBool>`resource_type = ${resourceType}`,
    ...ofActions(filter),
    ...without.flatMap((left) =>
      ofActions(left).map((condition) => sql<SqlBool>`not (${condition})`),
    ),
    status !== undefined && sql<SqlBool>`status = ${status}`,
    from !== undefined && sql<SqlBool>`occurred_at >= ${from}`,
    to !== undefined && sql<SqlBool>`occurred_at < ${to}`,
  ].filter((condition) => condition !== false);
}

const ofActions = ({ action, area }: Pick<Filter, 'action' | 'area'>): Condition[] => [
  ...(action === undefined ? [] : [sql<SqlBool>`action = ${action}`]),
  ...(area === undefined ? [] : [sql<SqlBool>`action >= ${area} and action < ${behind(area)}`]),
];

const every = (conditions: readonly Condition[]): Condition =>
  conditions.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`${sql.join(conditions, sql` and `)}`;

/** The first text behind all that begin with `prefix`. */
const behind = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
