import { Type } from 'typebox';

const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** Address of any text: one that names no setting is answered with the nearest that does. */
export const SettingAddress = Type.Object({
  category: Type.String({ maxLength: 80 }),
  key: Type.String({ maxLength: 80 }),
});

export const NewValue = Type.Object({
  value: Type.Unknown({
    description: 'what the setting’s own schema allows; •••• leaves a secret as it is',
  }),
});

export const SettingItem = Type.Object({
  category: Type.String(),
  key: Type.String(),
  value: Type.Unknown({ description: 'the value in force; •••• for a secret that is set' }),
  sensitive: Type.Boolean(),
  source: Type.Union(
    [
      Type.Literal('env'),
      Type.Literal('database'),
      Type.Literal('file'),
      Type.Literal('launch'),
      Type.Literal('default'),
    ],
    {
      description:
        'where the value in force comes from; each goes before the ones after it. launch: a route of the plugin, such as POST /metricsdb/launch',
    },
  ),
  description: Type.String(),
  schema: Type.Unknown({ description: 'JSON Schema of the value' }),
  env: orNull(Type.String({ description: 'the variable that sets it from outside' })),
  default: Type.Unknown(),
  writable: Type.Boolean({
    description: 'false when the environment sets it, or when it is only read at the start',
  }),
  updated_at: orNull(
    Type.String({ format: 'date-time', description: 'when the stored value was set' }),
  ),
  updated_by: orNull(Type.String()),
  problem: Type.Optional(Type.String({ description: 'why the stored value is not in force' })),
});

export const Revealed = Type.Object({
  category: Type.String(),
  key: Type.String(),
  value: Type.Unknown(),
});
