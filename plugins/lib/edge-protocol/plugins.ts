import { type Static, Type } from 'typebox';

import { orNull, Timestamp } from './fields.ts';

/** Name of an edge plugin, such as `hostmetrics`; not the id of the plugin that contains it. */
export const PluginName = Type.String({
  pattern: '^[a-z][a-z0-9_-]{0,62}$',
  examples: ['hostmetrics'],
});
export const PluginKind = Type.Enum(['metrics', 'logs', 'traces']);

/** File `edge.json` next to the plugin.json of a plugin that runs on edges. */
export const EdgePluginFile = Type.Object({
  name: PluginName,
  kind: PluginKind,
  default_enabled: Type.Boolean(),
  /** JSON Schema of its spec, with defaults. */
  spec: Type.Record(Type.String(), Type.Unknown()),
});
export type EdgePluginFile = Static<typeof EdgePluginFile>;

export const pluginStates = ['running', 'crashed', 'starting', 'stopping', 'stopped'] as const;

export const PluginHealth = Type.Object({
  state: Type.Enum([...pluginStates]),
  last_error: orNull(Type.String({ maxLength: 2_000 })),
  restart_count: Type.Integer({ minimum: 0 }),
  started_at: orNull(Timestamp),
  updated_at: Timestamp,
  /** Number of samples, lines or spans handled since it started. */
  samples: Type.Integer({ minimum: 0 }),
});
export type PluginHealth = Static<typeof PluginHealth>;

/** Answer of the method `plugin_status`, which has no params. */
export const PluginStatusAnswer = Type.Array(
  Type.Object({
    name: PluginName,
    kind: PluginKind,
    enabled: Type.Boolean(),
    health: PluginHealth,
  }),
  {
    maxItems: 64,
  },
);
export type PluginStatusAnswer = Static<typeof PluginStatusAnswer>;

/** Event `plugin_health`, on every change and at least every minute; one, or as many as there are at the same moment. */
export const PluginHealthEvent = Type.Object({ name: PluginName, health: PluginHealth });
export type PluginHealthEvent = Static<typeof PluginHealthEvent>;

/**
 * Params of the mutating method `config_apply`: the whole desired state. The edge keeps it with `hash`, which it neither makes nor
 * checks: it is the name of this state, said again in the next HELLO. A plugin that the edge does not have is left out.
 */
export const ConfigApply = Type.Object({
  hash: Type.String({
    pattern: '^[0-9a-f]{64}$',
    examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  }),
  plugins: Type.Record(
    PluginName,
    Type.Object({ enabled: Type.Boolean(), spec: Type.Record(Type.String(), Type.Unknown()) }),
    { maxProperties: 64 },
  ),
  /** Addresses of the manager, for when the one in use fails; left out where there is only one. */
  managers: Type.Optional(
    Type.Array(
      Type.Object({
        url: Type.String({ maxLength: 300, examples: ['https://svc-2.example.org'] }),
        /** `sha256/…` of the public key of its certificate. */
        pin: Type.Optional(Type.String({ pattern: '^sha256/[A-Za-z0-9+/]{43}=$' })),
      }),
      { maxItems: 8 },
    ),
  ),
});
export type ConfigApply = Static<typeof ConfigApply>;

/** Answer of `config_apply`, once the state is kept: what could not be done shows as the health of the plugin. */
export interface ConfigApplied {
  readonly hash: string;
}
