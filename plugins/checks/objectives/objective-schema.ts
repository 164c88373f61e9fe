import { type Static, Type } from 'typebox';

const Timestamp = Type.String({ format: 'date-time' });
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

const CheckName = Type.String({ minLength: 1, maxLength: 80, examples: ['shop'] });
const GroupName = Type.String({ minLength: 1, maxLength: 80 });
const Target = Type.Number({
  minimum: 50,
  maximum: 99.999,
  examples: [99.9],
  description: 'Percent of time in which the checks are to be up',
});
const Days = Type.Integer({
  minimum: 1,
  maximum: 365,
  default: 30,
  description: 'Number of days that the target is about; the window moves with time',
});

export const ObjectiveDraft = Type.Object({
  name: Type.String({
    pattern: '^[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,78}[A-Za-z0-9])?$',
    examples: ['shop'],
    description: 'Value of the label objective on its series. Cannot be changed.',
  }),
  check: Type.Optional({ ...CheckName, description: 'Name of a check; omit it to name a group' }),
  group: Type.Optional({
    ...GroupName,
    description: 'Group of checks, all of which count; omit it to name a check',
  }),
  target: Target,
  days: Type.Optional(Days),
});
export type ObjectiveDraft = Static<typeof ObjectiveDraft>;

export const ObjectiveChange = Type.Object({
  target: Type.Optional(Target),
  days: Type.Optional(Days),
});
export type ObjectiveChange = Static<typeof ObjectiveChange>;

export const ObjectiveShown = Type.Object({
  name: Type.String(),
  check: orNull(CheckName),
  group: orNull(GroupName),
  target: Target,
  days: Days,
  checks: Type.Array(Type.String(), {
    description: 'Names of the checks that count now; empty if the check or group no longer exists',
  }),
  state: Type.Enum(['met', 'at_risk', 'spent', 'unmeasured'], {
    description:
      'at_risk: the last day spent more than its share; spent: no budget is left; unmeasured: nothing is known of the window',
  }),
  uptime: orNull(
    Type.Number({
      description:
        'Percent of the measured time in which the checks were up; maintenance, and time in which svc was not running, are left out',
    }),
  ),
  measured_ms: Type.Integer(),
  budget_ms: Type.Integer({
    description: 'Downtime that the target allows in a whole window, over all checks together',
  }),
  spent_ms: Type.Integer(),
  budget_left: orNull(
    Type.Number({ description: 'Percent of the budget; negative if it is overspent' }),
  ),
  burn_rate: orNull(
    Type.Number({
      description:
        'Speed at which the last day spent the budget: at 1, it lasts exactly as long as the window',
    }),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type ObjectiveShown = Static<typeof ObjectiveShown>;
