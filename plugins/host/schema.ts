import { Type } from 'typebox';

const Timestamp = Type.String({ format: 'date-time' });
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);

export const PluginId = Type.Object({
  id: Type.String({ pattern: '^[a-z][a-z0-9-]{1,40}$', examples: ['metricsdb'] }),
});

export const PluginSummary = Type.Object({
  id: Type.String(),
  title: Type.String(),
  version: orNull(Type.String()),
  kind: orNull(Type.Union([Type.Literal('area'), Type.Literal('pack')])),
  state: Type.String({
    description:
      'discovered, invalid, disabled, blocked, waiting, loading, active, failed, quarantined or unload-failed',
  }),
  cause: orNull(Type.String({ description: 'why the plugin is in this state' })),
  since: Timestamp,
  generation: orNull(
    Type.Integer({ description: 'the incarnation that serves; it grows with each reload' }),
  ),
});

const Attempt = Type.Object({
  at: Timestamp,
  generation: Type.Integer(),
  ok: Type.Boolean(),
  stage: orNull(Type.String({ description: 'where it failed' })),
  cause: orNull(Type.String()),
  timings_ms: Type.Record(Type.String(), Type.Number(), { description: 'milliseconds by stage' }),
});

export const PluginDetail = Type.Object({
  ...PluginSummary.properties,
  description: Type.String(),
  requires: Type.Array(Type.String()),
  provides: Type.Array(Type.String()),
  dependents: Type.Array(
    Type.String({ description: 'plugins that would be blocked without this one' }),
  ),
  last_attempt: orNull(Attempt),
  effects: Type.Unknown({ description: 'tree of {label, children}: everything the plugin owns' }),
  draining: Type.Array(Type.Integer({ description: 'older generations that finish their work' })),
  residue: orNull(Type.String({ description: 'what could not be unloaded' })),
  strikes: Type.Array(Type.Object({ at: Timestamp, where: Type.String(), cause: Type.String() })),
});

export const DisableOptions = Type.Object({
  cascade: Type.Optional(
    Type.Boolean({ description: 'block the plugins that need this one, too' }),
  ),
});
