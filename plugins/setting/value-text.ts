import type { SealPlace, Secrets } from 'svc/sdk';

import type { SettingName } from './setting-name.ts';
import type { StoredRow } from './store.ts';

/** Encoding of a value in its row: as JSON, sealed if it is a secret. */
export interface ValueText {
  write(name: SettingName, value: unknown, secret: boolean): Pick<StoredRow, 'value' | 'sealed'>;
  /** Throws when a sealed value does not open. */
  read(row: StoredRow): unknown;
}

export function valueText(secrets: Secrets): ValueText {
  return {
    write(name, value, secret) {
      const text = JSON.stringify(value);
      return secret
        ? { value: secrets.seal(placeOf(name), text), sealed: 1 }
        : { value: text, sealed: 0 };
    },
    read: (row) =>
      JSON.parse(row.sealed === 1 ? secrets.open(placeOf(row), row.value) : row.value) as unknown,
  };
}

const placeOf = ({ category, key }: SettingName): SealPlace => ({
  table: 'setting_values',
  row: `${category}|${key}`,
  column: 'value',
});
