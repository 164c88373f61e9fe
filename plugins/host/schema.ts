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
  cause: orNull(Type.String({ description: 'Why the plugin is in this state' })),
  since: Timestamp,
  generation: orNull(
    Type.Integer({ description: 'Number of the running generation; incremented with each reload' }),
  ),
});

const Attempt = Type.Object({
  at: Timestamp,
  generation: Type.Integer(),
  ok: Type.Boolean(),
  stage: orNull(Type.String({ description: 'Stage at which the attempt failed' })),
  cause: orNull(Type.String()),
  timings_ms: Type.Record(Type.String(), Type.Number(), { description: 'Milliseconds per stage' }),
});

export const PluginDetail = Type.Object({
  ...PluginSummary.properties,
  description: Type.String(),
  requires: Type.Array(Type.String()),
  provides: Type.Array(Type.String()),
  dependents: Type.Array(
    Type.String({ description: 'Plugins that would be blocked without this one' }),
  ),
  last_attempt: orNull(Attempt),
  effects: Type.Unknown({
    description: 'Tree of {label, children}: everything that the plugin owns',
  }),
  draining: Type.Array(
    Type.Integer({ description: 'Older generations that are still finishing their work' }),
  ),
  residue: orNull(Type.String({ description: 'What could not be unloaded' })),
  strikes: Type.Array(Type.Object({ at: Timestamp, where: Type.String(), cause: Type.String() })),
});

export const DisableOptions = Type.Object({
  cascade: Type.Optional(
    Type.Boolean({
      description: 'Disable the plugin even if other plugins need it; those are then blocked',
    }),
  ),
});
