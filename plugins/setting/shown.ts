import { type Principal, type SettingDeclaration, type SettingState, timestamp } from 'svc/sdk';
import type { Static } from 'typebox';

import type { SettingItem } from './schema.ts';
import { partsOf } from './setting-name.ts';
import type { StoredValues } from './stored-values.ts';

/** Stands for a secret that is set; as a new value it means: leave it. */
export const mask = '••••';

/** A secret shows whether it is set, and nothing else. */
export const shownValue = (value: unknown, sensitive: boolean): unknown => (value === undefined ? null : sensitive && isSet(value) ? mask : value);

/** Paths, addresses and whether a secret is set help whoever looks for a way in, so nothing is open unless it is declared to be. */
export const maySee = ({ grants }: Principal, { visible, sensitive }: SettingDeclaration): boolean =>
  grants.includes('*') || (visible === 'any' && sensitive !== true);

export function shownSetting({ key: name, declaration, value, source }: SettingState, stored: StoredValues): Static<typeof SettingItem> {
  const { sensitive = false, description, schema, env, at_start: atStart = false } = declaration;
  const found = stored.find(name);
  const hidden = found && source === 'env' ? `${env} in the environment has the last word; the stored value has no effect` : undefined;
  const problem = stored.problem(name) ?? hidden;
  return {
    ...partsOf(name),
    value: shownValue(value, sensitive),
    sensitive,
    source,
    description,
    schema,
    env: env ?? null,
    default: shownValue(declaration.default, sensitive),
    writable: !atStart && source !== 'env',
    updated_at: found ? timestamp(found.updatedAt) : null,
    updated_by: found?.updatedBy ?? null,
    ...(problem !== undefined && { problem }),
  };
}

const isSet = (value: unknown): boolean => value !== null && value !== '';
