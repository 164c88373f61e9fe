import { Type } from 'typebox';

import { oneOf } from './one-of.ts';
import { type Unit as UnitName, unitForm, units } from './units.ts';

export const State = oneOf(['ok', 'warning', 'critical'] as const);

export const Unit = Type.Unsafe<UnitName>({
  type: 'string',
  anyOf: [{ enum: [...units] }, { pattern: unitForm.source }],
  description: `One of ${units.join(', ')}; or a unit of your own: prefix:$, suffix:°F, or si:W for one that scales in powers of 1,000`,
});

const threshold = {
  value: Type.Union([Type.Number(), Type.Null()]),
  state: State,
  color: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'CSS color to use instead of the color of the state',
    }),
  ),
};

export const Thresholds = Type.Array(Type.Object(threshold), {
  maxItems: 20,
  description:
    "In ascending order. A value has the state of the last step that it reaches; below the first step, the state is ok, unless that step's value is null",
});

export const StrictThresholds = Type.Array(
  Type.Object(threshold, { additionalProperties: false }),
  { maxItems: 20 },
);
