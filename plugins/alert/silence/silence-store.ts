import type { Tables } from 'svc/sdk';

import { labelMatcher, type MatcherText } from './label-matcher.ts';
import type { Recurrence, Silence } from './silence.ts';

export interface SilenceTables {
  alert_silences: SilenceRow;
}

interface SilenceRow {
  id: number;
  matchers: string;
  starts_at: number;
  ends_at: number;
  recurrence: string | null;
  reason: string;
  created_by: string;
  created_at: number;
  updated_at: number;
}

export type NewSilence = Omit<Silence, 'id' | 'matchers'> & { readonly matchers: readonly MatcherText[] };

export interface SilenceStore {
  /** Those that end after `now`. */
  current(now: number): Promise<readonly Silence[]>;
  find(id: number): Promise<Silence | undefined>;
  list(asked: {
    readonly now: number;
    readonly state: 'pending' | 'active' | 'expired' | undefined;
    readonly limit: number;
    readonly below: number | undefined;
  }): Promise<{ readonly items: readonly Silence[]; readonly total: number; readonly more: boolean }>;
  count(now: number): Promise<number>;
  add(silence: NewSilence, before: (id: number) => void): Promise<Silence>;
  end(id: number, at: number): Promise<void>;
  /** Removes those that ended before. */
  forget(before: number): Promise<void>;
}

export function silenceStore({ read, write }: Tables<SilenceTables>): SilenceStore {
  const all = (now: number, state: string | undefined) => {
    const rows = read.selectFrom('alert_silences');
    switch (state) {
      case 'pending':
        return rows.where('starts_at', '>', now).where('ends_at', '>', now);
      case 'active':
        return rows.where('starts_at', '<=', now).where('ends_at', '>', now);
      case 'expired':
        return rows.where('ends_at', '<=', now);
      default:
        return rows;
    }
  };
  return {
    current: async (now) => (await read.selectFrom('alert_silences').selectAll().where('ends_at', '>', now).orderBy('id').execute()).map(silenceOf),
    async find(id) {
      const row = await read.selectFrom('alert_silences').selectAll().where('id', '=', id).executeTakeFirst();
      return row && silenceOf(row);
    },
    async list({ now, state, limit, below }) {
      const rows = await all(now, state)
        .selectAll()
        .$if(below !== undefined, (query) => query.where('id', '<', below!))
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute();
      const { total } = await all(now, state)
        .select((is) => is.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow();
      return { items: rows.slice(0, limit).map(silenceOf), total, more: rows.length > limit };
    },
    async count(now) {
      const { total } = await all(now, undefined)
        .where('ends_at', '>', now)
        .select((is) => is.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow();
      return total;
    },
    add: (silence, before) =>
      write(async (tx) => {
        const matchers = silence.matchers.map(({ name, op, value }) => ({ name, op, value }));
        const row = { ...silence, matchers: JSON.stringify(matchers), recurrence: silence.recurrence && JSON.stringify(silence.recurrence) };
        const { insertId } = await tx
          .insertInto('alert_silences')
          .values(row as SilenceRow)
          .executeTakeFirstOrThrow();
        const id = Number(insertId);
        before(id);
        return { ...silence, id, matchers: matchers.map(labelMatcher) };
      }),
    end: (id, at) =>
      write(async (tx) => {
        await tx.updateTable('alert_silences').set({ ends_at: at, updated_at: at }).where('id', '=', id).execute();
      }),
    forget: (before) =>
      write(async (tx) => {
        await tx.deleteFrom('alert_silences').where('ends_at', '<', before).execute();
      }),
  };
}

const silenceOf = ({ matchers, recurrence, ...row }: SilenceRow): Silence => ({
  ...row,
  matchers: (JSON.parse(matchers) as MatcherText[]).map(labelMatcher),
  recurrence: recurrence === null ? null : (JSON.parse(recurrence) as Recurrence),
});
