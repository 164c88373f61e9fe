import type { Tables } from 'svc/sdk';

import type { SettingName } from './setting-name.ts';

export interface SettingTables {
  setting_values: StoredRow;
}

export interface StoredRow {
  category: string;
  key: string;
  value: string;
  sealed: number;
  updated_at: number;
  updated_by: string;
}

/** Rows as one write sees them. */
export interface SettingRows {
  find(name: SettingName): Promise<StoredRow | undefined>;
  put(row: StoredRow): Promise<void>;
  remove(name: SettingName): Promise<void>;
  removeAll(category: string): Promise<void>;
}

export interface SettingStore {
  all(): Promise<readonly StoredRow[]>;
  write<R>(work: (rows: SettingRows) => Promise<R>): Promise<R>;
}

export function settingStore({ read, write }: Tables<SettingTables>): SettingStore {
  return {
    all: () => read.selectFrom('setting_values').selectAll().execute(),
    write: (work) =>
      write((tx) =>
        work({
          find: ({ category, key }) =>
            tx
              .selectFrom('setting_values')
              .selectAll()
              .where('category', '=', category)
              .where('key', '=', key)
              .executeTakeFirst(),
          async put(row) {
            await tx
              .insertInto('setting_values')
              .values(row)
              .onConflict((conflict) => conflict.columns(['category', 'key']).doUpdateSet(row))
              .execute();
          },
          async removeAll(category) {
            await tx.deleteFrom('setting_values').where('category', '=', category).execute();
          },
          async remove({ category, key }) {
            await tx
              .deleteFrom('setting_values')
              .where('category', '=', category)
              .where('key', '=', key)
              .execute();
          },
        }),
      ),
  };
}
