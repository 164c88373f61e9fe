import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { type DeviceScope, idTexts, type SeenDevices } from 'svc/query';
import type { Tables } from 'svc/sdk';

import { labelMatcher, type MatcherText } from './label-matcher.ts';
import type { Recurrence, TimeSpan } from './recurrence.ts';
import type { Silence, SilenceState } from './silence.ts';

export interface SilenceTables {
  alert_silences: SilenceRow;
}

interface SilenceRow {
  id: number;
  name: string | null;
  matchers: string;
  devices: string | null;
  starts_at: number;
  ends_at: number;
  recurrence: string | null;
  reason: string;
  created_by: string;
  updated_by: string;
  created_at: number;
  updated_at: number;
}

export type NewSilence = Omit<Silence, 'id' | 'matchers'> & {
  readonly matchers: readonly MatcherText[];
};

export interface SilencePage {
  readonly now: number;
  readonly state: SilenceState | undefined;
  readonly limit: number;
  readonly below: number | undefined;
}

/** Each recurs up to once a day, and clocks of zones are slow to ask. */
const mostWithin = 200;

export class SilenceStore {
  readonly #tables: Tables<SilenceTables>;

  constructor(tables: Tables<SilenceTables>) {
    this.#tables = tables;
  }

  /** Returns the silences that end after `now`. */
  async current(now: number): Promise<readonly Silence[]> {
    const rows = await this.#tables.read
      .selectFrom('alert_silences')
      .selectAll()
      .where('ends_at', '>', now)
      .orderBy('id')
      .execute();
    return rows.map(silenceOf);
  }

  /** Returns the silences that touch a span of time. */
  async within({ from, to }: TimeSpan, seen: SeenDevices): Promise<readonly Silence[]> {
    const rows = await this.#silences(seen)
      .selectAll()
      .where('starts_at', '<', to)
      .where('ends_at', '>', from)
      .orderBy('id', 'desc')
      .limit(mostWithin)
      .execute();
    return rows.map(silenceOf);
  }

  async find(id: number, seen: SeenDevices): Promise<Silence | undefined> {
    const row = await this.#silences(seen).selectAll().where('id', '=', id).executeTakeFirst();
    return row && silenceOf(row);
  }

  async list(
    { now, state, limit, below }: SilencePage,
    seen: SeenDevices,
  ): Promise<{
    readonly items: readonly Silence[];
    readonly total: number;
    readonly more: boolean;
  }> {
    const rows = await this.#inState(now, state, seen)
      .selectAll()
      .$if(below !== undefined, (query) => query.where('id', '<', below!))
      .orderBy('id', 'desc')
      .limit(limit + 1)
      .execute();
    return {
      items: rows.slice(0, limit).map(silenceOf),
      total: await this.#total(this.#inState(now, state, seen)),
      more: rows.length > limit,
    };
  }

  /** Returns the number of silences that have not ended. */
  async count(now: number): Promise<number> {
    return await this.#total(
      this.#tables.read.selectFrom('alert_silences').where('ends_at', '>', now),
    );
  }

  add(silence: NewSilence, noteId: (id: number) => void): Promise<Silence> {
    return this.#tables.write(async (tx) => {
      const { insertId } = await tx
        .insertInto('alert_silences')
        .values(rowOf(silence) as SilenceRow)
        .executeTakeFirstOrThrow();
      const id = Number(insertId);
      noteId(id);
      return { ...silence, id, matchers: silence.matchers.map(labelMatcher) };
    });
  }

  async replace(id: number, silence: Omit<NewSilence, 'created_by' | 'created_at'>): Promise<void> {
    await this.#tables.write((tx) =>
      tx.updateTable('alert_silences').set(rowOf(silence)).where('id', '=', id).execute(),
    );
  }

  async end(id: number, at: number): Promise<void> {
    await this.#tables.write((tx) =>
      tx
        .updateTable('alert_silences')
        .set({ ends_at: at, updated_at: at })
        .where('id', '=', id)
        .execute(),
    );
  }

  /** Removes those that ended before. */
  async removeEnded(before: number): Promise<void> {
    await this.#tables.write((tx) =>
      tx.deleteFrom('alert_silences').where('ends_at', '<', before).execute(),
    );
  }

  #silences(seen: SeenDevices) {
    return this.#tables.read
      .selectFrom('alert_silences')
      .$if(seen !== undefined, (query) => query.where(isAbout(seen!)));
  }

  #inState(now: number, state: SilenceState | undefined, seen: SeenDevices) {
    const rows = this.#silences(seen);
    switch (state) {
      case 'pending':
        return rows.where('starts_at', '>', now).where('ends_at', '>', now);
      case 'active':
        return rows.where('starts_at', '<=', now).where('ends_at', '>', now);
      case 'expired':
        return rows.where('ends_at', '<=', now);
      case undefined:
        return rows;
    }
  }

  async #total(rows: SelectQueryBuilder<SilenceTables, 'alert_silences', object>): Promise<number> {
    return (
      await rows.select((is) => is.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
    ).total;
  }
}

/** Returns the condition for silences that mute only visible devices; any other may name others. */
const isAbout = (scope: DeviceScope): RawBuilder<boolean> => sql<boolean>`case
  when devices is null then exists (
    select 1 from json_each(matchers) as one
    where one.value ->> '$.name' = 'device_id' and one.value ->> '$.op' = '=' and one.value ->> '$.value' in (select value from json_each(${idTexts(scope)})))
  else not exists (select 1 from json_each(devices) as own where own.value not in (select value from json_each(${idTexts(scope)}))) end`;

/** Stored recurrence; earlier versions stored no time zone. */
type StoredRecurrence = Omit<Recurrence, 'time_zone'> & Partial<Pick<Recurrence, 'time_zone'>>;

const recurrenceOf = (stored: StoredRecurrence): Recurrence => ({
  ...stored,
  time_zone: stored.time_zone ?? 'UTC',
});

const rowOf = <S extends Pick<NewSilence, 'matchers' | 'devices' | 'recurrence'>>({
  matchers,
  devices,
  recurrence,
  ...row
}: S) => ({
  ...row,
  devices: devices && JSON.stringify([...devices]),
  matchers: JSON.stringify(matchers.map(({ name, op, value }) => ({ name, op, value }))),
  recurrence: recurrence && JSON.stringify(recurrence),
});

const silenceOf = ({ matchers, devices, recurrence, ...row }: SilenceRow): Silence => ({
  ...row,
  devices: devices === null ? null : new Set(JSON.parse(devices) as string[]),
  matchers: (JSON.parse(matchers) as MatcherText[]).map(labelMatcher),
  recurrence: recurrence === null ? null : recurrenceOf(JSON.parse(recurrence) as StoredRecurrence),
});
