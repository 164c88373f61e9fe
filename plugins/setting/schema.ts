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
    description: "A value that the setting's schema allows; •••• keeps the current secret",
  }),
});

export const SettingItem = Type.Object({
  category: Type.String(),
  key: Type.String(),
  value: Type.Unknown({ description: 'Current value; •••• for a secret that is set' }),
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
        'Source of the current value; each takes precedence over the ones after it. launch: a route of the plugin, such as POST /metricsdb/launch',
    },
  ),
  description: Type.String(),
  schema: Type.Unknown({ description: 'JSON Schema of the value' }),
  env: orNull(Type.String({ description: 'Environment variable that sets it' })),
  default: Type.Unknown(),
  writable: Type.Boolean({
    description: 'false if the environment sets it, or if it is read only at startup',
  }),
  updated_at: orNull(
    Type.String({ format: 'date-time', description: 'When the stored value was set' }),
  ),
  updated_by: orNull(Type.String()),
  problem: Type.Optional(Type.String({ description: 'Why the stored value is not used' })),
});

export const Revealed = Type.Object({
  category: Type.String(),
  key: Type.String(),
  value: Type.Unknown(),
});
