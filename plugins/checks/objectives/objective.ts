import type { Selectable } from 'kysely';

import type { Check } from '../check/check.ts';
import type { CheckTables } from '../check/check-store.ts';

export type Objective = Selectable<CheckTables['checks_objectives']>;

/** Returns the checks that an objective is about; none while what it names does not exist. */
export const membersOf = (
  { check_name: name, group_name: group }: Pick<Objective, 'check_name' | 'group_name'>,
  checks: readonly Check[],
): readonly Check[] =>
  checks.filter((check) =>
    name === null ? check.definition.group === group : check.name === name,
  );
