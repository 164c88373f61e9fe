import type { Generated, Selectable } from 'kysely';
import { type Page, pageOf, type PageRequest, type Tables } from 'svc/sdk';

import type { Recording } from './recording.ts';

export interface RecordingTables {
  alert_recordings: {
    id: Generated<number>;
    group_name: string;
    position: number;
    record: string;
    expr: string;
    labels: string;
    interval_seconds: number;
    series_limit: number;
    enabled: number;
    created_by: string;
    created_at: number;
  };
}

export type NewRecording = Omit<Recording, 'id' | 'created_by' | 'created_at'>;

/** A write for each row would keep other writers waiting. */
const rowsAtOnce = 500;

export class RecordingStore {
  readonly #tables: Tables<RecordingTables>;

  constructor(tables: Tables<RecordingTables>) {
    this.#tables = tables;
  }

  /** Group by group, each in its order. */
  async all(): Promise<readonly Recording[]> {
    const rows = await this.#tables.read
      .selectFrom('alert_recordings')
      .selectAll()
      .orderBy('group_name')
      .orderBy('position')
      .execute();
    return rows.map(recordingOf);
  }

  async list(page: PageRequest): Promise<Page<Recording>> {
    const { items, ...rest } = await pageOf(
      this.#tables.read.selectFrom('alert_recordings').selectAll(),
      'id',
      page,
    );
    return { ...rest, items: items.map(recordingOf) };
  }

  async group(name: string): Promise<readonly Recording[]> {
    const rows = await this.#tables.read
      .selectFrom('alert_recordings')
      .selectAll()
      .where('group_name', '=', name)
      .orderBy('position')
      .execute();
    return rows.map(recordingOf);
  }

  async find(id: number): Promise<Recording | undefined> {
    const row = await this.#tables.read
      .selectFrom('alert_recordings')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row && recordingOf(row);
  }

  /** Names of the groups that there are. */
  async groups(): Promise<ReadonlySet<string>> {
    const rows = await this.#tables.read
      .selectFrom('alert_recordings')
      .select('group_name')
      .distinct()
      .execute();
    return new Set(rows.map(({ group_name: name }) => name));
  }

  /** Returns the number of recording rules outside these groups. */
  async countOutside(groups: readonly string[]): Promise<number> {
    const { total } = await this.#tables.read
      .selectFrom('alert_recordings')
      .where('group_name', 'not in', groups)
      .select((is) => is.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow();
    return total;
  }

  /** Puts groups in the place of those of the same names. */
  async replace(recordings: readonly NewRecording[], author: string, now: number): Promise<void> {
    const names = [...new Set(recordings.map(({ group }) => group))];
    await this.#tables.write(async (tx) => {
      for (const name of names) {
        await tx.deleteFrom('alert_recordings').where('group_name', '=', name).execute();
      }
      const rows = recordings.map((recording) => ({
        ...rowOf(recording),
        created_by: author,
        created_at: now,
      }));
      for (let at = 0; at < rows.length; at += rowsAtOnce) {
        await tx
          .insertInto('alert_recordings')
          .values(rows.slice(at, at + rowsAtOnce))
          .execute();
      }
    });
  }

  async remove(id: number): Promise<void> {
    await this.#tables.write((tx) =>
      tx.deleteFrom('alert_recordings').where('id', '=', id).execute(),
    );
  }
}

const rowOf = ({
  group,
  position,
  record,
  expr,
  labels,
  interval_seconds,
  limit,
  enabled,
}: NewRecording) => ({
  group_name: group,
  position,
  record,
  expr,
  interval_seconds,
  series_limit: limit,
  labels: JSON.stringify(labels),
  enabled: enabled ? 1 : 0,
});

const recordingOf = ({
  group_name: group,
  series_limit: limit,
  enabled,
  labels,
  ...row
}: Selectable<RecordingTables['alert_recordings']>): Recording => ({
  ...row,
  group,
  limit,
  enabled: enabled === 1,
  labels: JSON.parse(labels) as Recording['labels'],
});
